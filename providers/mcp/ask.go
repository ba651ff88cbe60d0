package mcp

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/heddle-dev/heddle/catalog"
)

// asking is what a server wants to know before a call can go on, and what it has been
// told so far. A server of 2026-07-28 asks by ending the call with questions, and is
// told the answers by another call, whenever that is and from whichever worker: so a
// thread can keep the questions until a person has answered them, one after the other.
// The protocol's older versions ask over the connection of a call that waits; there is
// none to answer on days later, so servers of those are told that they cannot ask. What
// they can do is to refuse a call until the user has been to a page.
type asking struct {
	// State is the server's own, and comes back to it as it is.
	State json.RawMessage `json:"state,omitempty"`
	// Open are the questions without an answer, the first of which is asked now.
	Open    []openQuestion   `json:"open"`
	Replies map[string]Reply `json:"replies,omitempty"`
}

type openQuestion struct {
	ID     string          `json:"id"`
	Params json.RawMessage `json:"params"`
}

// elicitations is what a call declares for which a person can be asked.
var elicitations = map[string]any{"elicitation": map[string]any{"form": map[string]any{}, "url": map[string]any{}}}

// canAsk reports whether questions of a call become those of a thread.
func (l *link) canAsk(c catalog.Call) bool { return c.CanAsk && l.modern && l.answer == nil }

// readAsking reads the questions of a result that wants input. The error says which
// it is that nobody can answer.
func readAsking(result map[string]json.RawMessage) (*asking, error) {
	a := &asking{State: result["requestState"]}
	requests := members(result["inputRequests"])
	for _, id := range slices.Sorted(maps.Keys(requests)) {
		request := members(requests[id])
		if method := textOf(request["method"]); method != methodElicit {
			return nil, unanswerable(method)
		}
		a.Open = append(a.Open, openQuestion{ID: id, Params: request["params"]})
	}
	return a, nil
}

func unanswerable(method string) *fault {
	return &fault{
		code: CodeInputRequired, message: "the server asks back (" + plain(method, 80) + "), and there is nobody to answer it",
		effect: catalog.EffectNone,
	}
}

// readPages reads the pages to which a server wants the user sent before it carries
// out what it has refused.
func readPages(f *fault) *asking {
	text, err := encode(f.data)
	if err != nil {
		return nil
	}
	var data struct {
		Elicitations []json.RawMessage `json:"elicitations"`
	}
	if json.Unmarshal(text, &data) != nil || len(data.Elicitations) == 0 {
		return nil
	}
	a := &asking{}
	for _, params := range data.Elicitations {
		if textOf(members(params)["mode"]) == "url" {
			a.Open = append(a.Open, openQuestion{Params: params})
		}
	}
	if len(a.Open) == 0 {
		return nil
	}
	return a
}

// question is the first of the open questions, as a thread asks it.
func (a *asking) question(from string) error {
	params := members(a.Open[0].Params)
	state, err := encode(a)
	if err != nil {
		return err
	}
	e := &catalog.Elicitation{From: from, Message: plain(textOf(params["message"]), catalog.MaxElicitation), State: state, TellDecline: true}
	if textOf(params["mode"]) == "url" {
		e.URL = textOf(params["url"])
		if e.URL == "" {
			return &fault{code: CodeProtocol, message: "the server breaks the protocol: it sends a person to no page", effect: catalog.EffectNone}
		}
	} else {
		e.Schema = params["requestedSchema"]
	}
	if e.Message == "" {
		e.Message = "(the server asks without words)"
	}
	return e
}

// takeAnswer puts a person's answer to the question that was asked. It returns nil
// where that was none of the server's, such as for a credential: the call is then made
// as if for the first time.
func takeAnswer(answer *catalog.Answer) *asking {
	if answer == nil {
		return nil
	}
	var a asking
	if json.Unmarshal(answer.State, &a) != nil || len(a.Open) == 0 {
		return nil
	}
	reply := Reply{Action: "accept", Content: answer.Content}
	if answer.Declined {
		reply = Reply{Action: "decline"}
	}
	if a.Replies == nil {
		a.Replies = map[string]Reply{}
	}
	a.Replies[a.Open[0].ID] = reply
	a.Open = a.Open[1:]
	return &a
}

// more is what the next call says beside its input. Older servers are told nothing:
// they look for themselves.
func (a *asking) more(modern bool) map[string]any {
	more := map[string]any{}
	if !modern {
		return more
	}
	if len(a.State) > 0 {
		more["requestState"] = a.State
	}
	if len(a.Replies) > 0 {
		more["inputResponses"] = a.Replies
	}
	return more
}

// declare adds to the labels of a call that its questions reach a person.
func declare(meta map[string]any) { meta[mcp.MetaKeyClientCapabilities] = elicitations }
