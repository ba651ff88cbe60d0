package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/openai"
	"github.com/heddle-dev/heddle/signals/contract"
)

// recorder keeps the last request and answers "Yes."
type recorder struct {
	header http.Header
	body   []byte
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.header = req.Header
	r.body, _ = io.ReadAll(req.Body)
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"choices":[{"message":{"content":"Yes."}}]}`)
}

func hello() activities.ModelRequest {
	return activities.ModelRequest{Model: "m", Messages: []contract.Message{{Role: contract.RoleUser, Text: "Hello?"}}}
}

func TestRequest(t *testing.T) {
	var got recorder
	model := newModelWith(t, &got, openai.Config{APIKey: openai.Key("sk-test-0123456789")})
	_, err := model.Generate(t.Context(), activities.ModelRequest{
		Model:  "gpt-test",
		System: "Be <brief>.",
		Messages: []contract.Message{
			{Role: contract.RoleUser, Text: "Hello?", Turn: "t1", User: "ada"},
			{Role: contract.RoleUser, Text: "", Turn: "t2"},
			{Role: contract.RoleAssistant, Text: "Looking.", Calls: []contract.Call{
				{ID: "t2-s1-c1", Tool: "orders__search", Input: json.RawMessage(`{"b": 1, "a": 12345678901234567890}`)},
				{ID: "t2-s1-c2", Tool: "orders__list"},
			}},
			{Role: contract.RoleTool, Call: "t2-s1-c1", Tool: "orders__search", Text: `{"orders":[]}`},
			{Role: contract.RoleTool, Call: "t2-s1-c2", Tool: "orders__list", Text: `{"error":{"code":"timeout"}}`, Problem: &contract.Problem{Code: "timeout"}},
			{Role: contract.RoleAssistant, Calls: []contract.Call{{ID: "t2-s2-c1", Tool: "x", Input: json.RawMessage(`"not an object"`)}}},
			{Role: contract.RoleTool, Call: "t2-s2-c1", Tool: "x"},
			{Role: contract.RoleAssistant, Text: "None."},
		},
		Tools: []activities.ToolDefinition{
			{Name: "orders__search", Description: "Finds.", Input: json.RawMessage(`{"type":"object","properties":{"z":{"maximum":12345678901234567890},"a":{}}}`)},
			{Name: "orders__list"},
		},
		MaxOutputTokens: 50,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
		"model": "gpt-test",
		"max_tokens": 50,
		"messages": [
			{"role": "system", "content": "Be <brief>."},
			{"role": "user", "content": "Hello?"},
			{"role": "user", "content": ""},
			{"role": "assistant", "content": "Looking.", "tool_calls": [
				{"id": "t2-s1-c1", "type": "function", "function": {"name": "orders__search", "arguments": "{\"b\": 1, \"a\": 12345678901234567890}"}},
				{"id": "t2-s1-c2", "type": "function", "function": {"name": "orders__list", "arguments": "{}"}}
			]},
			{"role": "tool", "tool_call_id": "t2-s1-c1", "content": "{\"orders\":[]}"},
			{"role": "tool", "tool_call_id": "t2-s1-c2", "content": "{\"error\":{\"code\":\"timeout\"}}"},
			{"role": "assistant", "tool_calls": [{"id": "t2-s2-c1", "type": "function", "function": {"name": "x", "arguments": "\"not an object\""}}]},
			{"role": "tool", "tool_call_id": "t2-s2-c1", "content": ""},
			{"role": "assistant", "content": "None."}
		],
		"tools": [
			{"type": "function", "function": {"name": "orders__search", "description": "Finds.", "parameters": {"type":"object","properties":{"z":{"maximum":12345678901234567890},"a":{}}}}},
			{"type": "function", "function": {"name": "orders__list"}}
		]
	}`
	if diff := cmp.Diff(decode(t, want), decode(t, string(got.body))); diff != "" {
		t.Errorf("the request differs (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(got.body), `"parameters":{"type":"object","properties":{"z":{"maximum":12345678901234567890},"a":{}}}`) {
		t.Error("the schema did not keep its order and numbers")
	}
	if auth := got.header.Get("Authorization"); auth != "Bearer sk-test-0123456789" {
		t.Errorf("authorization %q", auth)
	}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestEnvironment: what the SDK would read from the environment does not count.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-from-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_ORG_ID", "org")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: yes")
	var got recorder
	if _, err := newModel(t, &got).Generate(t.Context(), hello(), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Authorization", "OpenAI-Organization", "X-Custom"} {
		if value := got.header.Get(name); value != "" {
			t.Errorf("header %s: %s", name, value)
		}
	}
}

