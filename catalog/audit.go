package catalog

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

// Auditor is told what is asked of a broker and what becomes of it. It is safe for
// concurrent use.
type Auditor interface {
	// Audit records an entry. After an error a write is not made.
	Audit(e Entry) error
}

// The kinds of an [Entry].
const (
	// EntryPlan: a call was planned, or refused before anything was done.
	EntryPlan = "plan"
	// EntryBegin: a write has passed every check and is about to be made.
	EntryBegin = "begin"
	// EntryCall: a call was made, or refused at dispatch.
	EntryCall = "call"
	// EntryDecision: people decided about a call that waited for them, or did not in
	// time.
	EntryDecision = "decision"
	// EntrySearch and EntryDescribe: tools were looked for, or read about.
	EntrySearch   = "search"
	EntryDescribe = "describe"
)

// Entry is one thing that was asked of a broker. It holds no input and no output, but
// their digests and lengths, and no secret.
type Entry struct {
	Kind   string   `json:"kind"`
	Tenant string   `json:"tenant"`
	User   string   `json:"user,omitempty"`
	Roles  []string `json:"roles,omitempty"`
	Thread string   `json:"thread,omitempty"`
	Agent  string   `json:"agent,omitempty"`
	Mode   string   `json:"mode,omitempty"`

	Tool      string    `json:"tool,omitempty"`
	Operation Operation `json:"operation,omitempty"`
	Resource  string    `json:"resource,omitempty"`
	// Policy is the rule that decided, if one did.
	Policy *Decided `json:"policy,omitempty"`
	// NeedsApproval says that people must agree; Approved, of a call, that they have,
	// and Granted that they did so beforehand.
	NeedsApproval bool `json:"needs_approval,omitempty"`
	Approved      bool `json:"approved,omitempty"`
	Granted       bool `json:"granted,omitempty"`
	// Decision is what was decided about a call, and by whom.
	Decision *Decision `json:"decision,omitempty"`

	DescriptorDigest string `json:"descriptor_digest,omitempty"`
	InputDigest      string `json:"input_digest,omitempty"`
	InputBytes       int    `json:"input_bytes,omitempty"`
	OutputBytes      int    `json:"output_bytes,omitempty"`
	IdempotencyKey   string `json:"idempotency_key,omitempty"`

	// Code and Message are those of the error, Effect what is known of its effect.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Effect  Effect `json:"effect,omitempty"`

	// Asked is what was looked for or read about, Hits what was found of it.
	Asked      []string `json:"asked,omitempty"`
	Hits       int      `json:"hits,omitempty"`
	DurationMS int64    `json:"duration_ms"`
}

// Decision is what became of asking people about a call, or of what they granted.
type Decision struct {
	// Verdict is approve, deny or edit; expire where nobody decided in time; revoke
	// where a grant was taken back.
	Verdict string `json:"verdict"`
	// Approval and Call are the ids of what was decided about. Digest is that of the
	// approval: for an edit, of the call as edited.
	Approval string `json:"approval,omitempty"`
	Call     string `json:"call,omitempty"`
	Digest   string `json:"digest,omitempty"`
	// By is who decided, as the backend says, and Comment what they said.
	By      string    `json:"by,omitempty"`
	Comment string    `json:"comment,omitempty"`
	At      time.Time `json:"at"`
	// Missing is how many more people must agree.
	Missing int `json:"missing,omitempty"`
	// Grant is the consent to further calls that was given, or taken back.
	Grant *GrantEntry `json:"grant,omitempty"`
}

