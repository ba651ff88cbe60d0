package signals

import "sync"

// place is how far the history of a run was read.
type place struct {
	run execution
	// token is the server's mark. Empty: at the beginning.
	token []byte
	// turn is one that was begun after that, and that nobody waits for yet.
	turn string
}

// placesMost bounds the memory that places take: some hundred bytes each.
const placesMost = 10_000

// places remembers where the waits for the turns of threads ended. Whoever sends the
// next message and waits for its turn can go on from there, which saves the requests
// that find the end of the history. A place is a hint: a thread that did something
// else since costs a later look, and no wrong answer.
type places struct {
	mu      sync.Mutex
	threads map[string]place
}

// of returns the place of a thread, the zero place if there is none.
func (p *places) of(workflowID string) place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.threads[workflowID]
}

// begin notes a turn that was begun after the place had been read.
func (p *places) begin(before place, turn string) {
	before.turn = turn
	p.set(before)
}

// take returns the place after which a turn was begun, once.
func (p *places) take(workflowID, turn string) *place {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.threads[workflowID]
	if !ok || found.turn != turn {
		return nil
	}
	delete(p.threads, workflowID)
	return &found
}

// leave notes how far a history was read, unless a turn has been begun meanwhile.
func (p *places) leave(end *tail) {
	if len(end.token) > 0 && p.of(end.run.workflowID).turn == "" {
		p.set(place{run: end.run, token: end.token})
	}
}

func (p *places) set(at place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.threads == nil || len(p.threads) >= placesMost {
		p.threads = map[string]place{}
	}
	p.threads[at.run.workflowID] = at
}
