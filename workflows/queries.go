package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/signals/contract"
)

// answerQueries sets up everything that can be asked of the thread.
func (t *thread) answerQueries() error {
	for _, q := range []struct {
		name    string
		handler any
	}{
		{contract.QueryState, func() (contract.State, error) { return t.state(), nil }},
		{contract.QueryTimeline, t.timelinePage},
		{contract.QueryTranscript, t.transcriptPage},
		{contract.QueryCalls, func(q contract.CallsQuery) (contract.CallsPage, error) { return t.openCalls(q), nil }},
		{contract.QueryExecution, t.ofExecution},
		{contract.QueryQueue, func() (contract.QueuePage, error) { return t.waitingQueue(), nil }},
	} {
		if err := workflow.SetQueryHandler(t.ctx, q.name, q.handler); err != nil {
			return err
		}
	}
	return nil
}

func (t *thread) timelinePage(q contract.TimelineQuery) (contract.TimelinePage, error) {
	if err := q.Validate(); err != nil {
		return contract.TimelinePage{}, refuse(contract.ErrInvalid, "%v", err)
	}
	return t.page(q), nil
}

func (t *thread) transcriptPage(q contract.TranscriptQuery) (contract.TranscriptPage, error) {
	if err := q.Validate(); err != nil {
		return contract.TranscriptPage{}, refuse(contract.ErrInvalid, "%v", err)
	}
	return t.pages(q), nil
}

// status is what the thread is doing.
func (t *thread) status() contract.Status {
	switch {
	case t.closed:
		return contract.StatusClosed
	case t.waits():
		return contract.StatusWaiting
	case t.current != nil || len(t.queue) > 0:
		return contract.StatusRunning
	}
	return contract.StatusIdle
}

// waits reports whether a call waits for a person.
func (t *thread) waits() bool {
	_, waited := t.asks()
	return len(t.approvals)+len(t.questions) > 0 || waited > 0
}

func (t *thread) state() contract.State {
	state := contract.State{
		Start: t.start, Status: t.status(), Recent: slices.Clone(t.recent), Usage: t.usage,
		Messages: t.length(), Cursor: t.seq, FirstRunID: t.info.FirstRunID, Runs: t.runs,
	}
	if t.current != nil {
		running := t.current.Turn
		if t.waits() {
			running.Status = contract.StatusWaiting
		}
		state.Turn = &running
	}
	for _, q := range t.queue {
		state.Queue = append(state.Queue, contract.Turn{ID: q.Turn, Submission: q.ID, Status: contract.StatusQueued})
	}
	size := 0
	for _, ap := range t.approvals {
		pending := ap.Approval
		if size += escaped(string(pending.Preview)) + escaped(pending.Does) + escaped(pending.Changed); size > maxPage/2 {
			pending.Preview, pending.Does, pending.Changed = nil, "", "" // the timeline has them
		}
		state.Pending = append(state.Pending, pending)
	}
	for _, r := range t.doubts {
		state.Reconciliations = append(state.Reconciliations, r.Reconciliation)
	}
	for _, q := range t.questions {
		shown := q.Question
		if size += escaped(shown.Message) + escaped(string(shown.Schema)) + escaped(shown.URL); size > maxPage/2 {
			shown.Schema = nil // the timeline has it
		}
		state.Questions = append(state.Questions, shown)
	}
	for _, g := range t.standing {
		state.Grants = append(state.Grants, *g)
	}
	return state
}

// readable are the calls that activities may read: those that are open, and those
// whose tools are asked what became of them.
func (t *thread) readable() []contract.Call {
	calls := t.open
	for _, r := range t.doubts {
		if !r.asked() && !slices.ContainsFunc(calls, func(c contract.Call) bool { return c.ID == r.Call }) {
			calls = append(slices.Clone(calls), r.input)
		}
	}
	return calls
}

func (t *thread) openCalls(q contract.CallsQuery) contract.CallsPage {
	var page contract.CallsPage
	size := 0
	for _, c := range t.readable() {
		if len(q.IDs) > 0 && !slices.Contains(q.IDs, c.ID) {
			continue
		}
		if size += len(c.Input); size > maxPage && len(page.Calls) > 0 {
			break // who asks for the rest by id gets it
		}
		page.Calls = append(page.Calls, c)
	}
	return page
}

func (t *thread) waitingQueue() contract.QueuePage {
	var page contract.QueuePage
	size := 0
	for _, q := range t.queue {
		if size += escaped(q.Text); size > maxPage && len(page.Submissions) > 0 {
			break // the texts of these are put aside first, and the next page has the rest
		}
		page.Submissions = append(page.Submissions, q.Submission)
	}
	return page
}
