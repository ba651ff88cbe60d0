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
	Steps   int             `json:"steps,omitempty"`
	Spent   time.Duration   `json:"spent,omitempty"`
	Recent  []contract.Turn `json:"recent,omitempty"`
	Current *CarriedTurn    `json:"current,omitempty"`
	Closing *contract.Close `json:"closing,omitempty"`
	Queue   []queued        `json:"queue,omitempty"`
	Seen    []Seen          `json:"seen,omitempty"`
	Ended   []Ended         `json:"ended,omitempty"`
	// Questions are those that have ended.
	Questions []EndedQuestion `json:"questions,omitempty"`
	Length    int             `json:"length"`
	Archive   contract.Ref    `json:"archive"`
	// ArchivedSeq is the sequence number up to which the ended parts are in Archive.
	ArchivedSeq int64 `json:"archived_seq"`
	// Cancelled says that the workflow was cancelled, and Closing follows from it.
	Cancelled bool `json:"cancelled,omitempty"`
	// FirstSeq is the sequence number from which on Parts misses none.
	FirstSeq int64           `json:"first_seq"`
	Seq      int64           `json:"seq"`
	Parts    []contract.Part `json:"parts,omitempty"`
	Refused  int             `json:"refused,omitempty"`
	// Grants are those that stand, Granted counts all that there have been.
	Grants  []contract.Grant `json:"grants,omitempty"`
	Granted int              `json:"granted,omitempty"`
	Search  string           `json:"search"`
	// Reconciliations are those that are open.
	Reconciliations []CarriedReconciliation `json:"reconciliations,omitempty"`
	Answered        []Answered              `json:"answered,omitempty"`
	// Applied are the writes that can be undone, and what is remembered of them.
	Applied   []Applied `json:"applied,omitempty"`
	Forgotten int       `json:"forgotten,omitempty"`
	// Audited says that decisions are told to an audit log.
	Audited bool `json:"audited,omitempty"`
	// Told is what was told of sources of tools that are not well.
	Told []activities.SourceTold `json:"told,omitempty"`
	// Changed are tools that are not what people had agreed to.
	Changed []ChangedTool `json:"changed,omitempty"`
	// Kept are the large results that snippets can read.
	Kept []contract.KeptResult `json:"kept,omitempty"`
}

// CarriedTurn is a turn that goes on in the next run.
type CarriedTurn struct {
	contract.Turn
	Limits    activities.Limits    `json:"limits"`
	User      string               `json:"user,omitempty"`
	Policy    []contract.Rule      `json:"policy,omitempty"`
	Waited    time.Duration        `json:"waited,omitempty"`
	Cancelled *contract.CancelTurn `json:"cancelled,omitempty"`
	Run       contract.Run         `json:"run,omitempty"`
	Script    string               `json:"script,omitempty"`
	Tool      string               `json:"tool,omitempty"`
	Undoes    string               `json:"undoes,omitempty"`
	// Executions are the snippets that run.
	Executions []CarriedExecution `json:"executions,omitempty"`
}

// carry makes what the next run begins with. Nothing is in flight, so no call waits
// for a person.
func (t *thread) carry(archive contract.Ref, archivedSeq int64) *Carried {
	c := &Carried{
		Runs: t.runs, Turns: t.turns, Usage: t.usage, Steps: t.steps, Spent: t.spent, Closing: t.closing, Queue: t.queue, Seen: t.seen, Ended: t.endedRing, Questions: t.endedQuestions,
		Length: t.length(), Archive: archive, ArchivedSeq: archivedSeq, Cancelled: t.cancelled, Seq: t.seq, Refused: t.refusals, Search: t.shown.status, Kept: t.kept,
	}
	for _, turn := range t.recent {
		turn.Answer = cutEncoded(turn.Answer, activities.MaxCarriedText)
		turn.Problem = shortProblem(turn.Problem)
		c.Recent = append(c.Recent, turn)
	}
	if t.current != nil {
		c.Current = &CarriedTurn{
			Turn: t.current.Turn, Limits: t.current.limits, User: t.current.user, Policy: t.current.policy, Waited: t.current.waited, Cancelled: t.current.cancelled, Run: t.current.run, Script: t.current.script, Tool: t.current.tool, Undoes: t.current.undoes,
		}
	}
	c.Reconciliations, c.Answered = t.carryDoubts(), t.answered
	if t.current != nil {
		for _, x := range t.current.resting {
			c.Current.Executions = append(c.Current.Executions, x.carry())
		}
	}
	c.Applied, c.Forgotten = t.carryApplied()
	c.Audited, c.Told, c.Changed = t.audited, t.told, t.changed
	c.Granted = t.given
	for _, g := range t.standing {
		c.Grants = append(c.Grants, *g)
	}
	newest, complete := t.newestParts(archivedSeq)
	c.FirstSeq = complete
	for _, p := range newest {
		c.Parts = append(c.Parts, short(*p))
	}
	return c
}

