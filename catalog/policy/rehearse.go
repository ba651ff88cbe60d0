package policy

import "github.com/heddle-dev/heddle/catalog"

// Rehearsal is what a call would come to, as far as mode, policy and the tool's
// own approval rule say.
type Rehearsal struct {
	// Effect is [Allow] where the call would run, [Ask] where people would be asked,
	// and [Block] where it would be refused.
	Effect Effect `json:"effect"`
	// Reason says why, where the effect is not [Allow].
	Reason string `json:"reason,omitempty"`
	// Rule, Scope and Place name the rule that decided. Empty: none did, but the
	// mode or the tool itself.
	Rule  string `json:"rule,omitempty"`
	Scope Scope  `json:"scope,omitempty"`
	Place string `json:"place,omitempty"`
	// Approvers is how many people would have to agree. 0: one, whoever it is.
	Approvers int `json:"approvers,omitempty"`
	// Steps are the rules that were looked at, in order.
	Steps []Step `json:"steps"`
}

// Rehearse says what a call would come to, and does nothing. The resource is what
// the call works on, if it says so.
func (p *Policy) Rehearse(modes catalog.Modes, q catalog.Question, resource string) Rehearsal {
	mode, refused := modes.Of(q.Scope.Mode)
	if refused == nil {
		refused = mode.Admits(q.Tool)
	}
	if refused == nil {
		refused = mode.AdmitsWrite(q.Tool, resource)
	}
	if refused != nil {
		return Rehearsal{Effect: Block, Reason: refused.Message, Steps: []Step{}}
	}
	explained := p.Explain(q)
	r := Rehearsal{Effect: Allow, Steps: explained.Steps}
	consent := catalog.ConsentTo(q.Tool, explained.Ruling)
	switch {
	case explained.Ruling.Verdict == catalog.VerdictBlock:
		r.Effect, r.Reason = Block, explained.Ruling.Reason
	case consent.NeedsApproval:
		r.Effect, r.Reason, r.Approvers = Ask, consent.Reason, consent.Approvers
	}
	if Effect(explained.Ruling.Verdict) == r.Effect {
		r.Rule, r.Scope, r.Place = explained.Ruling.Rule, explained.Scope, explained.Ruling.Place
	}
	return r
}
