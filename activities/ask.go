package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Asked is what a call asks a person before it can go on.
type Asked struct {
	From    string          `json:"from"`
	About   string          `json:"about,omitempty"`
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"schema,omitempty"`
	URL     string          `json:"url,omitempty"`
	// Expires is how long an answer is worth having; 0: as long as an approval waits.
	Expires time.Duration `json:"expires,omitempty"`
	// TellDecline has the call made again also when the person declines.
	TellDecline bool `json:"tell_decline,omitempty"`
	// State refers to what comes back with the answer.
	State *contract.Ref `json:"state,omitempty"`
}

// AnswerInput is the answer to what a call has asked, for the call that is made with
// it.
type AnswerInput struct {
	// Question is the id of the question.
	Question string          `json:"question"`
	Declined bool            `json:"declined,omitempty"`
	Content  json.RawMessage `json:"content,omitempty"`
	State    *contract.Ref   `json:"state,omitempty"`
}

// asked makes of a call's question one that a thread can ask. One that it cannot is
// the fault of who asks.
func (a *Activities) asked(ctx context.Context, e *catalog.Elicitation) (*Asked, *catalog.Error) {
	asked := &Asked{
		From: e.From, About: e.About, Message: e.Message, Schema: e.Schema, URL: e.URL, Expires: max(e.Expires, 0), TellDecline: e.TellDecline,
	}
	if compact := new(bytes.Buffer); json.Compact(compact, e.Schema) == nil {
		asked.Schema = compact.Bytes()
	}
	question := contract.Question{From: e.From, About: e.About, Message: e.Message, Schema: asked.Schema, URL: e.URL}
	if err := question.Validate(); err != nil {
		return nil, &catalog.Error{
			Code: catalog.CodeToolFailed, Effect: catalog.EffectNone,
			Message: "the call asks a person, in a way that nobody can be asked: " + err.Error(),
		}
	}
	if len(e.State) == 0 {
		return asked, nil
	}
	ref, err := a.Blobs.Put(ctx, e.State)
	if err != nil {
		return nil, &catalog.Error{
			Code: catalog.CodeSourceUnavailable, Effect: catalog.EffectNone, Retryable: true,
			Message: fmt.Sprintf("the call asks a person, and the state of its question cannot be stored: %v", err),
		}
	}
	asked.State = &ref
	return asked, nil
}

// answer is what a call that is made with an answer gets.
func (a *Activities) answer(ctx context.Context, in *AnswerInput) (*catalog.Answer, error) {
	if in == nil {
		return nil, nil
	}
	answer := &catalog.Answer{Declined: in.Declined, Content: in.Content}
	if in.State == nil {
		return answer, nil
	}
	state, err := a.Blobs.Get(ctx, *in.State)
	if err != nil {
		return nil, unavailable(ErrTypeNotSent, "read the state of the question that was answered", err)
	}
	answer.State = state
	return answer, nil
}
