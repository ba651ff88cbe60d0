package scripted

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

var _ activities.Model = (*Model)(nil)

// Model plays one script. It is safe for concurrent use and remembers nothing
// between calls.
type Model struct {
	// name stands for the script in errors.
	name   string
	script *script
}

// Generate implements [activities.Model]. A conversation that the script did not
// foresee is an invalid request: another attempt would find the same.
func (m *Model) Generate(ctx context.Context, req activities.ModelRequest, stream func(activities.ModelDelta)) (activities.ModelResponse, error) {
	if err := ctx.Err(); err != nil {
		return activities.ModelResponse{}, ended(err)
	}
	for i, message := range req.Messages {
		switch message.Role {
		case contract.RoleUser, contract.RoleAssistant, contract.RoleTool:
		default:
			return activities.ModelResponse{}, m.invalid(fmt.Errorf("messages[%d]: role: %q is unknown", i, message.Role))
		}
	}
	c := conversation{messages: req.Messages, tools: req.Tools}
	s, err := m.script.play(c)
	if err != nil {
		return activities.ModelResponse{}, m.invalid(err)
	}
	if s.Error != nil {
		return activities.ModelResponse{}, m.fail(ctx, s)
	}
	resp, err := s.say(c)
	if err != nil {
		return activities.ModelResponse{}, m.invalid(fmt.Errorf("line %d: %w", s.line, err))
	}
	resp.Model = cmp.Or(req.Model, "scripted")
	if err := send(ctx, resp, s.delay, stream); err != nil {
		return activities.ModelResponse{}, ended(err)
	}
	return resp, nil
}

// say fills the step's words and calls with what the conversation holds.
func (s step) say(c conversation) (activities.ModelResponse, error) {
	resp := activities.ModelResponse{
		Stop:  activities.StopEnd,
		Usage: contract.Usage{InputTokens: s.Usage.Input, OutputTokens: s.Usage.Output},
	}
	var err error
	if resp.Text, err = fill(s.Text, c.value); err != nil {
		return resp, fmt.Errorf("text: %w", err)
	}
	if resp.Reasoning, err = fill(s.Reasoning, c.value); err != nil {
		return resp, fmt.Errorf("reasoning: %w", err)
	}
	for i, call := range s.Calls {
		input, err := encode(call.Input, c.value)
		if err != nil {
			return resp, fmt.Errorf("calls[%d]: input: %w", i, err)
		}
		resp.Stop = activities.StopCalls
		resp.Calls = append(resp.Calls, activities.ModelCall{Name: activities.ToolName(call.Tool), Input: input})
	}
	if len(resp.Calls) == 0 && strings.TrimSpace(resp.Text) == "" {
		return resp, fmt.Errorf("text: %q comes out empty", s.Text)
	}
	return resp, nil
}

// send takes the time that a step takes, and streams it meanwhile: a word at
// once, and each next one after its share of the time.
func send(ctx context.Context, resp activities.ModelResponse, delay time.Duration, stream func(activities.ModelDelta)) error {
	var deltas []activities.ModelDelta
	if stream != nil {
		for _, word := range pieces(resp.Reasoning) {
			deltas = append(deltas, activities.ModelDelta{Reasoning: word})
		}
		for _, word := range pieces(resp.Text) {
			deltas = append(deltas, activities.ModelDelta{Text: word})
		}
	}
	if len(deltas) == 0 {
		return wait(ctx, delay)
	}
	for _, delta := range deltas {
		stream(delta)
		if err := wait(ctx, delay/time.Duration(len(deltas))); err != nil {
			return err
		}
	}
	return nil
}

// pieces are the words of a text, each with the space behind it.
func pieces(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(s, " ")
}

func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// fail fails as the step says.
func (m *Model) fail(ctx context.Context, s step) error {
	if err := wait(ctx, s.delay); err != nil {
		return ended(err)
	}
	return &activities.ModelError{
		Kind:       s.Error.Kind,
		Status:     s.Error.Status,
		Message:    cmp.Or(s.Error.Message, fmt.Sprintf("script %s says so (line %d)", m.name, s.line)),
		RetryAfter: s.Error.retryAfter,
	}
}

func (m *Model) invalid(err error) error {
	return &activities.ModelError{Kind: activities.ModelInvalid, Message: fmt.Sprintf("script %s: %v", m.name, err)}
}

func ended(err error) error {
	return &activities.ModelError{Kind: activities.ModelUnavailable, Message: "the call was ended: " + err.Error(), Err: err}
}
