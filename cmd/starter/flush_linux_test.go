package main

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// pseudoTerminal returns a terminal, and the end at which a person types.
func pseudoTerminal(t *testing.T) (terminal, person *os.File) {
	t.Helper()
	open := func(name string) *os.File {
		file, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Skip("no pseudo terminals here: ", err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	person = open("/dev/ptmx")
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	return open(fmt.Sprintf("/dev/pts/%d", number)), person
}

func TestAQuestionDiscardsWhatWasTyped(t *testing.T) {
	terminal, person := pseudoTerminal(t)
	typed := func(text string) {
		if _, err := person.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	typed("y\nyes\ny") // the last line is not ended
	arrived := []unix.PollFd{{Fd: int32(terminal.Fd()), Events: unix.POLLIN}}
	if n, err := unix.Poll(arrived, 10_000); n != 1 || err != nil {
		t.Fatalf("what was typed does not arrive: %d, %v", n, err)
	}
	keys := keyboard{in: terminal}
	if err := keys.ask(); err != nil {
		t.Fatal(err)
	}
	typed("n\n")
	if l := <-keys.lines; l.text != "n" || !keys.answers(l) {
		t.Errorf("%+v answers the question, want n", l)
	}
	typed("\x04") // the end of the input, which ends the reader
	if l, ok := <-keys.lines; ok {
		t.Errorf("%+v after the end of the input", l)
	}
}
