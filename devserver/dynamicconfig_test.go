package main

import (
	"testing"

	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
)

// The server ignores a value of the wrong type, so nothing else would notice one.
func TestDevSettingsFitTheirType(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range devSettings("127.0.0.1:7243") {
		key := s.of.Key().String()
		if err := s.of.Validate(s.value); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if seen[key] {
			t.Errorf("%s is set twice", key)
		}
		seen[key] = true
	}
}

func TestOverridesWin(t *testing.T) {
	overrides, warnings, err := parseDynamicConfig([]string{
		"history.transferProcessorMaxPollRPS=20",
		"HISTORY.timerProcessorMaxPollRPS=7",
		`history.timerProcessorMaxTimeShift="2s"`,
		"matching.rps=1", "matching.rps=2", // the last one counts
		"no.such.key=true",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 {
		t.Errorf("warnings %q, want one about no.such.key", warnings)
	}
	config := dynamicconfig.NewCollection(newDynamicConfig("127.0.0.1:7243", overrides), log.NewNoopLogger())
	for _, tc := range []struct {
		name      string
		got, want any
	}{
		{"transfer poll RPS", dynamicconfig.TransferProcessorMaxPollRPS.Get(config)(), 20},
		{"timer poll RPS", dynamicconfig.TimerProcessorMaxPollRPS.Get(config)(), 7},
		{"timer shift", dynamicconfig.TimerProcessorMaxTimeShift.Get(config)().String(), "2s"},
		{"matching RPS", dynamicconfig.MatchingRPS.Get(config)(), 2},
		{"visibility poll RPS, a default", dynamicconfig.VisibilityProcessorMaxPollRPS.Get(config)(), queuePollRPS},
	} {
		if tc.got != tc.want {
			t.Errorf("%s is %v, want %v", tc.name, tc.got, tc.want)
		}
	}
}
