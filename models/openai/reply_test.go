package openai_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/openai"
	"github.com/heddle-dev/heddle/signals/contract"
)

// answer is a server that always gives the same answer.
func answer(contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	})
}

// events makes an event stream of the data of its events.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		fmt.Fprintf(&b, "data: %s\n\n", d)
	}
	return b.String()
}

func delta(fields string) string {
	return `{"model":"m-1","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}`
}

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const done = "[DONE]"

// TestReplies: replies of OpenAI and of servers that take liberties.
func TestReplies(t *testing.T) {
	call := func(name, input string) activities.ModelCall { return activities.ModelCall{Name: name, Input: input} }
	tests := []struct {
		name string
		// whole is the message and the finish reason of one document; stream is an
		// event stream.
		whole, stream string
		want          activities.ModelResponse
	}{
		{
			name: "length", whole: `{"content":"Once upon"}, "finish_reason":"length"`,
			stream: events(delta(`"content":"Once upon"`), finish("length"), done),
			want:   activities.ModelResponse{Text: "Once upon", Stop: activities.StopLength},
		},
		{
			name: "a call that was cut off", whole: `{"content":null,"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{\"x\":"}}]}, "finish_reason":"length"`,
			stream: events(delta(`"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":"}}]`), finish("length"), done),
			want:   activities.ModelResponse{Calls: []activities.ModelCall{call("a", `{"x":`)}, Stop: activities.StopLength},
		},
		{
			name: "filter", whole: `{"content":"Well,"}, "finish_reason":"content_filter"`,
			stream: events(delta(`"content":"Well,"`), finish("content_filter"), done),
			want:   activities.ModelResponse{Text: "Well,", Stop: activities.StopFilter},
		},
		{
			name: "refusal", whole: `{"content":null,"refusal":"I can't help with that."}, "finish_reason":"stop"`,
			stream: events(delta(`"refusal":"I can't "`), delta(`"refusal":"help with that."`), finish("stop"), done),
			want:   activities.ModelResponse{Text: "I can't help with that.", Stop: activities.StopFilter},
		},
		{
			name: "reasoning_content", whole: `{"content":"Yes.","reasoning_content":"Hm. So."}, "finish_reason":"stop"`,
			stream: events(delta(`"reasoning_content":"Hm. ","content":null`), delta(`"reasoning_content":"So."`), delta(`"content":"Yes."`), finish("stop"), done),
			want:   activities.ModelResponse{Text: "Yes.", Reasoning: "Hm. So.", Stop: activities.StopEnd},
		},
		{
			name: "reasoning", whole: `{"content":"Yes.","reasoning":"Hm."}, "finish_reason":"stop"`,
			stream: events(delta(`"reasoning":"Hm."`), delta(`"content":"Yes.","reasoning":null`), finish("stop"), done),
			want:   activities.ModelResponse{Text: "Yes.", Reasoning: "Hm.", Stop: activities.StopEnd},
		},
		{
			name: "reasoning twice", whole: `{"content":"Yes.","reasoning":"Hm.","reasoning_content":"Hm."}, "finish_reason":"stop"`,
			stream: events(delta(`"reasoning":"Hm.","reasoning_content":"Hm."`), delta(`"content":"Yes."`), finish("stop"), done),
			want:   activities.ModelResponse{Text: "Yes.", Reasoning: "Hm.", Stop: activities.StopEnd},
		},
		{
			name: "reasoning that is not words", whole: `{"content":"Yes.","reasoning":{"effort":"low"}}, "finish_reason":"stop"`,
			stream: events(delta(`"content":"Yes.","reasoning":{"effort":"low"}`), finish("stop"), done),
			want:   activities.ModelResponse{Text: "Yes.", Stop: activities.StopEnd},
		},
		{
			name: "stop beside calls", whole: `{"content":"","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}}]}, "finish_reason":"stop"`,
			stream: events(delta(`"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}}]`), finish("stop"), done),
			want:   activities.ModelResponse{Calls: []activities.ModelCall{call("a", `{}`)}, Stop: activities.StopCalls},
		},
		{
			name: "tool_calls without calls", whole: `{"content":"Hi.","tool_calls":[]}, "finish_reason":"tool_calls"`,
			stream: events(delta(`"content":"Hi."`), finish("tool_calls"), done),
			want:   activities.ModelResponse{Text: "Hi.", Stop: activities.StopEnd},
		},
		{
			name: "another reason", whole: `{"content":"Hi.","tool_calls":null}, "finish_reason":"eos"`,
			stream: events(delta(`"content":"Hi.","tool_calls":null`), finish("eos"), done),
			want:   activities.ModelResponse{Text: "Hi.", Stop: activities.StopEnd},
		},
		{
			name: "no reason", whole: `{"content":"Hi."}`,
			stream: events(delta(`"content":"Hi."`), done),
			want:   activities.ModelResponse{Text: "Hi.", Stop: activities.StopEnd},
		},
		{
			name: "arguments as an object", whole: `{"tool_calls":[{"function":{"name":"a","arguments":{"n": 12345678901234567890}}}]}, "finish_reason":"tool_calls"`,
			stream: events(delta(`"tool_calls":[{"index":0,"function":{"name":"a","arguments":{"n": 12345678901234567890}}}]`), finish("tool_calls"), done),
			want:   activities.ModelResponse{Calls: []activities.ModelCall{call("a", `{"n": 12345678901234567890}`)}, Stop: activities.StopCalls},
		},
		{
			name: "no arguments", whole: `{"tool_calls":[{"function":{"name":"a"}},{"function":{"name":"b","arguments":null}},{"function":{"name":"c","arguments":""}}]}, "finish_reason":"tool_calls"`,
			stream: events(delta(`"tool_calls":[{"index":0,"function":{"name":"a"}},{"index":1,"function":{"name":"b","arguments":null}},{"index":2,"function":{"name":"c","arguments":""}}]`), finish("tool_calls"), done),
			want:   activities.ModelResponse{Calls: []activities.ModelCall{call("a", `{}`), call("b", `{}`), call("c", `{}`)}, Stop: activities.StopCalls},
		},
		{
			name: "calls in another order", stream: events(
				delta(`"tool_calls":[{"index":1,"id":"2","function":{"name":"b","arguments":"{"}}]`),
				delta(`"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}]`),
				delta(`"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":":1}"}}]`), finish("tool_calls"), done),
			want: activities.ModelResponse{Calls: []activities.ModelCall{call("a", `{"x":1}`), call("b", `{}`)}, Stop: activities.StopCalls},
		},
		{
			name: "the same index for all", stream: events(
				delta(`"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}]`),
				delta(`"tool_calls":[{"index":0,"id":"2","function":{"name":"a","arguments":"{\"x\":"}}]`),
				delta(`"tool_calls":[{"index":0,"id":"2","function":{"arguments":"2}"}}]`), finish("tool_calls"), done),
			want: activities.ModelResponse{Calls: []activities.ModelCall{call("a", `{"x":1}`), call("a", `{"x":2}`)}, Stop: activities.StopCalls},
		},
		{
			name: "no index", stream: events(
				delta(`"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{"}},{"function":{"arguments":"}"}}]`),
				delta(`"tool_calls":[{"function":{"name":"b","arguments":"{}"}}]`), finish("tool_calls"), done),
			want: activities.ModelResponse{Calls: []activities.ModelCall{call("a", `{}`), call("b", `{}`)}, Stop: activities.StopCalls},
		},
		{
			name: "the name in each piece", stream: events(
				delta(`"tool_calls":[{"index":0,"id":"1","function":{"name":"a_b","arguments":"{"}}]`),
				delta(`"tool_calls":[{"index":0,"id":"1","function":{"name":"a_b","arguments":"}"}}]`), finish("tool_calls"), done),
			want: activities.ModelResponse{Calls: []activities.ModelCall{call("a_b", `{}`)}, Stop: activities.StopCalls},
		},
		{
			name: "the name in pieces", stream: events(
				delta(`"tool_calls":[{"index":0,"id":"1","function":{"name":"a_","arguments":""}}]`),
				delta(`"tool_calls":[{"index":0,"function":{"name":"b","arguments":"{}"}}]`), finish("tool_calls"), done),
			want: activities.ModelResponse{Calls: []activities.ModelCall{call("a_b", `{}`)}, Stop: activities.StopCalls},
		},
		{
			name: "several choices", stream: events(
				`{"choices":[{"index":1,"delta":{"content":"Yes."}},{"index":0,"delta":{"content":"No."}}]}`,
				`{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`,
				`{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`, done),
			want: activities.ModelResponse{Text: "Yes.", Stop: activities.StopEnd},
		},
		{
			name: "comments and unknown fields", stream: ": processing\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nid: 7\r\nretry: 5\r\n" +
				"data: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"Hi.\",\"new\":{}}}]}\r\n\r\n" + events(finish("stop")),
			want: activities.ModelResponse{Text: "Hi.", Stop: activities.StopEnd},
		},
		{
			name: "an error that is null", stream: events(`{"error":null,"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}`, done),
			want: activities.ModelResponse{Text: "Hi.", Stop: activities.StopEnd},
		},
		{
			name: "usage in each event", stream: events(
				`{"choices":[{"delta":{"content":"Hi."}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
				`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, `{"choices":[],"usage":null}`, done),
			want: activities.ModelResponse{Text: "Hi.", Stop: activities.StopEnd, Usage: contract.Usage{InputTokens: 3, OutputTokens: 2}},
		},
		{
			name: "negative usage", stream: events(`{"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":-3,"completion_tokens":-1}}`, done),
			want: activities.ModelResponse{Text: "Hi.", Stop: activities.StopEnd},
		},
	}
	for _, test := range tests {
		check := func(t *testing.T, handler http.Handler, stream func(activities.ModelDelta)) {
			got, err := newModel(t, handler).Generate(t.Context(), hello(), stream)
			if err != nil {
				t.Fatal(err)
			}
			got.Model = ""
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the reply differs (-want +got):\n%s", diff)
			}
		}
		if test.whole != "" {
			t.Run(test.name+", whole", func(t *testing.T) {
				check(t, answer("application/json", `{"choices":[{"index":1,"message":`+test.whole+`}]}`), nil)
			})
		}
		t.Run(test.name+", streamed", func(t *testing.T) {
			var text, reasoning string
			check(t, answer("text/event-stream", test.stream), func(d activities.ModelDelta) {
				text += d.Text
				reasoning += d.Reasoning
			})
			if text != test.want.Text || reasoning != test.want.Reasoning {
				t.Errorf("streamed %q and %q", text, reasoning)
			}
		})
	}
}

