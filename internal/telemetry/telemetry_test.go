package telemetry

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"
)

func TestLogger(t *testing.T) {
	var out bytes.Buffer
	logger, err := Logger(&out, "warn", "json")
	if err != nil {
		t.Fatal(err)
	}
	logger.Info("quiet")
	logger.Warn("loud", "thread", "acme/t1")
	var record map[string]any
	if err := json.Unmarshal(out.Bytes(), &record); err != nil {
		t.Fatalf("want one JSON record, got %q: %v", out.String(), err)
	}
	if record["msg"] != "loud" || record["thread"] != "acme/t1" {
		t.Errorf("record %v", record)
	}
}

func TestLoggerRefuses(t *testing.T) {
	for _, test := range []struct{ level, format, want string }{
		{"loud", "text", `log level "loud": want debug, info, warn or error`},
		{"INFO", "text", `log level "INFO"`},
		{"", "text", `log level ""`},
		{"info", "xml", `log format "xml": want text or json`},
	} {
		if _, err := Logger(nil, test.level, test.format); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("Logger(%q, %q): %v, want %q", test.level, test.format, err, test.want)
		}
	}
}

func TestVersionNamesTheProgram(t *testing.T) {
	if got := Version(); !strings.HasPrefix(got, "heddle ") || !strings.Contains(got, "go1.") {
		t.Errorf("Version() = %q", got)
	}
}

func TestDescribe(t *testing.T) {
	revision := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}
	shop := debug.Module{Path: "example.com/shop", Version: "v1.2.3"}
	other := &debug.Module{Path: "example.com/other", Version: "v9.0.0"}
	for _, test := range []struct {
		name, want string
		info       debug.BuildInfo
	}{
		{
			"its own", "heddle v0.4.0 0123456789ab go1.26",
			debug.BuildInfo{Main: debug.Module{Path: module, Version: "v0.4.0"}, Settings: revision, Deps: []*debug.Module{other}},
		},
		{
			"an application", "example.com/shop v1.2.3 0123456789ab heddle v0.4.0 go1.26",
			debug.BuildInfo{Main: shop, Settings: revision, Deps: []*debug.Module{other, {Path: module, Version: "v0.4.0"}}},
		},
		{
			"with a fork of this module", "example.com/shop v1.2.3 heddle v0.4.1 go1.26",
			debug.BuildInfo{Main: shop, Deps: []*debug.Module{{
				Path: module, Version: "v0.4.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v0.4.1"},
			}}},
		},
		{
			"with a folder in its place", "example.com/shop v1.2.3 heddle (devel) go1.26",
			debug.BuildInfo{Main: shop, Deps: []*debug.Module{{
				Path: module, Version: "v0.4.0", Replace: &debug.Module{Path: "../heddle"},
			}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.info.GoVersion = "go1.26"
			if got := describe(&test.info); got != test.want {
				t.Errorf("describe() = %q, want %q", got, test.want)
			}
		})
	}
}
