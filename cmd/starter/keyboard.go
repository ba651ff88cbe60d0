package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// keyboard reads what a person types in answer to questions. What was typed
// before a question was shown does not answer it.
type keyboard struct {
	in io.Reader
	// lines is closed when the input ends; nil before the first question.
	lines <-chan line
	// question counts the questions.
	question atomic.Int64
}

// line is what was typed, and the number of the question that stood there.
type line struct {
	text     string
	question int64
}

// ask begins a question: it discards what was typed so far, the beginning of a
// line included. The caller then prints the question.
func (k *keyboard) ask() error {
	if err := discardInput(k.in); err != nil {
		return fmt.Errorf("discard what was typed before the question: %w", err)
	}
	k.question.Add(1)
	if k.lines == nil {
		k.lines = k.read()
	}
	return nil
}

// answers reports whether the line was typed after the newest question was asked.
func (k *keyboard) answers(l line) bool { return l.question == k.question.Load() }

func (k *keyboard) read() <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(k.in); scanner.Scan(); {
			lines <- line{scanner.Text(), k.question.Load()}
		}
	}()
	return lines
}

// discardInput empties a terminal's queue. Other inputs stay as they are.
func discardInput(in io.Reader) error {
	if !isTerminal(in) {
		return nil
	}
	return flushTerminal(in.(*os.File).Fd())
}
