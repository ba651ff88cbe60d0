package openai_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/openai"
)

// checkError holds an error's kind, status, wait and cause against want.
func checkError(t *testing.T, err error, want activities.ModelError, says string) {
	t.Helper()
	var got *activities.ModelError
	if !errors.As(err, &got) {
		t.Fatalf("error %T %v, want a *ModelError", err, err)
	}
	if got.Kind != want.Kind || got.Status != want.Status || got.RetryAfter != want.RetryAfter {
		t.Errorf("kind %s, status %d, retry after %v; want %s, %d, %v\n%v", got.Kind, got.Status, got.RetryAfter, want.Kind, want.Status, want.RetryAfter, err)
	}
	if !strings.Contains(got.Message, says) {
		t.Errorf("message %q does not say %q", got.Message, says)
	}
	if want.Err != nil && !errors.Is(err, want.Err) {
		t.Errorf("error %v does not wrap %v", err, want.Err)
	}
}

// bothWays runs a test without and with a stream.
func bothWays(t *testing.T, run func(t *testing.T, stream func(activities.ModelDelta))) {
	t.Run("whole", func(t *testing.T) { run(t, nil) })
	t.Run("streamed", func(t *testing.T) { run(t, func(activities.ModelDelta) {}) })
}

const (
	rateLimited  = activities.ModelRateLimited
	unavailable  = activities.ModelUnavailable
	unauthorized = activities.ModelUnauthorized
	invalid      = activities.ModelInvalid
)