// short is a part without what is long about it. The archive has it whole.
func short(p contract.Part) contract.Part {
	p.Text = cutEncoded(p.Text, activities.MaxCarriedText)
	p.Problem = shortProblem(p.Problem)
	if p.Approval != nil { // over by now: its digest is still asked for
		over := *p.Approval
		over.Preview, over.Does, over.Changed, over.Votes = nil, "", "", nil
		p.Approval = &over
	}
	if p.Reconciliation != nil && p.EndedAt != nil {
		short := shortReconciliation(*p.Reconciliation)
		p.Reconciliation = &short
	} else {
		p.Reconciliation = nil // it is carried itself
	}
	if p.Finding != nil {
		finding := *p.Finding
		finding.Comment = cutEncoded(finding.Comment, activities.MaxCarriedText)
		p.Finding = &finding
	}
	if p.Question != nil { // over too
		over := *p.Question
		over.Schema, over.URL, over.Message = nil, "", cutEncoded(over.Message, activities.MaxCarriedText)
		p.Question = &over
	}
	if p.Answer != nil {
		answer := *p.Answer
		answer.Comment = cutEncoded(answer.Comment, activities.MaxCarriedText)
		p.Answer = &answer
	}
	if p.Grant != nil { // the thread has it whole
		grant := *p.Grant
		grant.By, grant.Resource = cutEncoded(grant.By, activities.MaxCarriedText), cutEncoded(grant.Resource, activities.MaxCarriedText)
		p.Grant = &grant
	}
	p.Sources = shortSources(p.Sources)
	if p.Decision != nil {
		decision := *p.Decision
		decision.Comment = cutEncoded(decision.Comment, activities.MaxCarriedText)
		p.Decision = &decision
	}
	return p
}

// shortSources are the first of them, without what each says.
func shortSources(states []contract.SourceState) []contract.SourceState {
	const kept = 3
	var short []contract.SourceState
	for _, s := range states[:min(len(states), kept)] {
		s.Unread, s.Reasons = cutEncoded(s.Unread, activities.MaxCarriedText), nil
		short = append(short, s)
	}
	return short
}

func shortProblem(p *contract.Problem) *contract.Problem {
	if p == nil {
		return nil
	}
	return &contract.Problem{Code: p.Code, Message: cutEncoded(p.Message, activities.MaxCarriedText)}
}

// endedAfter returns the ended parts that the archive does not have.
func (t *thread) endedAfter(archivedSeq int64) []*contract.Part {
	return slices.DeleteFunc(slices.Clone(t.parts), func(p *contract.Part) bool {
		return p.EndedAt == nil || p.Seq <= archivedSeq
	})
}

// newestParts returns the parts that are open, those that the archive does not
// have, and the tail of the rest, by sequence number; and the number from which
// on none is missing.
func (t *thread) newestParts(archivedSeq int64) (newest []*contract.Part, complete int64) {
	bySeq := slices.Clone(t.parts)
	slices.SortFunc(bySeq, func(p, q *contract.Part) int { return int(p.Seq - q.Seq) })
	if len(bySeq) <= tail {
		return bySeq, t.firstSeq
	}
	complete = min(bySeq[len(bySeq)-tail].Seq, archivedSeq+1)
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
			t.queue[i].Body, t.queue[i].Text = &ref, cutEncoded(q.Text, activities.MaxCarriedText)
		}
	}
}

// resume begins a run with what the run before left.
func (t *thread) resume(c *Carried) {
	t.runs = c.Runs + 1
	t.turns, t.usage, t.recent, t.closing = c.Turns, c.Usage, c.Recent, c.Closing
	t.steps, t.spent = c.Steps, c.Spent
	t.queue, t.seen, t.refusals = c.Queue, c.Seen, c.Refused
	t.endedRing, t.endedQuestions, t.cancelled = c.Ended, c.Questions, c.Cancelled
	t.first, t.archive, t.archivedSeq = c.Length, &c.Archive, c.ArchivedSeq
	t.seq, t.firstSeq = c.Seq, c.FirstSeq
	t.shown.status, t.given, t.kept = c.Search, c.Granted, c.Kept
	t.applied, t.forgotten, t.audited = c.Applied, c.Forgotten, c.Audited
	for i := range c.Grants {
		t.standing = append(t.standing, &c.Grants[i])
	}
	for i := range c.Parts {
		t.parts = append(t.parts, &c.Parts[i])
	}
	t.answered, t.told, t.changed = c.Answered, c.Told, c.Changed
	t.resumeDoubts(c.Reconciliations)
	t.shown.pending = t.pending()
	if c.Current != nil {
		t.current = &turn{
			Turn: c.Current.Turn, limits: c.Current.Limits, user: c.Current.User, policy: c.Current.Policy, waited: c.Current.Waited, cancelled: c.Current.Cancelled, run: c.Current.Run, script: c.Current.Script, tool: c.Current.Tool, undoes: c.Current.Undoes,
		}
		for _, x := range c.Current.Executions {
			t.current.resting = append(t.current.resting, resumeExecution(x))
		}
	}
}
