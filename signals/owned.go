package signals

import (
	"sync"
	"time"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Whose a thread is cannot change while it lives, so it need not be asked for each
// message. It is forgotten long before a closed thread's name could be taken by
// someone else, which is after the namespace's retention of a day or more.
const (
	ownedFor  = time.Minute
	ownedMost = 10_000
)

// owned remembers the threads that were found to be with an agent and a user.
type owned struct {
	mu      sync.Mutex
	threads map[ownedThread]time.Time
}

type ownedThread struct{ workflowID, agent, user, rules string }

func ownedBy(start contract.Start) ownedThread {
	return ownedThread{start.WorkflowID(), start.Agent, start.User, rulesOf(start)}
}

func (o *owned) has(start contract.Start) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	found, ok := o.threads[ownedBy(start)]
	return ok && time.Since(found) < ownedFor
}

func (o *owned) add(start contract.Start) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.threads == nil || len(o.threads) >= ownedMost {
		o.threads = map[ownedThread]time.Time{}
	}
	o.threads[ownedBy(start)] = time.Now()
}