func TestStatuses(t *testing.T) {
	object := func(message, kind, code string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%q}}`, message, kind, code)
	}
	tests := []struct {
		name   string
		status int
		body   string
		want   activities.ModelErrorKind
		says   string
	}{
		{"wrong key", 401, object("Incorrect API key provided: sk-abc***.", "invalid_request_error", "invalid_api_key"), unauthorized, "Incorrect API key provided"},
		{"no money", 402, `{"error":{"message":"Insufficient Balance","code":402}}`, unauthorized, "Insufficient Balance"},
		{"not allowed", 403, object("Country not supported", "request_forbidden", ""), unauthorized, "Country not supported"},
		{"bad request", 400, object("This model's maximum context length is 8192 tokens.", "invalid_request_error", "context_length_exceeded"), invalid, "maximum context length"},
		{"unknown model", 404, object("The model `gpt-9` does not exist", "invalid_request_error", "model_not_found"), invalid, "gpt-9"},
		{"wrong path", 404, "<html><body>404 page not found</body></html>", invalid, `is the base URL right?`},
		{"wrong method", 405, "", invalid, "Method Not Allowed"},
		{"too large", 413, "Payload Too Large", invalid, "Payload Too Large"},
		{"unprocessable", 422, `{"detail":[{"loc":["body","model"],"msg":"field required"}]}`, invalid, "field required"},
		{"timeout", 408, "", unavailable, "Request Timeout"},
		{"conflict", 409, object("try again", "conflict", ""), unavailable, "try again"},
		{"too early", 425, "", unavailable, "Too Early"},
		{"rate limit", 429, object("Rate limit reached for gpt-test", "requests", "rate_limit_exceeded"), rateLimited, "Rate limit reached"},
		{"rate limit without a body", 429, "", rateLimited, "Too Many Requests"},
		{"no quota", 429, object("You exceeded your current quota", "insufficient_quota", "insufficient_quota"), unauthorized, "current quota"},
		{"no billing", 429, object("Your account is not active", "billing_not_active", "billing_not_active"), unauthorized, "not active"},
		{"server error", 500, object("The server had an error", "server_error", ""), unavailable, "The server had an error"},
		{"bad gateway", 502, "<html>\n<head><title>502 Bad Gateway</title></head></html>", unavailable, "Bad Gateway (text/html, begins with \"<html>"},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, unavailable, "Overloaded"},
		{"error as text", 400, `{"error":"model is required"}`, invalid, "model is required"},
		{"error in a list", 400, `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`, invalid, "API key not valid"},
		{"vLLM", 400, `{"object":"error","message":"max_tokens is too large","type":"BadRequestError","param":null,"code":400}`, invalid, "max_tokens is too large"},
		{"FastAPI", 404, `{"detail":"Not Found"}`, invalid, "Not Found"},
		{"JSON of another kind", 500, `{"oops":true}`, unavailable, "Internal Server Error"},
		{"null", 500, `{"error":null}`, unavailable, "Internal Server Error"},
		{"an unusual status", 462, `{}`, invalid, "no reason given"},
		{"not modified", 304, "", invalid, "redirects"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, stream func(activities.ModelDelta)) {
				requests := 0
				model := newModel(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					requests++
					if strings.HasPrefix(test.body, "{") || strings.HasPrefix(test.body, "[") {
						w.Header().Set("Content-Type", "application/json")
					}
					w.WriteHeader(test.status)
					io.WriteString(w, test.body)
				}))
				_, err := model.Generate(t.Context(), hello(), stream)
				checkError(t, err, activities.ModelError{Kind: test.want, Status: test.status}, test.says)
				if requests != 1 {
					t.Errorf("the server was asked %d times", requests)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name   string
		header http.Header
		want   time.Duration
	}{
		{"none", http.Header{}, 0},
		{"seconds", http.Header{"Retry-After": {"20"}}, 20 * s},
		{"parts of a second", http.Header{"Retry-After": {"1.5"}}, 1500 * time.Millisecond},
		{"milliseconds first", http.Header{"Retry-After": {"20"}, "Retry-After-Ms": {"250"}}, 250 * time.Millisecond},
		{"bad milliseconds", http.Header{"Retry-After": {"20"}, "Retry-After-Ms": {"soon"}}, 20 * s},
		{"zero", http.Header{"Retry-After": {"0"}}, 0},
		{"negative", http.Header{"Retry-After": {"-5"}}, 0},
		{"words", http.Header{"Retry-After": {"later"}}, 0},
		{"not a number", http.Header{"Retry-After": {"NaN"}}, 0},
		{"infinite", http.Header{"Retry-After": {"Inf"}}, openai.MaxRetryAfter},
		{"too large for a number", http.Header{"Retry-After": {"1e999"}}, openai.MaxRetryAfter},
		{"a year", http.Header{"Retry-After": {"31536000"}}, openai.MaxRetryAfter},
		{"a date that is past", http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:00 GMT"}}, 0},
		{"a date far off", http.Header{"Retry-After": {"Wed, 21 Oct 2215 07:28:00 GMT"}}, openai.MaxRetryAfter},
	}
	answer := func(status int, header http.Header) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for name := range header {
				w.Header().Set(name, header.Get(name))
			}
			w.WriteHeader(status)
		})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, stream func(activities.ModelDelta)) {
				_, err := newModel(t, answer(429, test.header)).Generate(t.Context(), hello(), stream)
				checkError(t, err, activities.ModelError{Kind: rateLimited, Status: 429, RetryAfter: test.want}, "")
			})
		})
	}
	t.Run("a date", func(t *testing.T) {
		at := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
		_, err := newModel(t, answer(503, http.Header{"Retry-After": {at}})).Generate(t.Context(), hello(), nil)
		var got *activities.ModelError
		if !errors.As(err, &got) || got.Kind != unavailable || got.RetryAfter < 60*s || got.RetryAfter > 90*s {
			t.Errorf("error %+v, want a wait of about 90 s", got)
		}
	})
	t.Run("not worth waiting", func(t *testing.T) {
		_, err := newModel(t, answer(401, http.Header{"Retry-After": {"9"}})).Generate(t.Context(), hello(), nil)
		checkError(t, err, activities.ModelError{Kind: unauthorized, Status: 401}, "")
	})
}

// TestKeyIsRedacted: a server that repeats the key does not get it into an error.
func TestKeyIsRedacted(t *testing.T) {
	const key = "sk-repeat-me-0123456789"
	long := strings.Repeat("x", 1015) + key
	tests := map[string]http.HandlerFunc{
		"in a message": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			fmt.Fprintf(w, `{"error":{"message":"Bad key %s!","code":"%s"}}`, key, key)
		},
		"in a page": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			fmt.Fprint(w, r.Header.Get("Authorization"))
		},
		"in a success that is none": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.Header.Get("Authorization"))
		},
		"across the cut": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"error":"%s"}`, long)
		},
		"across the end of an excerpt": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Repeat("x", 80-len("sk-repeat-me"))+key)
		},
		"across the end of an excerpt of an error": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(502)
			fmt.Fprint(w, strings.Repeat("x", 80-len("sk-repeat-me"))+key)
		},
		"in a page for a stream": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>"+key)
		},
		"in a stream": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"error\":{\"unusual\":%q}}\n\n", key)
		},
		"in a broken answer": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprintf(conn, "%s\r\n\r\n", key)
			conn.Close()
		},
	}
	for name, handler := range tests {
		t.Run(name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, stream func(activities.ModelDelta)) {
				model := newModelWith(t, handler, openai.Config{APIKey: openai.Key(key)})
				_, err := model.Generate(t.Context(), hello(), stream)
				if err == nil {
					t.Fatal("no error")
				}
				for cause := err; cause != nil; cause = errors.Unwrap(cause) {
					if strings.Contains(fmt.Sprintf("%v %+v %#v", cause, cause, cause), "repeat-me") {
						t.Errorf("the key is in %v", cause)
					}
				}
			})
		})
	}
}

