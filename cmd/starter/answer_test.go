package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/signals/contract"
)

var orderQuestion = contract.Question{
	ID: "t1-s1-c1-q1-3f9a01bc", Tool: "shop.order", From: "shop (https://mcp.shop.example)", Message: "Where\x1b[2J to?",
	Schema: json.RawMessage(`{"type":"object","properties":{"email":{"type":"string","format":"email","description":"for the receipt"},"copies":{"type":"integer","default":1},
		"gift":{"type":"boolean"},"extras":{"type":"array","items":{"type":"string","enum":["bow","card"]}}},"required":["email"]}`),
}

func TestAnswerFieldByField(t *testing.T) {
	got, err := filled(orderQuestion, []string{"email=a=b@c", "copies=2", "gift=true", "extras=bow", "extras=card"})
	if want := `{"copies":2,"email":"a=b@c","extras":["bow","card"],"gift":true}`; err != nil || string(got) != want {
		t.Errorf("content %s, %v; want %s", got, err, want)
	}
	for set, want := range map[string]string{
		"phone=1": "email, copies, gift, extras", "email": "want name=value", "copies=two": "is no number", "gift=maybe": "true or false",
	} {
		var usage usageError
		if _, err := filled(orderQuestion, []string{set}); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("--set %s: %v, want %q", set, err, want)
		}
	}
	if _, err := filled(contract.Question{}, []string{"a=b"}); err == nil {
		t.Error("content is made for a question that wants none")
	}
}

func TestQuestionIsShown(t *testing.T) {
	var out strings.Builder
	newTimeline(&out, screen{width: 100}, "clerk").question(orderQuestion)
	for _, want := range []string{
		"shop (https://mcp.shop.example) asks:", "email: email, required (for the receipt)", "copies: integer, else 1", "extras: any of bow, card",
		"question: t1-s1-c1-q1-3f9a01bc",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b[2J") {
		t.Errorf("the terminal is told what the server likes: %q", out.String())
	}
	err := askingError{contract.ThreadRef{Tenant: "acme", Thread: "t"}, "t1", orderQuestion}
	if !strings.Contains(err.Error(), "starter answer acme/t t1-s1-c1-q1-3f9a01bc --set NAME=VALUE") || exitCode(t.Context(), err) != exitWaiting {
		t.Errorf("the error is %v", err)
	}
}
