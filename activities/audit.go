package activities

import (
	"context"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Auditor keeps an audit log. *[catalog.Broker] is one.
type Auditor interface {
	// Record adds an entry, on behalf of a scope. An error says that it did not.
	Record(scope catalog.Scope, e catalog.Entry) error
}

// NoteInput asks for an entry in the audit log.
type NoteInput struct {
	Thread contract.Start `json:"thread"`
	Entry  catalog.Entry  `json:"entry"`
}

// Note records what people decided. It runs as a local activity: what only the log
// needs to know stands in no history. An entry can come twice where a worker is lost
// while it is written.
func (a *Activities) Note(_ context.Context, in NoteInput) error {
	if a.Audit == nil { // this worker keeps no log; the one that began the turn did
		return nil
	}
	return a.Audit.Record(a.Agents[in.Thread.Agent].of(in.Thread), in.Entry)
}

// of is the scope of a thread, also where this worker does not know its agent.
func (agent Agent) of(thread contract.Start) catalog.Scope {
	scope := agent.scope(thread)
	scope.Agent = thread.Agent
	return scope
}
