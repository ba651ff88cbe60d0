package workflows

import (
	"slices"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// tail is how many of the newest parts the next run begins with, so that a
// client that comes late need not read an earlier run.
const tail = 8

// Carried is what a run leaves to the next: all of the thread's state, with its
// words by reference. It stays under 64 KiB however long the thread is.
type Carried struct {
	Runs    int             `json:"runs"`
	Turns   int             `json:"turns"`
	Usage   contract.Usage  `json:"usage"`
	Recent  []contract.Turn `json:"recent,omitempty"`
	Current *CarriedTurn    `json:"current,omitempty"`
	Closing *contract.Close `json:"closing,omitempty"`
	Queue   []queued        `json:"queue,omitempty"`
	Seen    []Seen          `json:"seen,omitempty"`
	Ended   []Ended         `json:"ended,omitempty"`
	Length  int             `json:"length"`
	Archive contract.Ref    `json:"archive"`
	// FirstSeq is the sequence number from which on Parts misses none.
	FirstSeq int64           `json:"first_seq"`
	Seq      int64           `json:"seq"`
	Parts    []contract.Part `json:"parts,omitempty"`
	Refused  int             `json:"refused,omitempty"`
	Search   string          `json:"search"`
}

// CarriedTurn is a turn that goes on in the next run.
type CarriedTurn struct {
	contract.Turn
	Limits    activities.Limits    `json:"limits"`
	Waited    time.Duration        `json:"waited,omitempty"`
	Cancelled *contract.CancelTurn `json:"cancelled,omitempty"`
}

// carry makes what the next run begins with. Nothing is in flight, so nothing
// waits for a person.
func (t *thread) carry(archive contract.Ref) *Carried {
	c := &Carried{
		Runs: t.runs, Turns: t.turns, Usage: t.usage, Closing: t.closing, Queue: t.queue, Seen: t.seen, Ended: t.endedRing,
		Length: t.length(), Archive: archive, Seq: t.seq, Refused: t.refusals, Search: t.shown.status,
	}
	for _, turn := range t.recent {
		turn.Answer = cut(turn.Answer, activities.MaxCarriedText)
		if turn.Problem != nil {
			turn.Problem = &contract.Problem{
				Code: turn.Problem.Code, Message: cut(turn.Problem.Message, activities.MaxCarriedText),
			}
		}
		c.Recent = append(c.Recent, turn)
	}
	if t.current != nil {
		c.Current = &CarriedTurn{
			Turn: t.current.Turn, Limits: t.current.limits, Waited: t.current.waited, Cancelled: t.current.cancelled,
		}
	}
	newest, complete := t.newestParts()
	c.FirstSeq = complete
	for _, p := range newest {
		part := *p
		part.Approval = nil // over, and its preview is long
		c.Parts = append(c.Parts, part)
	}
	return c
}

// newestParts returns the parts that are open and the tail of the rest, by
// sequence number, and the number from which on none is missing.
func (t *thread) newestParts() (newest []*contract.Part, complete int64) {
	bySeq := slices.Clone(t.parts)
	slices.SortFunc(bySeq, func(p, q *contract.Part) int { return int(p.Seq - q.Seq) })
	if len(bySeq) <= tail {
		return bySeq, t.firstSeq
	}
	complete = bySeq[len(bySeq)-tail].Seq
	for _, p := range bySeq {
		if p.EndedAt == nil || p.Seq >= complete {
			newest = append(newest, p)
		}
	}
	return newest, complete
}

// queueIsLong reports whether a waiting text is too long to be carried on.
func (t *thread) queueIsLong() bool {
	return slices.ContainsFunc(t.queue, func(q queued) bool { return len(q.Text) > activities.MaxCarriedText })
}

// putAside replaces the waiting texts that were stored.
func (t *thread) putAside(refs map[string]contract.Ref) {
	for i, q := range t.queue {
		if ref, stored := refs[q.ID]; stored {
			t.queue[i].Body, t.queue[i].Text = &ref, cut(q.Text, activities.MaxCarriedText)
		}
	}
}

// resume begins a run with what the run before left.
func (t *thread) resume(c *Carried) {
	t.runs = c.Runs + 1
	t.turns, t.usage, t.recent, t.closing = c.Turns, c.Usage, c.Recent, c.Closing
	t.queue, t.seen, t.refusals = c.Queue, c.Seen, c.Refused
	t.endedRing = c.Ended
	t.first, t.archive = c.Length, &c.Archive
	t.seq, t.firstSeq = c.Seq, c.FirstSeq
	t.shown.status = c.Search
	for i := range c.Parts {
		t.parts = append(t.parts, &c.Parts[i])
	}
	if c.Current != nil {
		t.current = &turn{
			Turn: c.Current.Turn, limits: c.Current.Limits, waited: c.Current.Waited, cancelled: c.Current.Cancelled,
		}
	}
}
