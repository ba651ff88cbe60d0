package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/openai"
)

// endless is a response body that goes on for ever: its piece, and a pause.
type endless struct {
	ctx   context.Context
	piece string
	pause time.Duration
	rest  string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		if e.pause > 0 {
			select {
			case <-e.ctx.Done():
				return 0, e.ctx.Err()
			case <-time.After(e.pause):
			}
		}
		e.rest = e.piece
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *endless) Close() error { return nil }

// endlessModel asks a server, without a network, that answers with endless pieces.
// A negative pause is a server that does not even begin.
func endlessModel(t *testing.T, cfg openai.Config, piece string, pause time.Duration) *openai.Model {
	t.Helper()
	cfg.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if pause < 0 {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: &endless{ctx: r.Context(), piece: piece, pause: pause}}, nil
	})}
	model, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// TestTime: a server cannot hold a call for ever, in whichever way it tries.
func TestTime(t *testing.T) {
	const word = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"
	minutes := openai.Config{Timeout: 10 * time.Minute, IdleTimeout: time.Minute}
	tests := []struct {
		name     string
		cfg      openai.Config
		piece    string
		pause    time.Duration
		streamed bool
		took     time.Duration
		says     string
	}{
		{"silence before a stream", minutes, "", -1, true, time.Minute, "the server was silent for 1m0s"},
		{"silence before a reply", minutes, "", -1, false, 10 * time.Minute, "no whole reply within 10m0s"},
		{"silence within a stream", minutes, word, 2 * time.Minute, true, time.Minute, "the server was silent for 1m0s"},
		{"a stream that never ends", minutes, word, 59 * time.Second, true, 10 * time.Minute, "no whole reply within 10m0s"},
		{"a stream of comments", minutes, ": wait\n\n", 59 * time.Second, true, 10 * time.Minute, "no whole reply within 10m0s"},
		{"a line that never ends", minutes, "data: ", 59 * time.Second, true, 10 * time.Minute, "no whole reply within 10m0s"},
		{"a reply that never ends", minutes, " ", 5 * time.Minute, false, 10 * time.Minute, "no whole reply within 10m0s"},
		{"defaults of a stream", openai.Config{}, "", -1, true, openai.DefaultIdleTimeout, "the server was silent"},
		{"defaults of a reply", openai.Config{}, "", -1, false, openai.DefaultTimeout, "no whole reply"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := endlessModel(t, test.cfg, test.piece, test.pause)
				var stream func(activities.ModelDelta)
				if test.streamed {
					stream = func(activities.ModelDelta) {}
				}
				began := time.Now()
				_, err := model.Generate(t.Context(), hello(), stream)
				checkError(t, err, activities.ModelError{Kind: unavailable}, test.says)
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v says that the caller ended the call", err)
				}
			})
		})
	}
}

// TestSlowStream: a stream may take long, as long as it goes on.
func TestSlowStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			body := io.MultiReader(
				io.LimitReader(&endless{ctx: r.Context(), piece: events(delta(`"content":"x"`)), pause: 50 * time.Second}, int64(5*len(events(delta(`"content":"x"`))))),
				strings.NewReader(events(finish("stop"), done)))
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body)}, nil
		})}
		model, err := openai.New(openai.Config{HTTPClient: client, IdleTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		resp, err := model.Generate(t.Context(), hello(), func(activities.ModelDelta) {})
		if err != nil || resp.Text != "xxxxx" || time.Since(began) != 250*time.Second {
			t.Errorf("%q, %v after %v", resp.Text, err, time.Since(began))
		}
	})
}

// TestSize: a server cannot fill the worker's memory, in whichever way it tries.
func TestSize(t *testing.T) {
	chunk := strings.Repeat("x", 16<<10)
	tests := []struct {
		name, piece string
		streamed    bool
	}{
		{"a document", chunk, false},
		{"a line", chunk, true},
		{"an event of many lines", "data: " + chunk + "\n", true},
		{"many words", events(delta(`"content":"` + chunk + `"`)), true},
		{"many thoughts", events(delta(`"reasoning_content":"` + chunk + `"`)), true},
		{"long arguments", events(delta(`"tool_calls":[{"index":0,"function":{"arguments":"` + chunk + `"}}]`)), true},
		{"many comments", ": " + chunk + "\n\n", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stream func(activities.ModelDelta)
			if test.streamed {
				stream = func(activities.ModelDelta) {}
			}
			_, err := endlessModel(t, openai.Config{}, test.piece, 0).Generate(t.Context(), hello(), stream)
			checkError(t, err, activities.ModelError{Kind: unavailable}, "the reply is larger than 16 MiB")
		})
	}
	t.Run("a document for a stream", func(t *testing.T) {
		model := newModel(t, answer("application/json", strings.Repeat(" ", 17<<20)))
		_, err := model.Generate(t.Context(), hello(), func(activities.ModelDelta) {})
		checkError(t, err, activities.ModelError{Kind: unavailable}, "the reply is larger than 16 MiB")
	})
	t.Run("an error", func(t *testing.T) {
		model := newModel(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			io.WriteString(w, strings.Repeat("x", 17<<20))
		}))
		_, err := model.Generate(t.Context(), hello(), nil)
		checkError(t, err, activities.ModelError{Kind: unavailable, Status: 500}, "Internal Server Error")
	})
	t.Run("just below", func(t *testing.T) {
		text := strings.Repeat("é", 7<<20)
		resp, err := newModel(t, answer("application/json", fmt.Sprintf(`{"choices":[{"message":{"content":%q}}]}`, text))).Generate(t.Context(), hello(), nil)
		if err != nil || resp.Text != text {
			t.Errorf("%d bytes, %v", len(resp.Text), err)
		}
	})
}

// TestCause: a caller that ends the call with a cause of its own still finds the
// context's error.
func TestCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("turn cancelled"))
	_, err := endlessModel(t, openai.Config{}, "", -1).Generate(ctx, hello(), nil)
	checkError(t, err, activities.ModelError{Kind: unavailable, Err: context.Canceled}, "the call was ended")
}
