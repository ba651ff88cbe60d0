package main

import (
	"io"
	"testing"
)

func TestKeyboardTakesNoAnswerFromBeforeTheQuestion(t *testing.T) {
	in, person := io.Pipe()
	defer person.Close()
	typed := func(text string) {
		go func() { _, _ = io.WriteString(person, text) }()
	}
	keys := keyboard{in: in}
	if err := keys.ask(); err != nil {
		t.Fatal(err)
	}
	typed("y\n")
	if l := <-keys.lines; !keys.answers(l) || l.text != "y" {
		t.Errorf("%+v does not answer the question that stands", l)
	}
	typed("yes\n")
	early := <-keys.lines
	if err := keys.ask(); err != nil {
		t.Fatal(err)
	}
	if keys.answers(early) {
		t.Errorf("%+v was typed before the second question, and answers it", early)
	}
	typed("n\n")
	if l := <-keys.lines; !keys.answers(l) || l.text != "n" {
		t.Errorf("%+v does not answer the second question", l)
	}
	_ = person.Close()
	if l, ok := <-keys.lines; ok {
		t.Errorf("%+v after the end of the input", l)
	}
}
