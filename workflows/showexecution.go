package workflows

import (
	"fmt"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/signals/contract"
)

// maxShownCalls bounds the parts of the calls that one snippet's segments served.
// The rest are counted.
const maxShownCalls = 200

// ShownCalls counts the calls of a snippet for its part: those that are done and
// those of them that failed, and those that have parts, and have none.
type ShownCalls struct {
	Done   int `json:"done,omitempty"`
	Failed int `json:"failed,omitempty"`
	Parts  int `json:"parts,omitempty"`
	Hidden int `json:"hidden,omitempty"`
	// Used is what its calls have used, but for the outputs of effects.
	Used contract.Usage `json:"used,omitzero"`
}

// with counts effects too.
func (s ShownCalls) with(effects []*call) ShownCalls {
	s.Done += len(effects)
	for _, c := range effects {
		if c.result != nil && c.result.Problem != nil {
			s.Failed++
		}
		if c.result != nil {
			s.Used.OutputBytes += bytesOf(c.result.Result, c.result.Body)
		}
	}
	return s
}

// showExecution opens the part of a snippet. Its calls are below it.
func (t *thread) showExecution(turn *turn, x *execution) {
	t.put(part(x.call.planned.ID, contract.KindExecute, contract.PartRunning, "Snippet").in(turn).with(func(p *contract.Part) {
		p.Tool = x.call.planned.Tool
	}))
}

// showCall opens the part of a call.
func (t *thread) showCall(turn *turn, c *call) {
	title := c.title()
	kind := contract.KindCall
	switch c.planned.Kind {
	case activities.CallSearch:
		kind = contract.KindSearch
	case activities.CallDescribe:
		kind = contract.KindDescribe
	case activities.CallExecute:
		if c.planned.Problem == nil {
			kind = contract.KindExecute
		}
	}
	t.put(part(c.planned.ID, kind, contract.PartRunning, title).in(turn).with(func(p *contract.Part) {
		p.Tool, p.Undoes = c.planned.Tool, c.undoes
		p.Policy = shownPolicy(c.planned.Plan.Policy)
		if c.execution != nil {
			p.Parent = c.execution.call.planned.ID
		}
	}))
}

// shownPolicy is a rule of the policy as a part has it.
func shownPolicy(d *catalog.Decided) *contract.PolicyDecision {
	if d == nil {
		return nil
	}
	return &contract.PolicyDecision{Verdict: string(d.Verdict), Rule: cut(d.Rule, activities.MaxCarriedText), Place: cut(d.Place, activities.MaxCarriedText)}
}

// usage is what a call has used.
func (c *call) usage() contract.Usage {
	return contract.Usage{Calls: 1, InputBytes: bytesOf(c.planned.Input, c.planned.Body), OutputBytes: bytesOf(c.result.Result, c.result.Body)}
}

// usageOf is what a call that a segment served has used. A look-up is no call.
func usageOf(s activities.Served) *contract.Usage {
	used := contract.Usage{InputBytes: s.InputBytes, OutputBytes: s.OutputBytes}
	if s.Kind == snippet.KindCall {
		used.Calls = 1
	}
	return &used
}

// showPlan shows of a call what only its plan says.
func (t *thread) showPlan(c *call) {
	t.update(c.planned.ID, func(p *contract.Part) { p.Title, p.Policy = c.title(), shownPolicy(c.planned.Plan.Policy) })
}

// title names a call for people.
func (c *call) title() string {
	title := c.planned.Plan.Title
	if title == "" {
		title = c.planned.Tool
	}
	if c.undoes != "" {
		title = "Undo: " + title
	}
	return title
}

// showServed shows what a segment served, and how far the snippet is.
func (t *thread) showServed(turn *turn, x *execution, result activities.SegmentResult) {
	for _, s := range result.Served {
		x.shown.Done++
		if s.Problem != nil {
			x.shown.Failed++
		}
		if x.shown.Parts == maxShownCalls {
			x.shown.Hidden++
			continue
		}
		x.shown.Parts++
		t.put(servedPart(x, s).in(turn).with(func(p *contract.Part) {
			p.Parent, p.Tool, p.DurationMS, p.Problem = x.call.planned.ID, s.Tool, s.DurationMS, s.Problem
			p.Policy, p.Usage = shownPolicy(s.Policy), usageOf(s)
		}))
	}
	x.shown.Done += result.More
	x.shown.Hidden += result.More
	x.shown.Used = x.shown.Used.Add(result.Used)
	shown := x.shown.with(x.effects)
	t.update(x.call.planned.ID, func(p *contract.Part) { p.Progress = &contract.Progress{Done: shown.Done, Total: shown.Done} })
}

func servedPart(x *execution, s activities.Served) newPart {
	id := fmt.Sprintf("%s.%d", x.call.planned.ID, s.Number)
	status := contract.PartDone
	if s.Problem != nil {
		status = ended(s.Problem)
	}
	switch s.Kind {
	case snippet.KindSearch:
		return part(id, contract.KindSearch, status, "Search tools")
	case snippet.KindDescribe:
		return part(id, contract.KindDescribe, status, "Describe tools")
	case snippet.KindResult:
		return part(id, contract.KindDescribe, status, "Read a kept result")
	default:
		return part(id, contract.KindCall, status, s.Tool)
	}
}

// finishExecution closes the part of a snippet.
func (t *thread) finishExecution(x *execution, failed *contract.Problem) {
	if failed == nil {
		failed = x.call.result.Problem
	}
	shown := x.shown.with(x.effects)
	calls := shown.Done
	name := "Snippet"
	if x.call.planned.Source != nil {
		name = x.call.planned.Tool
	}
	status, title := contract.PartDone, name+": "+plural(calls, "call")
	if failed != nil {
		status, title = ended(failed), title+", failed"
	}
	if x.shown.Hidden > 0 {
		title += fmt.Sprintf(" (%d not shown)", x.shown.Hidden)
	}
	t.finish(x.call.planned.ID, status, func(p *contract.Part) {
		p.Title, p.Problem = title, brief(failed)
		p.Text = cut(x.call.result.Warning, contract.MaxPartText)
		p.Progress = &contract.Progress{Done: calls - shown.Failed, Total: calls}
		p.Usage = &shown.Used
	})
}
