package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Policy decides about each call, at Plan and again at Dispatch, before the
// tool's own approval rule is looked at. It is safe for concurrent use, answers
// from what it is asked alone, and does nothing outside. The package policy has
// one made of rules.
type Policy interface {
	Judge(q Question) Ruling
	// CheckRules says what is wrong with the rules of a scope. While something is, no
	// call of the scope is allowed.
	CheckRules(scope Scope) error
}

// Question is a call about which a [Policy] decides. Its input has been checked.
type Question struct {
	Tool  Descriptor
	Input json.RawMessage
	Scope Scope
	Now   time.Time
}

// Verdict is what a [Policy] decides.
type Verdict string

// The verdicts of a policy.
const (
	// VerdictNone: no rule matches. The tool's own approval rule stands.
	VerdictNone Verdict = ""
	// VerdictAllow: a rule lets the call pass. The tool's own approval rule stands,
	// unless the ruling waives it.
	VerdictAllow Verdict = "allow"
	// VerdictAsk: a person must agree.
	VerdictAsk Verdict = "ask"
	// VerdictBlock: the call is refused.
	VerdictBlock Verdict = "block"
)

// Ruling is what a [Policy] says of a call.
type Ruling struct {
	Verdict Verdict
	// Rule names the rule that decided, and Place says where it stands, for people.
	Rule  string
	Place string
	// Reason is told to the model or to the person who is asked.
	Reason string
	// Approvers is how many people must agree, of whom none asked. 0: one, whoever
	// it is.
	Approvers int
	// Waive lets a write run without the approval that it needs by default. It does
	// not concern a tool whose author wants one of each call.
	Waive bool
}

// Govern sets the policy, nil for none, and the modes that a thread can be in. It
// is called before the broker is used.
func (b *Broker) Govern(policy Policy, modes Modes) { b.policy, b.modes = policy, modes }

// Limit sets the limits of calls. It is called before the broker is used.
func (b *Broker) Limit(limits Limits) { b.gates = &gates{limits: limits} }

// CheckRules says what is wrong with the rules of a scope.
func (b *Broker) CheckRules(scope Scope) error {
	if b.policy == nil {
		if len(scope.ThreadRules)+len(scope.PromptRules) > 0 {
			return errors.New("the worker has no policy that could read the rules of the thread")
		}
		return nil
	}
	return b.policy.CheckRules(scope)
}

// Modes are the modes that a thread can be in.
func (b *Broker) Modes() Modes { return b.modes }

// govern is what mode and policy say of a call whose input was accepted.
func (b *Broker) govern(c *call, mode Mode) *Error {
	if err := mode.AdmitsWrite(c.tool.Descriptor, c.resource); err != nil {
		return err
	}
	var ruling Ruling
	if b.policy != nil {
		ruling = b.policy.Judge(Question{Tool: c.tool.Descriptor, Input: c.input, Scope: c.scope, Now: time.Now()})
	}
	if ruling.Verdict == VerdictBlock {
		return blocked(ruling)
	}
	c.consent, c.ruling = ConsentTo(c.tool.Descriptor, ruling), ruling
	return nil
}

// blocked words a block so that the model can do something else.
func blocked(r Ruling) *Error {
	e := &Error{
		Code:    CodePolicyBlocked,
		Message: fmt.Sprintf("the policy does not allow this call: rule %s (%s)", quote(r.Rule), r.Place),
		Hint:    "do it another way, or tell the user that it is not allowed",
	}
	if r.Reason != "" {
		e.Message += ": " + plain(r.Reason, maxMessage)
	}
	if details, err := encode(map[string]any{"rule": r.Rule, "place": r.Place}); err == nil {
		e.Details = details
	}
	return e
}

// Consent is whether people must agree to a call.
type Consent struct {
	// NeedsApproval says that people must, and Reason why.
	NeedsApproval bool
	Reason        string
	// Approvers is how many, each another and none of them who asked. 0: one,
	// whoever it is.
	Approvers int
	// Grantable says that a person may have agreed beforehand: nobody but the tool's
	// own default asks.
	Grantable bool
}

// ConsentTo says whether people must agree to a call of a tool, by what the policy
// says of it and by the tool's own rule.
func ConsentTo(d Descriptor, r Ruling) Consent {
	var c Consent
	switch {
	case d.Approval == ApprovalAlways:
		c = Consent{NeedsApproval: true, Reason: "the tool asks for approval of each call", Approvers: d.Approvers}
	case d.Operation == Write && (d.Approval == ApprovalDefault || d.Trust == TrustRemote) && !r.Waive:
		c = Consent{NeedsApproval: true, Reason: "it is a write", Approvers: d.Approvers, Grantable: d.Approvers == 0}
	}
	if r.Verdict != VerdictAsk {
		return c
	}
	c.NeedsApproval, c.Grantable = true, false
	c.Approvers = max(c.Approvers, r.Approvers)
	c.Reason = fmt.Sprintf("rule %s (%s) asks", quote(r.Rule), r.Place)
	if r.Reason != "" {
		c.Reason += ": " + plain(r.Reason, maxMessage)
	}
	return c
}
