package modeltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

func cancelledWithinStream(t *testing.T, s suite) {
	model := s.newModel(t, Script{{Text: long, Stall: true}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pieces := 0
	_, err := model.Generate(ctx, request(user("Tell me all.")), func(activities.ModelDelta) {
		pieces++
		cancel()
	})
	checkEnded(t, err, context.Canceled)
	if pieces == 0 {
		t.Error("no piece came")
	}
}

func cancelledWithinReply(t *testing.T, s suite) {
	model := s.newModel(t, Script{{Text: long, Stall: true}})
	ctx, cancel := context.WithCancel(t.Context())
	// Whether this falls before, into or after the request, the end is the same.
	timer := time.AfterFunc(20*time.Millisecond, cancel)
	defer timer.Stop()
	_, err := model.Generate(ctx, request(user("Tell me all.")), nil)
	checkEnded(t, err, context.Canceled)
}

func cancelledBefore(t *testing.T, s suite) {
	model := s.newModel(t, Script{{Text: "Too late."}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := model.Generate(ctx, request(user("Hello?")), nil)
	checkEnded(t, err, context.Canceled)
}

func deadline(t *testing.T, s suite) {
	model := s.newModel(t, Script{{Text: long, Stall: true}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := model.Generate(ctx, request(user("Tell me all.")), func(activities.ModelDelta) {})
	checkEnded(t, err, context.DeadlineExceeded)
}

func checkEnded(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want one that wraps %v", err, want)
	}
	var failed *activities.ModelError
	if !errors.As(err, &failed) {
		t.Errorf("error %T, want a *ModelError", err)
	}
}

// severalAtOnce holds conversations that stand at different places.
func severalAtOnce(t *testing.T, s suite) {
	var script Script
	for n := range 4 {
		script = append(script, Reply{Text: fmt.Sprintf("Answer %d, in several pieces. 🧵", n), Usage: contract.Usage{InputTokens: int64(n + 1)}})
	}
	model := s.newModel(t, script)
	var wait sync.WaitGroup
	for n := range 32 {
		messages := []contract.Message{user("Hello?")}
		for range n % len(script) {
			messages = append(messages, contract.Message{Role: contract.RoleAssistant, Text: "So far so good."})
		}
		var stream func(activities.ModelDelta)
		if n%2 == 0 {
			stream = func(activities.ModelDelta) {}
		}
		wait.Go(func() {
			resp, err := model.Generate(t.Context(), request(messages...), stream)
			want := script[n%len(script)]
			if err != nil || resp.Text != want.Text || resp.Usage != want.Usage {
				t.Errorf("conversation %d: %q, %+v, %v", n, resp.Text, resp.Usage, err)
			}
		})
	}
	wait.Wait()
}

func badRequests(t *testing.T, s suite) {
	model := s.newModel(t, Script{{Text: "Never said."}})
	tests := map[string]activities.ModelRequest{
		"no messages":  request(),
		"unknown role": request(contract.Message{Role: "oracle", Text: "Hm."}),
	}
	for name, req := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := model.Generate(t.Context(), req, nil)
			var failed *activities.ModelError
			if !errors.As(err, &failed) || failed.Kind != activities.ModelInvalid || failed.Retryable() {
				t.Errorf("error %v, want an invalid request that is not tried again", err)
			}
		})
	}
}
