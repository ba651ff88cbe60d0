package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func open(t *testing.T, folder string) *Log {
	t.Helper()
	l, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func write(t *testing.T, l *Log, n int) {
	t.Helper()
	for i := range n {
		if err := l.Write(map[string]any{"kind": "call", "n": i, "text": "a <tag> & \u2028"}); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, folder string, n int) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("audit-%d.jsonl", n)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func verify(t *testing.T, text []byte) Report {
	t.Helper()
	report, err := Verify(bytes.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Two processes have a file each, and one that comes after goes on with the first
// that is free.
func TestEachProcessHasAFile(t *testing.T) {
	folder := t.TempDir()
	first, second := open(t, folder), open(t, folder)
	write(t, first, 3)
	write(t, second, 2)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.Write("late"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error = %v", err)
	}
	write(t, open(t, folder), 4)
	for n, want := range map[int]int64{1: 7, 2: 2} {
		if report := verify(t, read(t, folder, n)); report.Records != want || report.Torn != 0 {
			t.Errorf("file %d: %+v", n, report)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	folder := t.TempDir()
	l := open(t, folder)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 50 {
				_ = l.Write("x")
			}
		})
	}
	wg.Wait()
	if report := verify(t, read(t, folder, 1)); report.Records != 1000 {
		t.Errorf("%+v", report)
	}
}

// A line that a crash tore is taken away, wherever it was torn, and the log says so.
func TestTornLine(t *testing.T) {
	folder := t.TempDir()
	l := open(t, folder)
	write(t, l, 2)
	_ = l.Close()
	whole := read(t, folder, 1)
	at := bytes.IndexByte(whole, '\n') + 1
	for _, end := range []int{at + 1, at + 20, len(whole) - 1} {
		path := filepath.Join(folder, "audit-1.jsonl")
		if err := os.WriteFile(path, whole[:end], 0o600); err != nil {
			t.Fatal(err)
		}
		if report := verify(t, whole[:end]); report.Records != 1 || report.Torn != end-at {
			t.Errorf("torn at %d: %+v", end, report)
		}
		l := open(t, folder)
		write(t, l, 1)
		_ = l.Close()
		if report := verify(t, read(t, folder, 1)); report.Records != 2 || report.Torn != 0 || report.Recovered != 1 {
			t.Errorf("torn at %d and gone on: %+v", end, report)
		}
	}
}

func TestWhatIsChangedIsFound(t *testing.T) {
	folder := t.TempDir()
	l := open(t, folder)
	write(t, l, 5)
	_ = l.Close()
	text := read(t, folder, 1)
	lines := strings.SplitAfter(string(text), "\n")[:5]
	for name, test := range map[string]struct {
		text string
		line int64
		says string
	}{
		"changed":   {strings.Replace(string(text), `"n":2`, `"n":9`, 1), 3, "was changed"},
		"removed":   {lines[0] + lines[2] + lines[3] + lines[4], 2, "does not follow"},
		"first cut": {lines[1] + lines[2], 1, "does not follow"},
		"moved":     {lines[0] + lines[2] + lines[1] + lines[3] + lines[4], 2, "does not follow"},
		"repeated":  {lines[0] + lines[0] + lines[1], 2, "does not follow"},
		"inserted":  {lines[0] + "{}\n" + lines[1], 2, "another form"},
		"beside":    {strings.Replace(string(text), `{"hash"`, `{"x":1,"hash"`, 1), 1, "another form"},
		"no JSON":   {lines[0] + "hello\n", 2, "no line of an audit log"},
	} {
		var broken *BrokenError
		_, err := Verify(strings.NewReader(test.text), "")
		if !errors.As(err, &broken) || broken.Line != test.line || !strings.Contains(broken.Reason, test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What is missing at the end is found by a hash that was noted.
	head := verify(t, text).Head
	if _, err := Verify(bytes.NewReader(text), head); err != nil {
		t.Error(err)
	}
	if _, err := Verify(strings.NewReader(strings.Join(lines[:4], "")), head); err == nil {
		t.Error("nobody notices that the last line is missing")
	}
	// A log that does not end as it was written is not gone on with.
	path := filepath.Join(folder, "audit-1.jsonl")
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"n":4`, `"n":9`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), "last line") {
		t.Errorf("error = %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte("{\"hash\":\"\",\"record\":{}}\n"))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = Verify(bytes.NewReader(text), "") })
}
