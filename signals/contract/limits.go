package contract

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Sizes, in bytes.
const (
	// MaxText bounds a submission's text.
	MaxText = 64 << 10
	// MaxInline bounds a value that stands in history itself; a longer one
	// travels by reference.
	MaxInline = 64 << 10
	// MaxPreview bounds an approval's preview.
	MaxPreview = 4 << 10
	// MaxPartText bounds the text of a timeline part.
	MaxPartText = 1 << 10
	// MaxComment bounds a decision's comment.
	MaxComment = 2 << 10
	// MaxQuestion bounds the words of a question, MaxQuestionSchema its schema,
	// MaxQuestionURL its URL and MaxAnswer the content of its answer.
	MaxQuestion       = 2 << 10
	MaxQuestionSchema = 16 << 10
	MaxQuestionURL    = 8 << 10
	MaxAnswer         = 16 << 10
	// MaxThreadPolicy bounds the rules of a thread, and MaxPromptPolicy those of a
	// message, as JSON.
	MaxThreadPolicy = 4 << 10
	MaxPromptPolicy = 512
	// MaxReason bounds the reason of a cancel or a close.
	MaxReason = 1 << 10
)

// Counts.
const (
	// MaxQueue bounds the turns that may wait in a thread.
	MaxQueue = 32
	// MaxParts bounds a page of the timeline.
	MaxParts = 200
	// MaxTools bounds the tools of a list.
	MaxTools = 2000
	// MaxReconciliations bounds the open reconciliations of a thread: with so many it
	// makes no further write.
	MaxReconciliations = 8
	// MaxGrants bounds the grants that a thread has at one time.
	MaxGrants = 32
	// MaxGrantCalls bounds the calls of a grant that has a number.
	MaxGrantCalls = 1_000_000
	// MaxRoles bounds the roles of a user.
	MaxRoles = 32
)

// Validate names the first field that is wrong.
func (r ThreadRef) Validate() error {
	if err := validID("tenant", r.Tenant, 64); err != nil {
		return err
	}
	return validID("thread", r.Thread, 128)
}

// Validate names the first field that is wrong.
func (s Start) Validate() error {
	if err := s.ThreadRef.Validate(); err != nil {
		return err
	}
	if err := validID("agent", s.Agent, 64); err != nil {
		return err
	}
	if err := validText("user", s.User, 128); err != nil {
		return err
	}
	if len(s.Roles) > MaxRoles {
		return fmt.Errorf("roles: %d roles, at most %d are allowed", len(s.Roles), MaxRoles)
	}
	for i, role := range s.Roles {
		if err := validID(fmt.Sprintf("roles[%d]", i), role, 64); err != nil {
			return err
		}
	}
	if s.Mode != "" {
		if err := validID("mode", s.Mode, 64); err != nil {
			return err
		}
	}
	if err := s.TurnLimits.validate("turn_limits"); err != nil {
		return err
	}
	if err := s.ThreadLimits.validate("thread_limits"); err != nil {
		return err
	}
	if len(s.PromptPolicy) > 0 {
		return fmt.Errorf("prompt_policy: is set by the thread; give the rules of a message with it")
	}
	return validPolicy(s.Policy, MaxThreadPolicy)
}

// validPolicy checks the form of rules. Whether their conditions and patterns can be
// used the workers say, when a turn begins.
func validPolicy(rules []Rule, most int) error {
	for i, r := range rules {
		switch r.Effect {
		case "allow", "ask", "block":
		default:
			return fmt.Errorf("policy[%d].effect: %q, want allow, ask or block", i, r.Effect)
		}
		if r.Approvers < 0 || r.Approvers > 0 && r.Effect != "ask" {
			return fmt.Errorf("policy[%d].approvers: %d, want 0 or more, and only of a rule that asks", i, r.Approvers)
		}
	}
	encoded, err := json.Marshal(rules)
	if err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	if len(rules) > 0 && len(encoded) > most {
		return fmt.Errorf("policy: is %d bytes long, at most %d are allowed", len(encoded), most)
	}
	return nil
}

