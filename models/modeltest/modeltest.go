package modeltest

import (
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Script is how a vendor answers: with Script[n] to a conversation in which the
// model has spoken n times. A vendor keeps no count of its own, so that several
// conversations can be held at once.
type Script []Reply

// Reply is one answer of a vendor.
type Reply struct {
	// Result, unless empty, stands in the newest tool result of the request. The
	// vendor refuses a request in which it does not.
	Result string

	Text      string
	Reasoning string
	Calls     []activities.ModelCall
	Usage     contract.Usage

	// Stall makes the vendor begin the reply, with at least one piece of its
	// text where it is streamed, and never end it.
	Stall bool
}

// The tools that every request of the suite offers, by the names that the model
// knows them under.
const (
	Search = "orders__search"
	Refund = "orders__refund"
)

// Run runs the suite. NewModel is called once in each of its tests; what it
// starts ends with that test.
func Run(t *testing.T, newModel func(t *testing.T, script Script) activities.Model) {
	tests := []struct {
		name string
		run  func(t *testing.T, s suite)
	}{
		{"words", words},
		{"calls", calls},
		{"words beside calls", wordsBesideCalls},
		{"results come back", resultsComeBack},
		{"unusual conversations", unusualConversations},
		{"cancelled within a stream", cancelledWithinStream},
		{"cancelled within a whole reply", cancelledWithinReply},
		{"cancelled before", cancelledBefore},
		{"deadline", deadline},
		{"several at once", severalAtOnce},
		{"bad requests", badRequests},
		{"the request stays as it is", requestStays},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, suite{newModel}) })
	}
}

// suite makes the model of each test.
type suite struct {
	newModel func(t *testing.T, script Script) activities.Model
}

// request returns a request with the suite's tools and these messages.
func request(messages ...contract.Message) activities.ModelRequest {
	for i := range messages {
		messages[i].Index = i
		if messages[i].Turn == "" {
			messages[i].Turn = "t1"
		}
	}
	return activities.ModelRequest{
		Model:    "test-model",
		System:   "You handle orders.",
		Messages: messages,
		Tools: []activities.ToolDefinition{
			{Name: Search, Description: "Finds orders.", Input: []byte(`{"type":"object","properties":{"customer":{"type":"string"}},"required":["customer"]}`)},
			{Name: Refund, Description: "Refunds an order.", Input: []byte(`{"type":"object","properties":{"order":{"type":"string"}}}`)},
		},
	}
}

func user(text string) contract.Message {
	return contract.Message{Role: contract.RoleUser, Text: text}
}
