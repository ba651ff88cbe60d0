package heddle

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/signals/encryption"
)

const hidden = "hunter2-hunter2"

func guard() *exits {
	e := &exits{redactor: &secrets.Redactor{}}
	e.redactor.Hide("acme", []byte(hidden))
	return e
}

func TestErrorsLeaveWithoutSecrets(t *testing.T) {
	inner := temporal.NewApplicationError("inner "+hidden, "Inner", map[string]string{"header": "Bearer " + hidden})
	err := temporal.NewApplicationErrorWithCause("outer "+hidden, "Outer", errors.Join(errors.New(hidden), inner))
	failure := guard().failureConverter(&encryption.Codec{}).ErrorToFailure(err)
	if text := failure.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, "outer [redacted]") {
		t.Errorf("the failure is %s", text)
	}
	back := guard().failureConverter(&encryption.Codec{}).FailureToError(failure)
	var app *temporal.ApplicationError
	if !errors.As(back, &app) || app.Type() != "Outer" {
		t.Errorf("the error became %v", back)
	}
}

// Secrets are taken out of an error before it is encrypted, once, and whoever has the key
// reads the rest. An error that has come from Temporal goes on as it was.
func TestErrorsLeaveEncrypted(t *testing.T) {
	codec, err := encryption.Parse("k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	convert := guard().failureConverter(codec)
	inner := temporal.NewApplicationError("inner "+hidden, "Inner", map[string]string{"header": "Bearer " + hidden})
	failure := convert.ErrorToFailure(temporal.NewApplicationErrorWithCause("outer words", "Outer", inner))
	if text := failure.String(); strings.Contains(text, "outer words") || strings.Contains(text, "inner") || strings.Contains(text, "hunter2") {
		t.Errorf("the failure is %s", text)
	}
	for range 2 { // and on, through another activity
		var app *temporal.ApplicationError
		back := convert.FailureToError(failure)
		if !errors.As(back, &app) || app.Message() != "outer words" || app.Type() != "Outer" {
			t.Fatalf("the error became %v", back)
		}
		var details map[string]string
		if !errors.As(errors.Unwrap(back), &app) || app.Details(&details) != nil || app.Message() != "inner [redacted]" || details["header"] != "Bearer [redacted]" {
			t.Fatalf("its cause became %v, %v", app, details)
		}
		failure = convert.ErrorToFailure(back)
	}
}

type parrot struct{ asked activities.ModelRequest }

func (p *parrot) Generate(_ context.Context, req activities.ModelRequest, _ func(activities.ModelDelta)) (activities.ModelResponse, error) {
	p.asked = req
	return activities.ModelResponse{
		Text: hidden, Reasoning: hidden, Calls: []activities.ModelCall{{Name: hidden, Input: `{"a":"` + hidden + `"}`}},
	}, nil
}

func TestModelsNeitherSeeNorTellSecrets(t *testing.T) {
	model := &parrot{}
	guarded := guard().guardModels(map[string]activities.Agent{"a": {Model: model}})["a"].Model
	messages := []contract.Message{
		{Role: contract.RoleUser, Text: "my key is " + hidden},
		{Role: contract.RoleAssistant, Calls: []contract.Call{{Input: json.RawMessage(`{"k":"` + hidden + `"}`)}}},
		{Role: contract.RoleTool, Text: `{"k":"` + hidden + `"}`},
	}
	reply, err := guarded.Generate(t.Context(), activities.ModelRequest{
		System: hidden, Messages: messages,
		Tools: []activities.ToolDefinition{{Name: "t", Description: hidden, Input: json.RawMessage(`{"default":"` + hidden + `"}`)}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	told, err := json.Marshal([]any{model.asked, reply})
	if err != nil || strings.Contains(string(told), "hunter2") || strings.Count(string(told), secrets.Mask) != 10 {
		t.Errorf("asked and told: %s, %v", told, err)
	}
	if messages[2].Text != `{"k":"`+hidden+`"}` {
		t.Error("the caller's messages were changed")
	}
}

func TestStoredValuesHoldNoSecrets(t *testing.T) {
	store := &memory{}
	if _, err := (guardedBlobs{store, guard()}).Put(t.Context(), []byte(`{"k":"`+hidden+`"}`)); err != nil {
		t.Fatal(err)
	}
	if string(store.value) != `{"k":"[redacted]"}` {
		t.Errorf("stored %s", store.value)
	}
}

type memory struct {
	activities.Blobs
	value []byte
}

func (m *memory) Put(_ context.Context, value []byte) (contract.Ref, error) {
	m.value = value
	return contract.Ref{}, nil
}

// Keys that cannot be used keep a worker from starting, and no word of them is told.
func TestKeysOfPayloadsThatCannotBe(t *testing.T) {
	t.Setenv("BAD_KEYS", "k1:"+hidden)
	for want, at := range map[string]string{
		"heddle.yaml:1:12: temporal.encryption: the environment variable NO_KEYS is not set": "{key_env: NO_KEYS}",
		"temporal.encryption: keys of the payloads: key k1: want 32 bytes in base64":         "{key_env: BAD_KEYS}",
		"no-such.keys": "{key_file: no-such.keys}",
	} {
		_, err := policed(t, "temporal: {encryption: "+at+"}\n")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v, want %q", at, err, want)
		}
	}
	t.Setenv("KEYS", "k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	app, err := policed(t, "temporal: {encryption: {key_env: KEYS}}\nagents: {a: {model: m, instructions: x}}\n")
	if err != nil {
		t.Fatal(err)
	}
	if clean := app.exits.redactor.All("the key is MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="); strings.Contains(clean, "MDEy") {
		t.Errorf("a key can leave: %s", clean)
	}
}
