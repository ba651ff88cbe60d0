package heddle

import (
	"context"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/local"
)

// Elicitation is a question that a tool's function asks a person: a message, and
// either the JSON Schema of the answer, an object of plain fields, or a URL to visit.
type Elicitation = catalog.Elicitation

// Elicit asks the person in the thread on whose behalf a tool's function is called, and
// waits for the answer durably: for days, if need be, and over restarts of workers.
// So that it can, the function has to end. Elicit returns an error, which the function
// returns as its own before it has changed anything; once there is an answer the
// function is called again, from its start, and there Elicit returns the content.
//
//	content, err := heddle.Elicit(ctx, heddle.Elicitation{
//		Message: "Which of the two addresses?",
//		Schema:  json.RawMessage(`{"type":"object","properties":{"street":{"type":"string"}},"required":["street"]}`),
//	})
//	if err != nil {
//		return Out{}, err
//	}
//
// A function asks one question. A person who declines, or does not answer in time, ends
// the call, and the function is not called again.
func Elicit(ctx context.Context, question Elicitation) (content []byte, _ error) {
	call, _ := local.CallFrom(ctx)
	if call.Answer != nil {
		return call.Answer.Content, nil
	}
	question.TellDecline = false
	if question.From == "" {
		question.From = "the application"
	}
	return nil, &question
}
