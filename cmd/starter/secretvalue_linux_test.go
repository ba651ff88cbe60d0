package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/secrets"
)

// echoes reports whether a terminal shows what is typed.
func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

// prompt is where a command asks; the person behind the terminal answers once asked.
type prompt struct {
	bytes.Buffer
	asked chan struct{}
}

func (p *prompt) Write(text []byte) (int, error) {
	if p.Len() == 0 {
		close(p.asked)
	}
	return p.Buffer.Write(text)
}

func awaitMute(t *testing.T, terminal *os.File) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); echoes(t, terminal); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the terminal never stops to show what is typed")
		}
	}
}

func TestATypedValueIsNotShown(t *testing.T) {
	terminal, person := pseudoTerminal(t)
	asked := &prompt{asked: make(chan struct{})}
	c := &cli{stdin: terminal, stderr: asked, stdout: io.Discard, isTerminal: isTerminal}
	type answer struct {
		value []byte
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := c.secretValue(t.Context(), secrets.Key{Scope: secrets.App, Name: "github.token"})
		answers <- answer{value, err}
	}()
	<-asked.asked
	awaitMute(t, terminal)
	if _, err := person.WriteString(secretValue + "\n"); err != nil {
		t.Fatal(err)
	}
	got := <-answers
	if got.err != nil || string(got.value) != secretValue || !echoes(t, terminal) {
		t.Errorf("read %q, %v; the terminal shows what is typed again: %t", got.value, got.err, echoes(t, terminal))
	}
	if text := asked.String(); text != "Value of app: github.token (not shown): \n" {
		t.Errorf("asked %q", text)
	}
	fd := int(person.Fd()) // asked for again it would block
	_ = unix.SetNonblock(fd, true)
	shown := make([]byte, 1024)
	n, _ := unix.Read(fd, shown)
	if strings.Contains(string(shown[:max(n, 0)]), "nobody") {
		t.Errorf("the terminal showed %q", shown[:n])
	}
}

func TestAnInterruptedQuestionLeavesTheTerminalAsItWas(t *testing.T) {
	terminal, _ := pseudoTerminal(t)
	asked := &prompt{asked: make(chan struct{})}
	c := &cli{stdin: terminal, stderr: asked, stdout: io.Discard, isTerminal: isTerminal}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.secretValue(ctx, secrets.Key{Scope: secrets.App, Name: "github.token"})
		ended <- err
	}()
	<-asked.asked
	awaitMute(t, terminal)
	cancel()
	if err := <-ended; err == nil || !echoes(t, terminal) {
		t.Errorf("ended with %v; the terminal shows what is typed: %t", err, echoes(t, terminal))
	}
}
