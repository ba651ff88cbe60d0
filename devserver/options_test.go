package main

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
)

// parse runs a command line of "server start-dev" up to the point where the
// server would start.
func parse(t *testing.T, args ...string) (*options, error) {
	t.Helper()
	var flags startDevFlags
	cmd := &cobra.Command{Use: "start-dev"}
	flags.register(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		return nil, err
	}
	flags.uiPortSet = cmd.Flags().Changed("ui-port")
	return flags.options()
}

func mustParse(t *testing.T, args ...string) *options {
	t.Helper()
	opts, err := parse(t, args...)
	if err != nil {
		t.Fatalf("parse %q: %v", args, err)
	}
	return opts
}

func TestDefaults(t *testing.T) {
	o := mustParse(t)
	if o.ip != loopback || o.uiIP != loopback {
		t.Errorf("listens on %s and %s, want loopback", o.ip, o.uiIP)
	}
	if o.port != 7233 || o.uiPort != 8233 || o.httpPort != 0 || o.metricsPort != 0 {
		t.Errorf("ports %d %d %d %d", o.port, o.uiPort, o.httpPort, o.metricsPort)
	}
	if !slices.Equal(o.namespaces, []string{"default"}) {
		t.Errorf("namespaces %q", o.namespaces)
	}
	if o.headless || o.dbFilename != "" || o.logLevel != "warn" {
		t.Errorf("headless %v, file %q, log level %q", o.headless, o.dbFilename, o.logLevel)
	}
}

func TestUIPort(t *testing.T) {
	for _, tc := range []struct {
		args string
		want int
	}{
		{"--port 7300", 8300},
		{"--port 0", 0},
		{"--port 65000", 0}, // 66000 is no port
		{"--port 7300 --ui-port 9000", 9000},
		{"--port 7300 --ui-port 0", 0},
	} {
		if got := mustParse(t, strings.Fields(tc.args)...).uiPort; got != tc.want {
			t.Errorf("%s: UI port %d, want %d", tc.args, got, tc.want)
		}
	}
}

func TestUIPublicPath(t *testing.T) {
	for in, want := range map[string]string{"": "", "/": "", "ui": "/ui", "/ui": "/ui", "/a/b/": "/a/b"} {
		if got := mustParse(t, "--ui-public-path", in).uiPublicPath; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestRepeatableFlags(t *testing.T) {
	o := mustParse(t, "-n", "a", "--namespace", "b", "-n", "a", "-n", "default",
		"--search-attribute", "Agent=Keyword", "--search-attribute", "Cost=Double",
		"--sqlite-pragma", "synchronous=FULL", "--ui-ip", "0.0.0.0", "--ip", "::1")
	if !slices.Equal(o.namespaces, []string{"default", "a", "b"}) {
		t.Errorf("namespaces %q", o.namespaces)
	}
	want := map[string]enumspb.IndexedValueType{
		"Agent": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		"Cost":  enumspb.INDEXED_VALUE_TYPE_DOUBLE,
	}
	if !maps.Equal(o.searchAttributes, want) {
		t.Errorf("search attributes %v", o.searchAttributes)
	}
	if o.pragmas["synchronous"] != "FULL" {
		t.Errorf("pragmas %v", o.pragmas)
	}
	if o.ip != "::1" || o.uiIP != "0.0.0.0" {
		t.Errorf("ip %s, UI ip %s", o.ip, o.uiIP)
	}
}

// Every mistake must be answered with a line that says what is wrong and, where
// the choice is limited, what would be right.
func TestMistakes(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"--search-attribute", "A=String"}, []string{"--search-attribute", `"String"`, "Keyword, KeywordList"}},
		{[]string{"--search-attribute", "A=Unspecified"}, []string{"unknown type"}},
		{[]string{"--search-attribute", "A"}, []string{"NAME=TYPE"}},
		{[]string{"--search-attribute", "WorkflowId=Keyword"}, []string{"reserved"}},
		{[]string{"--search-attribute", "A=Int", "--search-attribute", "A=Bool"}, []string{"both"}},
		{[]string{"--dynamic-config-value", "matching.rps"}, []string{"KEY=JSON_VALUE"}},
		{[]string{"--dynamic-config-value", "matching.rps=fast"}, []string{"matching.rps", "not JSON"}},
		{[]string{"--dynamic-config-value", `matching.rps="fast"`}, []string{"matching.rps", "does not fit"}},
		{[]string{"--sqlite-pragma", "nonsense=1"}, []string{`"nonsense"`, "journal_mode"}},
		{[]string{"--log-level", "loud"}, []string{"--log-level", "never"}},
		{[]string{"--log-format", "xml"}, []string{"--log-format", "json"}},
		{[]string{"--port", "70000"}, []string{"--port 70000"}},
		{[]string{"--port", "-1"}, []string{"--port -1"}},
		{[]string{"--ip", "no.such.host.invalid"}, []string{"--ip", "no.such.host.invalid"}},
		{[]string{"--namespace", "temporal-system"}, []string{"--namespace"}},
		{[]string{"--namespace", ""}, []string{"--namespace", "empty"}},
		{[]string{"--ui-codec-endpoint", "localhost:1"}, []string{"--ui-codec-endpoint", "URL"}},
		{[]string{"--ui-asset-path", "/nonexistent"}, []string{"--ui-asset-path"}},
		{[]string{"--no-such-flag"}, []string{"unknown flag", "no-such-flag"}},
	} {
		_, err := parse(t, tc.args...)
		if err == nil {
			t.Errorf("%q was accepted", tc.args)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %q does not mention %q", tc.args, err, want)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error has more than one line: %q", tc.args, err)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, tc := range []struct {
		args, wantErr, wantOut string
	}{
		{"--version", "", "Server "},
		{"server --version", "", "Server "},
		{"--help", "", "--db-filename heddle.db"},
		{"server start-dev --help", "", "--dynamic-config-value"},
		{"server start-dev --bogus", "unknown flag: --bogus", ""},
		{"server start-dev extra", `unexpected argument "extra"`, ""},
		{"server stop-dev", `unexpected argument "stop-dev"`, ""},
		{"workflow list", `unknown command "workflow"`, ""},
	} {
		var out strings.Builder
		root := newRootCommand(&out)
		root.SetErr(io.Discard)
		root.SetArgs(strings.Fields(tc.args))
		err := root.Execute()
		if tc.wantErr == "" && err != nil {
			t.Errorf("%s: %v", tc.args, err)
		}
		if tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)) {
			t.Errorf("%s: error %v, want %q", tc.args, err, tc.wantErr)
		}
		if !strings.Contains(out.String(), tc.wantOut) {
			t.Errorf("%s: output %q does not contain %q", tc.args, out.String(), tc.wantOut)
		}
	}
}