func (l *Limits) validate(field string) error {
	if l == nil {
		return nil
	}
	for _, one := range []struct {
		name  string
		value int64
	}{
		{"steps", int64(l.Steps)},
		{"calls", int64(l.Calls)},
		{"tokens", l.Tokens},
		{"cost_micros", l.CostMicros},
		{"input_bytes", l.InputBytes},
		{"output_bytes", l.OutputBytes},
		{"time_ms", l.TimeMS},
	} {
		if one.value < 0 {
			return fmt.Errorf("%s.%s: %d is negative; 0 is no bound", field, one.name, one.value)
		}
	}
	return nil
}

// Validate names the first field that is wrong.
func (s Submission) Validate() error {
	if err := validID("id", s.ID, 64); err != nil {
		return err
	}
	if s.Text == "" {
		return fmt.Errorf("text: is empty")
	}
	switch s.Run {
	case "", RunSnippet, RunDry, RunCall:
	case RunUndo:
		if err := validID("text", s.Text, 64); err != nil {
			return fmt.Errorf("%w; want the id of the turn that is to be undone", err)
		}
	default:
		return fmt.Errorf("run: %q, want %q, %q, %q, %q or nothing", s.Run, RunSnippet, RunDry, RunCall, RunUndo)
	}
	if err := s.validScript(); err != nil {
		return err
	}
	if err := s.validCall(); err != nil {
		return err
	}
	if err := validText("text", s.Text, MaxText); err != nil {
		return err
	}
	if err := validPolicy(s.Policy, MaxPromptPolicy); err != nil {
		return err
	}
	return validText("user", s.User, 128)
}

func (s Submission) validScript() error {
	switch {
	case s.Script == "":
		return nil
	case s.Run != RunSnippet && s.Run != RunDry:
		return fmt.Errorf("script: needs run: %q or %q", RunSnippet, RunDry)
	case !json.Valid([]byte(s.Text)):
		return fmt.Errorf("text: is no JSON, as the input of a script has to be")
	}
	return validID("script", s.Script, 64)
}

func (s Submission) validCall() error {
	var input map[string]json.RawMessage
	switch {
	case s.Run != RunCall && s.Tool == "":
		return nil
	case s.Run != RunCall:
		return fmt.Errorf("tool: needs run: %q", RunCall)
	case s.Tool == "":
		return fmt.Errorf("tool: is empty; want the id of the tool to call")
	case json.Unmarshal([]byte(s.Text), &input) != nil || input == nil:
		return fmt.Errorf("text: is no JSON object, as the input of a tool has to be")
	}
	return validText("tool", s.Tool, 128)
}

// Validate names the first field that is wrong.
func (d Decision) Validate() error {
	if err := validID("approval", d.Approval, 128); err != nil {
		return err
	}
	if d.Verdict != Approve && d.Verdict != Deny && d.Verdict != Edit {
		return fmt.Errorf("verdict: %q, want %q, %q or %q", d.Verdict, Approve, Deny, Edit)
	}
	if err := d.validConsent(); err != nil {
		return err
	}
	if d.Digest == "" {
		return fmt.Errorf("digest: is empty; quote the digest of the approval that was shown")
	}
	if err := validText("digest", d.Digest, 128); err != nil {
		return err
	}
	if err := validText("by", d.By, 128); err != nil {
		return err
	}
	return validText("comment", d.Comment, MaxComment)
}

// validConsent checks what a decision holds beside its verdict.
func (d Decision) validConsent() error {
	switch {
	case d.Verdict == Edit && len(d.Input) == 0:
		return fmt.Errorf("input: is empty; an edit holds the whole input")
	case d.Verdict != Edit && len(d.Input) > 0:
		return fmt.Errorf("input: only the verdict %q has one", Edit)
	case len(d.Input) > MaxInline:
		return fmt.Errorf("input: is %d bytes long, at most %d are allowed", len(d.Input), MaxInline)
	case d.Grant != nil && d.Verdict != Approve:
		return fmt.Errorf("grant: only the verdict %q has one", Approve)
	case d.Grant != nil:
		return d.Grant.validate()
	}
	return nil
}

