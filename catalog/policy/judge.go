package policy

import (
	"encoding/json"
	"fmt"

	"github.com/heddle-dev/heddle/catalog"
)

// Step is what came of looking at one rule.
type Step struct {
	Scope Scope  `json:"scope"`
	Rule  string `json:"rule"`
	Place string `json:"place,omitempty"`
	// Effect is the rule's.
	Effect Effect `json:"effect"`
	// Taken says that the rule took the call, and so decided for its scope.
	Taken bool `json:"taken"`
	// Why says what kept the rule from taking the call, or why it took it.
	Why string `json:"why"`
}

// Explanation tells how a policy decided about a call.
type Explanation struct {
	// Steps are the rules that were looked at, in order. Rules after the one that
	// decided for a scope were not.
	Steps []Step `json:"steps"`
	// Ruling is what the policy says; Scope is where the rule that decided stands.
	Ruling catalog.Ruling `json:"ruling"`
	Scope  Scope          `json:"scope,omitempty"`
}

// Judge decides about a call.
func (p *Policy) Judge(q catalog.Question) catalog.Ruling { return p.decide(q, nil).Ruling }

// Explain decides about a call and tells how.
func (p *Policy) Explain(q catalog.Question) Explanation {
	steps := []Step{}
	explained := p.decide(q, func(s Step) { steps = append(steps, s) })
	explained.Steps = steps
	return explained
}

// layer is the rules of one scope.
type layer struct {
	scope Scope
	rules []compiled
}

func (p *Policy) layers(scope catalog.Scope) []layer {
	layers := []layer{{App, p.app}, {Agent, p.agents[scope.Agent]}}
	for _, l := range []struct {
		scope Scope
		rules json.RawMessage
	}{{Thread, scope.ThreadRules}, {Prompt, scope.PromptRules}} {
		if len(l.rules) == 0 {
			continue
		}
		rules, err := p.given.get(p.set, l.scope, l.rules)
		if err != nil { // nothing passes that somebody may have wanted to forbid
			rules = []compiled{{Rule: Rule{
				Name: "unusable", Effect: Block, Reason: clip(err.Error()), Place: "the rules of the " + string(l.scope),
			}}}
		}
		layers = append(layers, layer{l.scope, rules})
	}
	return layers
}

// decide asks each scope and takes the strictest of what they say, the outer
// scope's where two say the same.
func (p *Policy) decide(q catalog.Question, note func(Step)) Explanation {
	var result Explanation
	values := newActivation(q)
	approvers, decided := 0, false
	for _, l := range p.layers(q.Scope) {
		ruling, taken := l.decide(q, values, note)
		if !taken {
			continue
		}
		if ruling.Verdict == catalog.VerdictAsk {
			approvers = max(approvers, ruling.Approvers)
		}
		if !decided || Effect(ruling.Verdict).strictness() > Effect(result.Ruling.Verdict).strictness() {
			result.Ruling, result.Scope, decided = ruling, l.scope, true
		}
	}
	result.Ruling.Approvers = approvers
	return result
}

// decide finds the first rule of the scope that takes the call.
func (l layer) decide(q catalog.Question, values *activation, note func(Step)) (catalog.Ruling, bool) {
	for _, rule := range l.rules {
		taken, why, failure := rule.takes(q, values)
		if note != nil {
			note(Step{Scope: l.scope, Rule: rule.Name, Place: rule.Place, Effect: rule.Effect, Taken: taken, Why: why})
		}
		if taken {
			return rule.ruling(failure), true
		}
	}
	return catalog.Ruling{}, false
}

// takes reports whether the rule takes the call, and why or why not. A condition
// that fails takes it, with the failure.
func (r compiled) takes(q catalog.Question, values *activation) (taken bool, why string, failure error) {
	if mismatch := r.mismatch(q); mismatch != "" {
		return false, mismatch, nil
	}
	if r.when == nil {
		return true, "the call fits", nil
	}
	holds, err := values.holds(r.when)
	switch {
	case err != nil:
		return true, "the condition failed: " + clip(err.Error()), err
	case !holds:
		return false, "the condition is false: " + r.When, nil
	}
	return true, "the condition is true: " + r.When, nil
}

// ruling is what the rule decides. One whose condition failed lets nothing pass.
func (r compiled) ruling(failure error) catalog.Ruling {
	ruling := catalog.Ruling{
		Verdict: catalog.Verdict(r.Effect), Rule: r.Name, Place: r.where(),
		Reason: r.Reason, Approvers: r.Approvers, Waive: r.WithoutApproval,
	}
	if failure == nil {
		return ruling
	}
	ruling.Waive = false
	if r.Effect == Allow {
		ruling.Verdict = catalog.VerdictAsk
	}
	ruling.Reason = fmt.Sprintf("its condition cannot be evaluated (%s)", clip(failure.Error()))
	if r.Reason != "" {
		ruling.Reason = r.Reason + "; " + ruling.Reason
	}
	return ruling
}

// clip bounds the words of an evaluation error, which may quote the input.
func clip(message string) string {
	const most = 200
	if len(message) <= most {
		return message
	}
	for i := range message {
		if i > most-len("…") {
			return message[:i] + "…"
		}
	}
	return message
}