// TestServerDoesNotStream: a server that answers a request for a stream with one
// document is understood, and the callback is told once.
func TestServerDoesNotStream(t *testing.T) {
	model := newModel(t, answer("application/json; charset=utf-8", `{"model":"m-2","choices":[{"message":{"content":"All at once."},"finish_reason":"stop"}]}`))
	var got []string
	resp, err := model.Generate(t.Context(), hello(), func(d activities.ModelDelta) { got = append(got, d.Text) })
	if err != nil || resp.Text != "All at once." || resp.Model != "m-2" || len(got) != 1 || got[0] != resp.Text {
		t.Errorf("reply %+v, %v; streamed %q", resp, err, got)
	}
}

// TestBadReplies: what is no reply is an error, and most often worth another attempt.
func TestBadReplies(t *testing.T) {
	const page = "<!DOCTYPE html>\n<html><body>Please log in</body></html>"
	document := func(message, reason string) string {
		return `{"choices":[{"message":` + message + `,"finish_reason":"` + reason + `"}]}`
	}
	tests := []struct {
		name, contentType, body string
		streamed                bool
		want                    activities.ModelErrorKind
		says                    string
	}{
		{"nothing", "application/json", "", false, unavailable, "(application/json, empty)"},
		{"no JSON", "text/plain", "I am a teapot", false, unavailable, `(text/plain, begins with "I am a teapot"; is the base URL right?)`},
		{"a page", "text/html; charset=utf-8", page, false, unavailable, "text/html, begins with"},
		{"a page for a stream", "text/html", page, true, unavailable, "text/html, begins with"},
		{"half of a document", "application/json", document(`{"content":"Hi."}`, "stop")[:40], false, unavailable, "unexpected end of JSON input"},
		{"null", "application/json", "null", false, unavailable, "the answer holds no choices"},
		{"a list", "application/json", "[]", false, unavailable, "cannot unmarshal array"},
		{"choices of another kind", "application/json", `{"choices":{}}`, false, unavailable, "cannot unmarshal object"},
		{"no choices", "application/json", `{"choices":[],"usage":{"prompt_tokens":1}}`, false, unavailable, "the answer holds no choices"},
		{"no message", "application/json", `{"choices":[{}]}`, false, unavailable, "the reply is empty"},
		{"content of another kind", "application/json", document(`{"content":[{"type":"text"}]}`, "stop"), false, unavailable, "cannot unmarshal array"},
		{"empty", "application/json", document(`{"content":""}`, "stop"), false, unavailable, "the reply is empty: no words and no tool calls"},
		{"blank", "application/json", document(`{"content":" \n"}`, "stop"), false, unavailable, "the reply is empty"},
		{"only reasoning", "application/json", document(`{"content":null,"reasoning_content":"Hm."}`, "stop"), false, unavailable, "the reply is empty"},
		{"empty at the limit", "application/json", document(`{"content":""}`, "length"), false, invalid, "raise the limit"},
		{"all withheld", "application/json", document(`{"content":null}`, "content_filter"), false, invalid, "withheld"},
		{"given up", "application/json", document(`{"content":"Hi."}`, "error"), false, unavailable, `finish_reason "error"`},
		{"a call without a name", "application/json", document(`{"tool_calls":[{"function":{"name":"a"}},{"id":"2","function":{"arguments":"{}"}}]}`, "tool_calls"), false, unavailable, "tool call 2 of 2 has no name"},
		{"a call that is null", "application/json", document(`{"content":"Hi.","tool_calls":[null]}`, "tool_calls"), false, unavailable, "tool call 1 of 1 has no name"},
		{"too many calls", "application/json", document(`{"tool_calls":[{}`+strings.Repeat(",{}", 1024)+`]}`, "stop"), false, unavailable, "more than 1024 tool calls"},
		{"an error with 200", "application/json", `{"error":{"message":"Provider returned error","code":502}}`, false, unavailable, "Provider returned error"},
		{"an error as text", "application/json", `{"error":"model is loading"}`, false, unavailable, "model is loading"},
		{"an error for a stream", "application/json", `{"error":{"message":"no such model","type":"invalid_request_error"}}`, true, invalid, "no such model"},

		{"an empty stream", "text/event-stream", "", true, unavailable, "the stream ended before the reply did"},
		{"only the end", "text/event-stream", events(done), true, unavailable, "the answer holds no choices"},
		{"a stream that says nothing", "text/event-stream", events(delta(`"content":""`), finish("stop"), done), true, unavailable, "the reply is empty"},
		{"a stream that is cut off", "text/event-stream", events(delta(`"content":"Hi."`)), true, unavailable, "the stream ended before the reply did"},
		{"a stream that is cut off in an event", "text/event-stream", events(delta(`"content":"Hi."`)) + "data: {\"choi", true, unavailable, "the stream ended before the reply did"},
		{"an event that is no JSON", "text/event-stream", events(delta(`"content":"Hi."`), "{"), true, unavailable, "an event of the stream is no chat completion"},
		{"an event of another kind", "text/event-stream", events("42"), true, unavailable, "an event of the stream is no chat completion"},
		{"a nameless call in a stream", "text/event-stream", events(delta(`"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]`), finish("tool_calls"), done), true, unavailable, "tool call 1 of 1 has no name"},
		{"an error in a stream", "text/event-stream", events(delta(`"content":"Hi."`), `{"error":{"message":"The server had an error","type":"server_error","code":null}}`), true, unavailable, "The server had an error"},
		{"a rate limit in a stream", "text/event-stream", events(`{"error":{"message":"slow down","type":"rate_limit_error"}}`), true, rateLimited, "slow down"},
		{"a quota in a stream", "text/event-stream", events(`{"error":{"message":"no money","code":"insufficient_quota"}}`), true, unauthorized, "no money"},
		{"a wrong key in a stream", "text/event-stream", events(`{"error":{"message":"bad key","code":"invalid_api_key","type":"invalid_request_error"}}`), true, unauthorized, "bad key"},
		{"too long in a stream", "text/event-stream", events(`{"error":{"message":"too long","code":"context_length_exceeded"}}`), true, invalid, "too long"},
		{"an error event", "text/event-stream", "event: error\ndata: {\"message\":\"overloaded\",\"type\":\"overloaded_error\"}\n\n", true, unavailable, "overloaded"},
		{"an error without words", "text/event-stream", events(`{"error":{"status":"BAD"}}`), true, unavailable, `reported an error in place of a reply: {"status":"BAD"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stream func(activities.ModelDelta)
			if test.streamed {
				stream = func(activities.ModelDelta) {}
			}
			resp, err := newModel(t, answer(test.contentType, test.body)).Generate(t.Context(), hello(), stream)
			if err == nil {
				t.Fatalf("no error but %+v", resp)
			}
			var got *activities.ModelError
			if !errors.As(err, &got) || got.Kind != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %q does not say %q", err, test.says)
			}
		})
	}
}

// TestStatusInBody: a status within an answer of 200 counts as one.
func TestStatusInBody(t *testing.T) {
	for code, want := range map[string]activities.ModelError{
		`429`:   {Kind: rateLimited, Status: 429},
		`"503"`: {Kind: unavailable, Status: 503},
		`401`:   {Kind: unauthorized, Status: 401},
		`400`:   {Kind: invalid, Status: 400},
		`1234`:  {Kind: unavailable},
	} {
		_, err := newModel(t, answer("application/json", `{"error":{"message":"oh","code":`+code+`}}`)).Generate(t.Context(), hello(), nil)
		checkError(t, err, want, "oh")
	}
}

// FuzzReply: whatever a server sends becomes a reply or a *ModelError.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{
		"", "null", `{"choices":[{"message":{"content":"Hi.","tool_calls":[{"function":{"name":"a","arguments":{}}}]}}]}`,
		events(delta(`"content":"Hi."`), delta(`"tool_calls":[{"index":0,"id":"1","function":{"name":"a","arguments":"{"}}]`), finish("stop"), done),
		events(`{"error":{"message":"x","code":500}}`), ": c\r\n\r\nevent: error\ndata: 1\n\n", "data: [DONE]\n\n", `[{"error":"x"}]`,
	} {
		f.Add(200, "application/json", seed)
		f.Add(200, "text/event-stream", seed)
		f.Add(500, "", seed)
	}
	f.Fuzz(func(t *testing.T, status int, contentType, body string) {
		client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body))}, nil
		})}
		model, err := openai.New(openai.Config{HTTPClient: client})
		if err != nil {
			t.Fatal(err)
		}
		for _, stream := range []func(activities.ModelDelta){nil, func(activities.ModelDelta) {}} {
			resp, err := model.Generate(t.Context(), hello(), stream)
			var failed *activities.ModelError
			switch {
			case errors.As(err, &failed):
				if failed.Kind == "" || failed.Message == "" || len(failed.Message) > 1100 {
					t.Errorf("error %+v", failed)
				}
			case err != nil:
				t.Errorf("error %T", err)
			case strings.TrimSpace(resp.Text) == "" && len(resp.Calls) == 0, resp.Stop == "", resp.Model == "":
				t.Errorf("reply %+v", resp)
			}
		}
	})
}
