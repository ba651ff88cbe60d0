package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/modeltest"
	"github.com/heddle-dev/heddle/models/openai"
)

func TestConformance(t *testing.T) {
	modeltest.Run(t, func(t *testing.T, script modeltest.Script) activities.Model {
		return newModel(t, vendor{script})
	})
}

// newModel returns a model that asks the handler.
func newModel(t *testing.T, handler http.Handler) *openai.Model {
	t.Helper()
	return newModelWith(t, handler, openai.Config{})
}

func newModelWith(t *testing.T, handler http.Handler, cfg openai.Config) *openai.Model {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	cfg.BaseURL = server.URL + "/v1"
	model, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// vendor answers as OpenAI does.
type vendor struct{ script modeltest.Script }

// wireRequest is what OpenAI reads of a request.
type wireRequest struct {
	Model               string           `json:"model"`
	Messages            []wireMessage    `json:"messages"`
	Tools               []map[string]any `json:"tools"`
	MaxTokens           int              `json:"max_tokens"`
	MaxCompletionTokens int              `json:"max_completion_tokens"`
	Stream              bool             `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type wireMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []wireCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

type wireCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (v vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req wireRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
		http.Error(w, "not a request for a chat completion", http.StatusNotFound)
		return
	}
	if problem := unfit(req); problem != "" {
		refuse(w, problem)
		return
	}
	spoken, result := 0, ""
	for _, m := range req.Messages {
		switch m.Role {
		case "assistant":
			spoken++
		case "tool":
			result = *m.Content
		}
	}
	if spoken >= len(v.script) || !strings.Contains(result, v.script[spoken].Result) {
		refuse(w, fmt.Sprintf("not foreseen: step %d after result %q", spoken, result))
		return
	}
	if req.Stream {
		v.stream(w, r, req, v.script[spoken])
		return
	}
	v.whole(w, r, req, v.script[spoken])
}

// unfit holds a request against the rules of the API.
func unfit(req wireRequest) string {
	open := map[string]bool{}
	for i, m := range req.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Sprintf("messages[%d]: an assistant message with tool_calls must be followed by tool messages for each tool_call_id", i)
		}
		if m.Content == nil && len(m.ToolCalls) == 0 {
			return fmt.Sprintf("messages[%d]: content is required", i)
		}
		for _, c := range m.ToolCalls {
			if c.Type != "function" || !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Sprintf("messages[%d]: %+v is no function call", i, c)
			}
			open[c.ID] = true
		}
		if m.Role == "tool" && !open[m.ToolCallID] {
			return fmt.Sprintf("messages[%d]: no call has the id %q", i, m.ToolCallID)
		}
		delete(open, m.ToolCallID)
	}
	if req.Messages[0].Role != "system" || len(req.Tools) != 2 || req.Model != "test-model" || req.Stream != req.StreamOptions.IncludeUsage {
		return "system prompt, tools, model or stream options did not arrive"
	}
	return ""
}

func refuse(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}})
}

func (v vendor) whole(w http.ResponseWriter, r *http.Request, req wireRequest, reply modeltest.Reply) {
	if reply.Stall {
		<-r.Context().Done()
		return
	}
	message := map[string]any{"role": "assistant", "content": nil, "refusal": nil}
	if reply.Text != "" {
		message["content"] = reply.Text
	}
	if reply.Reasoning != "" {
		message["reasoning_content"] = reply.Reasoning
	}
	var calls []any
	for i, c := range reply.Calls {
		calls = append(calls, map[string]any{"id": fmt.Sprint("call_", i), "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Input}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": req.Model + "-2026",
		"choices": []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": finishReason(reply)}},
		"usage":   wireUsage(reply),
	})
}

func (v vendor) stream(w http.ResponseWriter, r *http.Request, req wireRequest, reply modeltest.Reply) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	send := func(choices []any, usage any) {
		data, _ := json.Marshal(map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": req.Model + "-2026",
			"choices": choices, "usage": usage, "obfuscation": "x1y2",
		})
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	delta := func(fields map[string]any) {
		send([]any{map[string]any{"index": 0, "delta": fields, "logprobs": nil, "finish_reason": nil}}, nil)
	}
	delta(map[string]any{"role": "assistant", "content": "", "refusal": nil})
	for _, piece := range pieces(reply.Reasoning) {
		delta(map[string]any{"reasoning_content": piece})
	}
	for _, piece := range pieces(reply.Text) {
		delta(map[string]any{"content": piece})
		if reply.Stall {
			<-r.Context().Done()
			return
		}
	}
	for i, c := range reply.Calls {
		delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": fmt.Sprint("call_", i), "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}}})
		for _, piece := range pieces(c.Input) {
			delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": piece}}}})
		}
	}
	send([]any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finishReason(reply)}}, nil)
	send([]any{}, wireUsage(reply))
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func pieces(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(s, " ")
}

func finishReason(reply modeltest.Reply) string {
	if len(reply.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func wireUsage(reply modeltest.Reply) any {
	return map[string]any{
		"prompt_tokens":         reply.Usage.InputTokens,
		"completion_tokens":     reply.Usage.OutputTokens,
		"total_tokens":          reply.Usage.InputTokens + reply.Usage.OutputTokens,
		"prompt_tokens_details": map[string]any{"cached_tokens": 0},
	}
}