// GrantEntry is a consent to further calls of a tool in an [Entry].
type GrantEntry struct {
	ID string `json:"id"`
	// Resource, Calls and Until are what bounds it, if they do.
	Resource string     `json:"resource,omitempty"`
	Calls    int        `json:"calls,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
}

// Decided is a rule of a policy that decided about a call.
type Decided struct {
	Verdict Verdict `json:"verdict"`
	Rule    string  `json:"rule"`
	Place   string  `json:"place,omitempty"`
}

// Report has an auditor told of all that is asked of the broker. It is called before
// the broker is used.
func (b *Broker) Report(auditor Auditor) { b.auditor = auditor }

// Note tells the auditor of something that was asked on behalf of a scope. What it
// says is redacted.
func (b *Broker) Note(scope Scope, e Entry) { _ = b.note(scope, e) }

// Record is Note for those who must know that it was recorded.
func (b *Broker) Record(scope Scope, e Entry) error { return b.note(scope, e) }

func (b *Broker) note(scope Scope, e Entry) error {
	if b.auditor == nil {
		return nil
	}
	secrets := CallSecrets{from: b.secrets, scope: scope}
	e.Tenant, e.User, e.Roles, e.Thread, e.Agent, e.Mode = scope.Tenant, scope.User, scope.Roles, scope.Thread, scope.Agent, scope.Mode
	e.Tool, e.Resource = plain(secrets.text(e.Tool), 2*MaxID), secrets.text(e.Resource)
	e.Message = plain(secrets.text(e.Message), maxMessage)
	asked := make([]string, 0, len(e.Asked))
	for _, text := range e.Asked {
		asked = append(asked, plain(secrets.text(text), maxAsked))
	}
	e.Asked = asked
	e.Decision = e.Decision.redacted(secrets)
	err := b.auditor.Audit(e)
	if err != nil {
		slog.Error("catalog: the audit log lacks an entry", "kind", e.Kind, "tool", e.Tool, "error", err)
	}
	return err
}

// redacted is a decision without secrets. Who decided and why is what a person wrote.
func (d *Decision) redacted(secrets CallSecrets) *Decision {
	if d == nil {
		return nil
	}
	clean := *d
	clean.By, clean.Comment = plain(secrets.text(d.By), maxMessage), plain(secrets.text(d.Comment), maxMessage)
	if d.Grant != nil {
		grant := *d.Grant
		grant.Resource = secrets.text(grant.Resource)
		clean.Grant = &grant
	}
	return &clean
}

// maxAsked bounds what a search looked for in an entry, in bytes.
const maxAsked = 200

func decidedBy(r Ruling) *Decided {
	if r.Verdict == VerdictNone {
		return nil
	}
	return &Decided{r.Verdict, r.Rule, r.Place}
}

// notePlan tells of a plan.
func (b *Broker) notePlan(scope Scope, req Request, p Plan, began time.Time) {
	if b.auditor == nil {
		return
	}
	e := Entry{
		Kind: EntryPlan, Tool: req.Tool, Operation: p.Operation, Resource: p.ResourceKey, NeedsApproval: p.NeedsApproval, Policy: p.Policy,
		DescriptorDigest: p.DescriptorDigest, InputDigest: p.InputDigest, InputBytes: len(req.Input),
		DurationMS: time.Since(began).Milliseconds(),
	}
	e.failed(p.Error)
	b.Note(scope, e)
}

// noteBegin tells of a write that is about to be made; one that cannot be told of is
// not made.
func (b *Broker) noteBegin(req Request, plan Plan, c *call) func(context.Context) error {
	switch {
	case c.tool.Operation != Write:
		return nil
	case b.auditor == nil:
		return req.Before
	}
	return func(ctx context.Context) error {
		e := entryOf(req, plan)
		e.Kind, e.Operation, e.Resource, e.Policy = EntryBegin, c.tool.Operation, c.resource, decidedBy(c.ruling)
		if err := b.note(c.scope, e); err != nil {
			return err
		}
		if req.Before != nil {
			return req.Before(ctx)
		}
		return nil
	}
}

// noteCall tells how a call ended. There is no call where it was refused.
func (b *Broker) noteCall(scope Scope, req Request, plan Plan, c *call, o Outcome, began time.Time) {
	if b.auditor == nil {
		return
	}
	e := entryOf(req, plan)
	e.Kind, e.OutputBytes, e.DurationMS = EntryCall, len(o.Result), time.Since(began).Milliseconds()
	if c != nil {
		e.Operation, e.Resource, e.Policy = c.tool.Operation, c.resource, decidedBy(c.ruling)
	}
	e.failed(o.Error)
	b.Note(scope, e)
}

func entryOf(req Request, plan Plan) Entry {
	return Entry{
		Tool: req.Tool, Approved: plan.NeedsApproval, Granted: plan.Granted, IdempotencyKey: req.IdempotencyKey,
		DescriptorDigest: plan.DescriptorDigest, InputDigest: plan.InputDigest, InputBytes: len(req.Input),
	}
}

// failed takes in an error. Of a block the rule stands in its details.
func (e *Entry) failed(err *Error) {
	if err == nil {
		return
	}
	e.Code, e.Message, e.Effect = err.Code, err.Message, err.Effect
	if e.Policy == nil {
		e.Policy = blockedBy(err)
	}
}

// blockedBy is the rule that an error tells of, if it is that of a block.
func blockedBy(err *Error) *Decided {
	rule := Decided{Verdict: VerdictBlock}
	if err.Code != CodePolicyBlocked || json.Unmarshal(err.Details, &rule) != nil {
		return nil
	}
	return &rule
}
