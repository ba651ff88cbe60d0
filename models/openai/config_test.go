package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/openai"
)

func TestConfig(t *testing.T) {
	tests := []struct {
		name string
		cfg  openai.Config
		want string // empty: it is accepted
	}{
		{"nothing", openai.Config{}, ""},
		{"a trailing slash", openai.Config{BaseURL: "https://llm.example.com/v1/"}, ""},
		{"no path", openai.Config{BaseURL: "http://[::1]:8000"}, ""},
		{"no scheme", openai.Config{BaseURL: "llm.example.com/v1"}, "must begin with http:// or https://"},
		{"another scheme", openai.Config{BaseURL: "file:///v1"}, "must begin with http:// or https://"},
		{"no host", openai.Config{BaseURL: "http://:80/v1"}, "names no host"},
		{"no URL", openai.Config{BaseURL: "http://user:sk-secret@ho st/"}, "base URL: is not a URL"},
		{"a password", openai.Config{BaseURL: "https://user:sk-secret@llm.example.com"}, "must hold no user, query or fragment"},
		{"a key in the query", openai.Config{BaseURL: "https://llm.example.com/v1?key=sk-secret"}, "must hold no user, query or fragment"},
		{"the whole endpoint", openai.Config{BaseURL: "https://llm.example.com/v1/chat/completions/"}, "must end before /chat/completions"},
		{"negative timeout", openai.Config{Timeout: -1}, "timeout: -1ns is negative"},
		{"negative idle timeout", openai.Config{IdleTimeout: -time.Second}, "idle timeout: -1s is negative"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := openai.New(test.cfg)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}

// TestKeyIsNeverPrinted: neither the configuration nor the model shows the key.
func TestKeyIsNeverPrinted(t *testing.T) {
	const key = "sk-do-not-print-me"
	cfg := openai.Config{APIKey: openai.Key(key)}
	model, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{cfg, &cfg, model, *model, struct{ inner openai.Config }{cfg}} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			if out := fmt.Sprintf(format, v); strings.Contains(out, key) || strings.Contains(out, fmt.Sprintf("%x", key)) {
				t.Errorf("%s of %T shows the key", format, v)
			}
		}
	}
	out, err := json.Marshal(cfg)
	if err != nil || strings.Contains(string(out), key) {
		t.Errorf("JSON %s, %v", out, err)
	}
}

func TestBadKeys(t *testing.T) {
	known := &activities.ModelError{Kind: activities.ModelUnauthorized, Message: "no such connection"}
	tests := []struct {
		name string
		key  func(context.Context) (string, error)
		want activities.ModelError
		says string
	}{
		{"empty", func(context.Context) (string, error) { return "", nil }, activities.ModelError{Kind: activities.ModelUnauthorized}, "the API key is empty"},
		{"with a line break", openai.Key("sk-secret\n"), activities.ModelError{Kind: activities.ModelUnauthorized}, "holds a line break"},
		{"a store that fails", func(context.Context) (string, error) { return "", errors.New("store is down") }, activities.ModelError{Kind: activities.ModelUnavailable}, "the API key cannot be read: store is down"},
		{"a store that knows", func(context.Context) (string, error) { return "", known }, activities.ModelError{Kind: activities.ModelUnauthorized}, "no such connection"},
		{"a store that is cancelled", func(context.Context) (string, error) { return "", context.Canceled }, activities.ModelError{Kind: activities.ModelUnavailable, Err: context.Canceled}, "cannot be read"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			asked := false
			model := newModelWith(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }), openai.Config{APIKey: test.key})
			_, err := model.Generate(t.Context(), hello(), nil)
			checkError(t, err, test.want, test.says)
			if asked || strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("asked %t, error %v", asked, err)
			}
		})
	}
}

// TestKeyPerCall: a key that changes is asked for at each call.
func TestKeyPerCall(t *testing.T) {
	var got recorder
	n := 0
	model := newModelWith(t, &got, openai.Config{APIKey: func(context.Context) (string, error) {
		n++
		return fmt.Sprint("sk-number-", n), nil
	}})
	for i := 1; i <= 2; i++ {
		if _, err := model.Generate(t.Context(), hello(), nil); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint("Bearer sk-number-", i); got.header.Get("Authorization") != want {
			t.Errorf("call %d was sent with %q", i, got.header.Get("Authorization"))
		}
	}
}