func (g GrantTerms) validate() error {
	if g.Calls < 0 || g.Calls > MaxGrantCalls {
		return fmt.Errorf("grant.calls: %d, want 0 to %d", g.Calls, MaxGrantCalls)
	}
	return validText("grant.resource", g.Resource, 256)
}

// Validate names the first field that is wrong.
func (r Reconcile) Validate() error {
	if err := validID("reconciliation", r.Reconciliation, 128); err != nil {
		return err
	}
	switch {
	case r.Finding != FindingApplied && r.Finding != FindingNotApplied && r.Finding != FindingAbandoned:
		return fmt.Errorf("finding: %q, want %q, %q or %q", r.Finding, FindingApplied, FindingNotApplied, FindingAbandoned)
	case r.Finding != FindingApplied && len(r.Result) > 0:
		return fmt.Errorf("result: only the finding %q has one", FindingApplied)
	case len(r.Result) > MaxInline:
		return fmt.Errorf("result: is %d bytes long, at most %d are allowed", len(r.Result), MaxInline)
	case len(r.Result) > 0 && !json.Valid(r.Result):
		return fmt.Errorf("result: is not valid JSON")
	}
	if err := validText("by", r.By, 128); err != nil {
		return err
	}
	return validText("comment", r.Comment, MaxComment)
}

// Validate names the first field that is wrong.
func (r RevokeGrant) Validate() error {
	if err := validID("grant", r.Grant, 64); err != nil {
		return err
	}
	if err := validText("by", r.By, 128); err != nil {
		return err
	}
	return validText("reason", r.Reason, MaxReason)
}

// Validate names the first field that is wrong.
func (m SetMode) Validate() error {
	if m.Mode != "" {
		if err := validID("mode", m.Mode, 64); err != nil {
			return err
		}
	}
	if err := validText("by", m.By, 128); err != nil {
		return err
	}
	return validText("reason", m.Reason, MaxReason)
}

// Validate names the first field that is wrong.
func (c CancelTurn) Validate() error {
	if c.Turn != "" {
		if err := validID("turn", c.Turn, 128); err != nil {
			return err
		}
	}
	return validText("reason", c.Reason, MaxReason)
}

// Validate names the first field that is wrong.
func (c Close) Validate() error { return validText("reason", c.Reason, MaxReason) }

// Validate names the first field that is wrong.
func (q TimelineQuery) Validate() error {
	if q.After < 0 {
		return fmt.Errorf("after: %d is negative", q.After)
	}
	if q.Limit < 0 || q.Limit > MaxParts {
		return fmt.Errorf("limit: %d, want 0 to %d", q.Limit, MaxParts)
	}
	return nil
}

// Validate names the first field that is wrong.
func (q TranscriptQuery) Validate() error {
	if q.From < 0 {
		return fmt.Errorf("from: %d is negative", q.From)
	}
	if q.To != 0 && q.To < q.From {
		return fmt.Errorf("to: %d is less than from, %d", q.To, q.From)
	}
	return nil
}

func validID(field, id string, limit int) error {
	if id == "" {
		return fmt.Errorf("%s: is empty", field)
	}
	if len(id) > limit {
		return fmt.Errorf("%s: is %d characters long, at most %d are allowed", field, len(id), limit)
	}
	for _, r := range id {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		default:
			return fmt.Errorf("%s: %q is not allowed in %q; use A-Z a-z 0-9 . _ -", field, r, id)
		}
	}
	return nil
}

func validText(field, text string, limit int) error {
	if len(text) > limit {
		return fmt.Errorf("%s: is %d bytes long, at most %d are allowed", field, len(text), limit)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s: is not valid UTF-8", field)
	}
	return nil
}
