package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// maxCalls bounds the tool calls of a reply. OpenAI allows 128.
const maxCalls = 1024

// payload is what a server sends: a whole reply, or one event of a stream. The
// SDK's types are not used for it, since they turn what does not fit into empty
// values, and so a malformed reply into another one.
type payload struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index int `json:"index"`
	// Message is the whole of a reply, and Delta a piece of it.
	Message      message `json:"message"`
	Delta        message `json:"delta"`
	FinishReason string  `json:"finish_reason"`
}

type message struct {
	Content          string `json:"content"`
	Refusal          string `json:"refusal"`
	ReasoningContent string `json:"reasoning_content"`
	// Reasoning is what newer compatible servers send in place of
	// reasoning_content, or beside it. Some send an object that is not for us.
	Reasoning json.RawMessage `json:"reasoning"`
	ToolCalls []toolCall      `json:"tool_calls"`
}

type toolCall struct {
	// Index tells the calls of a stream apart. Nil: the server left it out.
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
}

// arguments are a string with JSON in it. Some servers send the JSON itself.
type arguments string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *arguments) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(a))
	}
	if string(data) != "null" {
		*a = arguments(data)
	}
	return nil
}

func (m message) reasoning() string {
	var text string
	if m.ReasoningContent == "" && json.Unmarshal(m.Reasoning, &text) == nil {
		return text
	}
	return m.ReasoningContent
}

// reply gathers a reply from its payloads.
type reply struct {
	// stream, unless nil, is told of the pieces.
	stream func(activities.ModelDelta)
	// complete says that the server ended the reply, and not the connection.
	complete bool

	model           string
	text, reasoning strings.Builder
	refused         bool
	calls           []partialCall
	finish          string
	usage           usage
	// choice is the index of the choice that counts, once one was seen.
	choice *int
	size   int
}

type partialCall struct {
	index     int
	id, name  string
	arguments []byte
}

// add takes a payload in. Streamed tells a piece from a whole.
func (r *reply) add(p payload, streamed bool) error {
	if len(p.Error) > 0 && string(p.Error) != "null" {
		return reportedError(p.Error)
	}
	r.model = cmp.Or(r.model, p.Model)
	if p.Usage != nil {
		r.usage = *p.Usage
	}
	for _, c := range p.Choices {
		if r.choice == nil {
			r.choice = &c.Index
		}
		// Nobody asked for a second choice; a server that gives one all the same
		// must not mix it into the first.
		if c.Index != *r.choice {
			continue
		}
		m := c.Message
		if streamed {
			m = c.Delta
		}
		r.addMessage(m, streamed)
		if c.FinishReason != "" {
			r.finish, r.complete = c.FinishReason, true
		}
	}
	switch {
	case r.size > maxReply:
		return errTooLarge
	case len(r.calls) > maxCalls:
		return unavailable("the reply holds more than %d tool calls", maxCalls)
	default:
		return nil
	}
}

func (r *reply) addMessage(m message, streamed bool) {
	delta := activities.ModelDelta{Text: m.Content + m.Refusal, Reasoning: m.reasoning()}
	r.refused = r.refused || m.Refusal != ""
	r.text.WriteString(delta.Text)
	r.reasoning.WriteString(delta.Reasoning)
	r.size += len(delta.Text) + len(delta.Reasoning)
	for i, c := range m.ToolCalls {
		if !streamed {
			c.Index = &i
		}
		r.addCall(c)
	}
	if r.stream != nil && delta != (activities.ModelDelta{}) {
		r.stream(delta)
	}
}

// addCall takes a call, or a piece of one, in.
func (r *reply) addCall(c toolCall) {
	at := r.callOf(c)
	if at < 0 {
		at = len(r.calls)
		r.calls = append(r.calls, partialCall{index: at})
		if c.Index != nil {
			r.calls[at].index = *c.Index
		}
	}
	call := &r.calls[at]
	call.id = cmp.Or(call.id, c.ID)
	// Some servers repeat the name with each piece.
	if c.Function.Name != call.name {
		call.name += c.Function.Name
	}
	call.arguments = append(call.arguments, c.Function.Arguments...)
	r.size += len(c.Function.Name) + len(c.Function.Arguments)
}

// callOf finds the call that a piece continues: the newest with its index. An id
// of its own begins another, since some servers give the same index to all; so
// does a name where there is no index. -1: there is none.
func (r *reply) callOf(c toolCall) int {
	at := len(r.calls) - 1
	if c.Index == nil {
		if c.Function.Name != "" {
			return -1
		}
		return at
	}
	for at >= 0 && r.calls[at].index != *c.Index {
		at--
	}
	if at >= 0 && c.ID != "" && r.calls[at].id != "" && c.ID != r.calls[at].id {
		return -1
	}
	return at
}

// response is the reply as the caller sees it, or why there is none.
func (r *reply) response(req activities.ModelRequest) (activities.ModelResponse, error) {
	switch {
	case !r.complete:
		return activities.ModelResponse{}, unavailable("the stream ended before the reply did")
	case r.choice == nil:
		return activities.ModelResponse{}, unavailable("the answer holds no choices")
	case r.finish == "error" || r.finish == "abort":
		return activities.ModelResponse{}, unavailable("the server gave up within the reply (finish_reason %q)", r.finish)
	}
	calls, err := r.toolCalls()
	if err != nil {
		return activities.ModelResponse{}, err
	}
	resp := activities.ModelResponse{
		Text:      r.text.String(),
		Reasoning: r.reasoning.String(),
		Calls:     calls,
		Stop:      r.stop(),
		Usage: contract.Usage{
			InputTokens:  max(0, r.usage.PromptTokens),
			OutputTokens: max(0, r.usage.CompletionTokens),
		},
		Model: cmp.Or(r.model, req.Model),
	}
	if len(calls) == 0 && strings.TrimSpace(resp.Text) == "" {
		return activities.ModelResponse{}, emptyReply(resp.Stop)
	}
	return resp, nil
}

func (r *reply) toolCalls() ([]activities.ModelCall, error) {
	slices.SortStableFunc(r.calls, func(a, b partialCall) int { return cmp.Compare(a.index, b.index) })
	var calls []activities.ModelCall
	for i, c := range r.calls {
		if c.name == "" {
			return nil, unavailable("tool call %d of %d has no name", i+1, len(r.calls))
		}
		// Models leave the arguments out where a tool takes none.
		input := cmp.Or(string(c.arguments), "{}")
		calls = append(calls, activities.ModelCall{Name: c.name, Input: input})
	}
	return calls, nil
}

// stop maps the finish reason. Whether the model waits for calls is seen from
// the calls: servers say "stop" beside them and "tool_calls" without any.
func (r *reply) stop() activities.StopReason {
	switch {
	case r.refused || r.finish == "content_filter":
		return activities.StopFilter
	case r.finish == "length":
		return activities.StopLength
	case len(r.calls) > 0:
		return activities.StopCalls
	default:
		return activities.StopEnd
	}
}
