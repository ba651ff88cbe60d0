package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/internal/testkit"
)

// The commands run as processes of their own too, see [TestRotationSurvivesAKill].
func TestMain(m *testing.M) { testkit.Main(m, main) }

// result is how a run of the command line ended.
type result struct {
	code           int
	stdout, stderr string
}

// shell runs command lines in an environment of its own.
type shell struct {
	env      map[string]string
	terminal bool
	stdin    io.Reader
	// stderr, if set, is told what goes to standard error while the command runs.
	stderr io.Writer
}

func (s shell) run(ctx context.Context, args ...string) result {
	var stdout, stderr bytes.Buffer
	c := &cli{
		stdin: s.stdin, stdout: &stdout, stderr: &stderr,
		env:        func(name string) string { return s.env[name] },
		isTerminal: func(any) bool { return s.terminal },
	}
	if c.stdin == nil {
		c.stdin = strings.NewReader("")
	}
	if s.stderr != nil {
		c.stderr = io.MultiWriter(&stderr, s.stderr)
	}
	return result{c.run(ctx, args), stdout.String(), stderr.String()}
}

func TestMistakesOnTheCommandLine(t *testing.T) {
	for _, test := range []struct {
		args string
		want string
	}{
		{"frobnicate", `unknown command "frobnicate"`},
		{"send acme/t1", "missing argument"},
		{"send acme/t1 refund the mug", `unexpected argument "the"; put a text with spaces in quotes`},
		{"send acme hello", "want <tenant>/<thread>"},
		{"send a b/c hello", "unexpected argument"},
		{"send acme/t1 -", "message: text: is empty"},
		{"send acme/t1 hi --id a/b", "message: id: "},
		{"open acme/t1", "agent: is empty"},
		{"open acme/t1 --agent sup/port", "agent: "},
		{"watch acme/t1 --after -1", "--after -1: want 0 or more"},
		{"watch acme/t1 --after x", `invalid argument "x"`},
		{"watch acme/t1 --frobnicate", "unknown flag: --frobnicate (see starter watch --help)"},
		{"reconcile acme/t1 perhaps", `"perhaps": want applied, not-applied or abandon`},
		{"reconcile acme/t1 abandon --result 1", "--result goes with applied only"},
		{"reconcile acme/t1 applied --result {", "--result: is no JSON"},
		{"reconcile acme applied", `thread "acme": want <tenant>/<thread>`},
		{"reset acme/t1", "--to: want a turn, such as t3, or the number of an event"},
		{"threads --status busy", `--status "busy": want one of active, waiting, failed, closed`},
		{"threads --pending aproval", `--pending "aproval": want approval, question or reconciliation`},
		{"threads --limit 0", "--limit 0: want 1 or more"},
		{"transcript acme/t1 --from 3 --to 2", "want 0 <= from <= to"},
		{"tools", "--agent: is empty"},
		{"usage", "--tenant: is empty"},
		{"usage --tenant a/b", "--tenant: "},
		{"usage acme", `unexpected argument "acme"`},
	} {
		t.Run(test.args, func(t *testing.T) {
			got := shell{}.run(t.Context(), strings.Fields(test.args)...)
			if got.code != exitUsage || got.stdout != "" {
				t.Errorf("exit code %d, stdout %q; want %d and nothing", got.code, got.stdout, exitUsage)
			}
			if !strings.Contains(got.stderr, test.want) || strings.Count(got.stderr, "\n") != 1 {
				t.Errorf("stderr %q, want one line with %q", got.stderr, test.want)
			}
		})
	}
}

func TestEveryCommandHelps(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		if cmd.Short == "" || cmd.Long == "" || !strings.Contains(cmd.Example, "starter ") {
			t.Errorf("%s has no short text, no long one or no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Long) {
			if columns(strings.TrimSuffix(line, "\n")) > 90 {
				t.Errorf("%s: the help has a line of %d columns: %s", cmd.CommandPath(), columns(line), line)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit((&cli{env: func(string) string { return "" }}).rootCommand())
	if got := (shell{}).run(t.Context(), "send", "--help"); got.code != exitOK || !strings.Contains(got.stdout, "Exit codes:") {
		t.Errorf("send --help: %+v", got)
	}
}

func TestNoServer(t *testing.T) {
	got := shell{}.run(t.Context(), "state", "acme/t1", "--address", "127.0.0.1:1")
	if got.code != exitFailed || !strings.HasPrefix(got.stderr, "Error: no Temporal server answers at 127.0.0.1:1") ||
		strings.Count(got.stderr, "\n") != 1 {
		t.Errorf("exit code %d, stderr %q", got.code, got.stderr)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := (shell{}).run(ctx, "state", "acme/t1", "--address", "127.0.0.1:1"); got.code != exitInterrupted {
		t.Errorf("%+v, want exit code %d", got, exitInterrupted)
	}
}
