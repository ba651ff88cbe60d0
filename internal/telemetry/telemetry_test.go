package telemetry

import (
	"bytes"
	"encoding/json"
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
