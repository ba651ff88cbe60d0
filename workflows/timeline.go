package workflows

import (
	"slices"
	"unicode/utf8"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/signals/contract"
)

// timeline is a thread's public face: parts in the order in which they began.
type timeline struct {
	parts []*contract.Part
	seq   int64
	// firstSeq is the first sequence number that this run answers for; 0 in the
	// first run.
	firstSeq int64
}

// newPart is a part about to be put into the timeline.
type newPart struct{ contract.Part }

func part(id string, kind contract.Kind, status contract.PartStatus, title string) newPart {
	visibility := contract.VisibleUser
	if kind == contract.KindModel || kind == contract.KindError || kind == contract.KindSources {
		visibility = contract.VisibleOperator
	}
	return newPart{contract.Part{ID: id, Kind: kind, Status: status, Title: title, Visibility: visibility}}
}

// in makes the part one of a turn.
func (n newPart) in(turn *turn) newPart {
	n.Turn, n.Submission, n.Parent = turn.ID, turn.Submission, turn.ID
	return n
}

func (n newPart) with(set func(*contract.Part)) newPart {
	set(&n.Part)
	return n
}

// put adds a part.
func (t *thread) put(n newPart) {
	p := n.Part
	p.StartedAt = workflow.Now(t.ctx)
	if p.Status != contract.PartRunning && p.Status != contract.PartWaiting {
		p.EndedAt = &p.StartedAt
	}
	t.parts = append(t.parts, &p)
	t.revise(&p)
}

// update changes a part in place: same id, higher revision. Readers may hold the
// old one, so it is replaced and never written to.
func (t *thread) update(id string, change func(*contract.Part)) {
	i := slices.IndexFunc(t.parts, func(p *contract.Part) bool { return p.ID == id })
	if i < 0 {
		return // it ended in an earlier run
	}
	p := *t.parts[i]
	change(&p)
	t.parts[i] = &p
	t.revise(&p)
}

// finish updates a part that has come to its end.
func (t *thread) finish(id string, status contract.PartStatus, change func(*contract.Part)) {
	now := workflow.Now(t.ctx)
	t.update(id, func(p *contract.Part) {
		p.Status, p.EndedAt = status, &now
		p.DurationMS = now.Sub(p.StartedAt).Milliseconds()
		change(p)
	})
}

func (t *thread) revise(p *contract.Part) {
	t.seq++
	p.Seq = t.seq
	p.Revision++
}

// page answers a query for the timeline.
func (t *thread) page(q contract.TimelineQuery) contract.TimelinePage {
	limit := contract.MaxParts
	if q.Limit > 0 && q.Limit < limit {
		limit = q.Limit
	}
	var newer []contract.Part
	for _, p := range t.parts {
		if p.Seq > q.After {
			newer = append(newer, *p)
		}
	}
	slices.SortFunc(newer, func(p, q contract.Part) int { return int(p.Seq - q.Seq) })
	fits := 0
	for size := 0; fits < min(limit, len(newer)); fits++ {
		if size += partWeight(newer[fits]); size > maxPage && fits > 0 {
			break
		}
	}
	page := contract.TimelinePage{
		Parts: newer[:fits], Cursor: t.seq, More: len(newer) > fits,
		Status: t.status(), Earlier: t.earlier(t.firstSeq),
	}
	if page.More {
		page.Cursor = newer[fits-1].Seq
	}
	return page
}

// partWeight bounds how many bytes a part takes in JSON.
func partWeight(p contract.Part) int {
	const fields = 600
	n := fields + escaped(p.Title) + escaped(p.Text) + sourcesWeight(p.Sources)
	if p.Problem != nil {
		n += escaped(p.Problem.Message)
	}
	if p.Approval != nil {
		n += fields + escaped(string(p.Approval.Preview)) + escaped(p.Approval.Title) + escaped(p.Approval.Reason) + escaped(p.Approval.Resource) + escaped(p.Approval.Does) + escaped(p.Approval.Changed)
		for _, vote := range p.Approval.Votes {
			n += fields/2 + escaped(vote.Comment) + escaped(vote.By)
		}
	}
	if p.Reconciliation != nil {
		n += fields + escaped(p.Reconciliation.Reason) + escaped(p.Reconciliation.Resource)
	}
	if p.Finding != nil {
		n += fields + escaped(p.Finding.Comment) + escaped(p.Finding.By)
	}
	if p.Question != nil {
		n += fields + escaped(p.Question.Message) + escaped(string(p.Question.Schema)) + escaped(p.Question.URL)
	}
	if p.Answer != nil {
		n += fields/2 + escaped(p.Answer.Comment) + escaped(p.Answer.By)
	}
	if p.Policy != nil {
		n += fields/2 + escaped(p.Policy.Rule) + escaped(p.Policy.Place)
	}
	if p.Grant != nil {
		n += fields + escaped(p.Grant.Resource) + escaped(p.Grant.By)
	}
	if p.Decision != nil {
		n += fields + escaped(p.Decision.Comment) + escaped(p.Decision.By)
	}
	return n
}

// cut returns at most limit bytes of s and cuts no character in two.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	limit = max(limit-len(mark), 0)
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + mark
}

// cutEncoded is cut by the length that the text has in JSON.
func cutEncoded(s string, limit int) string {
	if escaped(s) <= limit {
		return s
	}
	size := 0
	for i := range len(s) {
		if size += escaped(s[i : i+1]); size > limit {
			return cut(s, i)
		}
	}
	return s
}
