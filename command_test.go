package heddle

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func runCommand(t *testing.T, options []Option, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	c := command{args: append([]string{"worker"}, args...), stdout: &out, stderr: &err}
	return c.run(t.Context(), options), out.String(), err.String()
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"heddle.yaml": text, "script.yaml": "turns:\n  - steps: [{text: hi}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "heddle.yaml")
}

const oneAgent = `
models: {play: {provider: scripted, script: script.yaml}}
agents: {a: {model: play, instructions: hi}}
`

func TestCommandLine(t *testing.T) {
	good, bad := writeConfig(t, oneAgent), writeConfig(t, "agents: {a: {model: nobody, instructions: hi}}\nzebra: 1\n")
	tests := []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"help", []string{"--help"}, 0, "Usage: worker [flags]", ""},
		{"version", []string{"--version"}, 0, "heddle ", ""},
		{"check", []string{"--check", "--config", good}, 0, "configuration is right: 1 agents", ""},
		{"check of a bad file", []string{"--check", "--config", bad}, 2, "", bad + ":2:1: zebra: unknown field"},
		{"unknown flag", []string{"--confg", good}, 2, "", "Error: flag provided but not defined: -confg (see --help)\n"},
		{"argument", []string{good}, 2, "", "Error: unexpected argument"},
		{"bad level", []string{"--log-level", "loud", "--config", good}, 2, "", `Error: log level "loud"`},
		{"no file", []string{"--config", "none.yaml"}, 2, "", "none.yaml: file does not exist"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := runCommand(t, nil, test.args...)
			if code != test.code || !strings.HasPrefix(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("exit code %d, want %d\nstdout: %s\nwant:   %s\nstderr: %s\nwant:   %s",
					code, test.code, stdout, test.stdout, stderr, test.stderr)
			}
			if test.code == 0 && stderr != "" {
				t.Errorf("stderr: %s", stderr)
			}
		})
	}
}

func TestCommandFindsItsFile(t *testing.T) {
	named, given := writeConfig(t, oneAgent), writeConfig(t, "here: 1")
	t.Chdir(filepath.Dir(writeConfig(t, "there: 1")))
	for want, args := range map[string][]string{"named": {"--config", named}, "given": nil} {
		_, _, stderr := runCommand(t, []Option{ConfigFile(given)}, append(args, "--check")...)
		if got := strings.Contains(stderr, "here: unknown field"); got != (want == "given") {
			t.Errorf("%s: stderr %q", want, stderr)
		}
	}
	if _, _, stderr := runCommand(t, nil, "--check"); !strings.Contains(stderr, "heddle.yaml:1:1: there: unknown field") {
		t.Errorf("the default file was not read: %q", stderr)
	}
}

func TestCommandSaysThatNoServerAnswers(t *testing.T) {
	t.Setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
	code, _, stderr := runCommand(t, nil, "--config", writeConfig(t, oneAgent), "--log-level", "error")
	if code != exitFailed || !strings.Contains(stderr, "no Temporal server answers at 127.0.0.1:1") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}
