package mcp

import (
	"context"
	"encoding/json"

	"github.com/heddle-dev/heddle/catalog"
)

// Question is what a server asks the user in the middle of a call.
type Question struct {
	// Message is the server's own words.
	Message string
	// Schema is the JSON Schema of the answer, an object of plain values.
	Schema json.RawMessage
}

// Reply is the user's answer.
type Reply struct {
	// Action is accept, decline or cancel.
	Action string `json:"action"`
	// Content is the answer where the action is accept.
	Content json.RawMessage `json:"content,omitempty"`
}

// Answer answers a server's question while the call waits. An application that sets
// it in [Options] says that it can: servers are then told that they may ask.
// Members that the answer leaves out get the defaults of the question's schema.
type Answer func(ctx context.Context, q Question) (Reply, error)

// The methods by which a server asks.
const methodElicit = "elicitation/create"

// asked answers a request of the server.
func (l *link) asked(ctx context.Context, method string, params json.RawMessage) (any, *rpcError) {
	switch {
	case method == "ping":
		return map[string]any{}, nil
	case method == methodElicit && l.answer != nil:
		reply, err := l.reply(ctx, params)
		if err != nil {
			return nil, &rpcError{code: -32603, message: "the question cannot be answered"}
		}
		return reply, nil
	}
	return nil, &rpcError{code: rpcMethodNotFound, message: "this client does not serve " + cut(method, 80)}
}

func (l *link) reply(ctx context.Context, params json.RawMessage) (Reply, error) {
	asked := members(params)
	q := Question{Message: plain(textOf(asked["message"]), maxDescription), Schema: asked["requestedSchema"]}
	reply, err := l.answer(ctx, q)
	if err != nil {
		return Reply{}, err
	}
	if reply.Action == "accept" {
		reply.Content, err = withDefaults(q.Schema, reply.Content)
	}
	return reply, err
}

// withDefaults adds the defaults of a question to an answer that leaves them out.
func withDefaults(schema, content json.RawMessage) (json.RawMessage, error) {
	given := members(content)
	if given == nil {
		given = map[string]json.RawMessage{}
	}
	for name, property := range members(members(schema)["properties"]) {
		if value, ok := members(property)["default"]; ok && given[name] == nil {
			given[name] = value
		}
	}
	return encode(given)
}

// rounds sends a request until its result asks nothing back. Only the newest
// protocol asks that way; older servers send requests of their own.
//
// What is asked is answered at once where there is somebody for that ([Answer]), and
// else by the error that makes it a question of the thread. Then more is how the call
// goes on that was made again with the answers.
func (l *link) rounds(
	ctx context.Context, more map[string]any, ask func(*asking) error, send func(more map[string]any) (json.RawMessage, error),
) (json.RawMessage, error) {
	for range maxRounds {
		result, err := send(more)
		if err != nil || !l.modern {
			return result, err
		}
		if textOf(field(result, "resultType")) != "input_required" {
			return result, nil
		}
		open, err := readAsking(members(result))
		switch {
		case err != nil:
			return nil, err
		case len(open.Open) > 0 && l.answer == nil:
			return nil, ask(open)
		}
		for _, q := range open.Open {
			reply, err := l.reply(ctx, q.Params)
			if err != nil {
				return nil, &fault{code: CodeInputRequired, message: "the server's question could not be answered: " + err.Error(), effect: catalog.EffectNone}
			}
			if open.Replies == nil {
				open.Replies = map[string]Reply{}
			}
			open.Replies[q.ID] = reply
		}
		more = open.more(true)
	}
	return nil, &fault{code: CodeProtocol, message: "the server asks back without an end", effect: catalog.EffectUnknown}
}