func TestOutputLimit(t *testing.T) {
	tests := map[string]string{
		"https://api.openai.com/v1":             "max_completion_tokens",
		"https://EU.api.OpenAI.com/v1":          "max_completion_tokens",
		"https://us.openai.azure.com/openai/v1": "max_completion_tokens",
		"http://127.0.0.1:11434/v1":             "max_tokens",
		"https://notopenai.com/v1":              "max_tokens",
		"https://api.openai.com.example.org/v1": "max_tokens",
		"":                                      "max_completion_tokens",
	}
	for base, want := range tests {
		t.Run(base, func(t *testing.T) {
			var sent map[string]any
			client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
					return nil, err
				}
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"choices":[{"message":{"content":"Yes."}}]}`))}, nil
			})}
			model, err := openai.New(openai.Config{BaseURL: base, HTTPClient: client})
			if err != nil {
				t.Fatal(err)
			}
			req := hello()
			req.MaxOutputTokens = 7
			if _, err := model.Generate(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			if sent[want] != float64(7) || sent["max_tokens"] != nil && sent["max_completion_tokens"] != nil {
				t.Errorf("sent %v, want the limit as %s", sent, want)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestBadRequests(t *testing.T) {
	tests := []struct {
		name   string
		change func(*activities.ModelRequest)
		want   string
	}{
		{"no model", func(r *activities.ModelRequest) { r.Model = "" }, "model: is empty"},
		{"no messages", func(r *activities.ModelRequest) { r.Messages = nil }, "messages: there are none"},
		{"negative limit", func(r *activities.ModelRequest) { r.MaxOutputTokens = -1 }, "max output tokens: -1 is negative"},
		{"unknown role", func(r *activities.ModelRequest) { r.Messages[0].Role = "system" }, `messages[0]: role: "system" is unknown`},
		{"result without a call", func(r *activities.ModelRequest) { r.Messages[0].Role = contract.RoleTool }, "messages[0]: call: is empty"},
		{"input left outside", func(r *activities.ModelRequest) {
			r.Messages[0] = contract.Message{Role: contract.RoleAssistant, Calls: []contract.Call{{ID: "c", Tool: "t", Body: &contract.Ref{}}}}
		}, "messages[0]: calls[0]: input: is a reference"},
		{"tool without a name", func(r *activities.ModelRequest) { r.Tools = make([]activities.ToolDefinition, 1) }, "tools[0]: name: is empty"},
		{"schema that is no object", func(r *activities.ModelRequest) {
			r.Tools = []activities.ToolDefinition{{Name: "t", Input: json.RawMessage(`true`)}}
		}, "tools[0]: t: input: the schema is no JSON object"},
		{"schema that is null", func(r *activities.ModelRequest) {
			r.Tools = []activities.ToolDefinition{{Name: "t", Input: json.RawMessage(`null`)}}
		}, "tools[0]: t: input: the schema is no JSON object"},
		{"schema that is no JSON", func(r *activities.ModelRequest) {
			r.Tools = []activities.ToolDefinition{{Name: "t", Input: json.RawMessage(`{`)}}
		}, "tools[0]: t: input: the schema is no JSON object"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			asked := false
			model := newModel(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
			req := hello()
			test.change(&req)
			_, err := model.Generate(t.Context(), req, nil)
			checkError(t, err, activities.ModelError{Kind: activities.ModelInvalid}, test.want)
			if asked {
				t.Error("the server was asked")
			}
		})
	}
}