// TestShortKeyIsNoSecret: the word that stands in for a key stays in messages.
func TestShortKeyIsNoSecret(t *testing.T) {
	model := newModelWith(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(404)
		io.WriteString(w, `{"error":"ollama has no such model"}`)
	}), openai.Config{APIKey: openai.Key("ollama")})
	_, err := model.Generate(t.Context(), hello(), nil)
	checkError(t, err, activities.ModelError{Kind: invalid, Status: 404}, "ollama has no such model")
}

func TestMessageIsBounded(t *testing.T) {
	model := newModel(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"error":%q}`, strings.Repeat("é\n", 1<<16))
	}))
	_, err := model.Generate(t.Context(), hello(), nil)
	var got *activities.ModelError
	if !errors.As(err, &got) || len(got.Message) > 1100 || !strings.HasSuffix(got.Message, "…") || strings.ContainsAny(got.Message, "\n\uFFFD") {
		t.Errorf("message of %d bytes: %.100q", len(got.Message), got.Message)
	}
}

// TestRedirects: neither the conversation nor the key follows a redirect.
func TestRedirects(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			bothWays(t, func(t *testing.T, stream func(activities.ModelDelta)) {
				model := newModelWith(t, http.RedirectHandler(elsewhere.URL+"/v1?token=secret", status), openai.Config{
					APIKey: openai.Key("sk-test-0123456789"),
					HTTPClient: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
						return nil
					}},
				})
				_, err := model.Generate(t.Context(), hello(), stream)
				checkError(t, err, activities.ModelError{Kind: invalid, Status: status}, "the server redirects to "+elsewhere.URL+", and no redirect is followed")
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("error %v shows the redirect's query", err)
				}
			})
		})
	}
}

func TestNetworkErrors(t *testing.T) {
	const base = "http://127.0.0.1:1" // no system gives this port to whoever asks for any
	bothWays(t, func(t *testing.T, stream func(activities.ModelDelta)) {
		model, err := openai.New(openai.Config{BaseURL: base})
		if err != nil {
			t.Fatal(err)
		}
		_, err = model.Generate(t.Context(), hello(), stream)
		checkError(t, err, activities.ModelError{Kind: unavailable, Err: syscall.ECONNREFUSED}, "talking to "+base+" failed: ")
	})
	bothWays(t, func(t *testing.T, stream func(activities.ModelDelta)) {
		model := newModel(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		_, err := model.Generate(t.Context(), hello(), stream)
		checkError(t, err, activities.ModelError{Kind: unavailable, Err: io.EOF}, "EOF")
	})
}
