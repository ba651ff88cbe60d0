package workflows

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/signals/contract"
)

var (
	tenantKey  = temporal.NewSearchAttributeKeyKeyword(contract.AttributeTenant)
	agentKey   = temporal.NewSearchAttributeKeyKeyword(contract.AttributeAgent)
	statusKey  = temporal.NewSearchAttributeKeyKeyword(contract.AttributeStatus)
	pendingKey = temporal.NewSearchAttributeKeyKeywordList(contract.AttributePending)
)

// searchable is what the search attributes say.
type searchable struct {
	status  string
	pending pending
}

// pending says what waits for a person.
type pending struct{ approvals, questions, reconciliations bool }

// kinds are the parts that wait, for the search attribute.
func (p pending) kinds() []string {
	kinds := []string{}
	if p.approvals {
		kinds = append(kinds, string(contract.KindApproval))
	}
	if p.questions {
		kinds = append(kinds, string(contract.KindQuestion))
	}
	if p.reconciliations {
		kinds = append(kinds, string(contract.KindReconciliation))
	}
	return kinds
}

// label makes the thread findable where its starter did not.
func (t *thread) label() {
	// They are looked at undecoded: another client may have set them in a form that
	// the SDK decodes with a panic, which would stop the thread for good.
	//lint:ignore SA1019 the typed form is the one that panics
	present := t.info.SearchAttributes.GetIndexedFields()
	if present[contract.AttributeTenant] != nil && present[contract.AttributeAgent] != nil && present[contract.AttributeStatus] != nil {
		return
	}
	err := workflow.UpsertTypedSearchAttributes(t.ctx,
		tenantKey.ValueSet(t.start.Tenant), agentKey.ValueSet(t.start.Agent), statusKey.ValueSet(contract.SearchActive))
	if err != nil {
		t.log.Error("cannot set the search attributes", "error", err)
	}
}

// show brings the Temporal UI up to date: the workflow's current details, which
// cost nothing, and the search attributes, which cost an event and so change
// only when a saved query would find another set of threads.
func (t *thread) show() {
	workflow.SetCurrentDetails(t.ctx, t.details())
	now := searchable{status: t.searchStatus(), pending: t.pending()}
	if now == t.shown {
		return
	}
	updates := []temporal.SearchAttributeUpdate{statusKey.ValueSet(now.status)}
	if now.pending != t.shown.pending {
		updates = append(updates, pendingKey.ValueSet(now.pending.kinds()))
	}
	if err := workflow.UpsertTypedSearchAttributes(t.ctx, updates...); err != nil {
		t.log.Error("cannot update the search attributes", "error", err)
		return
	}
	t.shown = now
}

func (t *thread) pending() pending {
	asked, _ := t.asks()
	return pending{approvals: len(t.approvals) > 0, questions: len(t.questions) > 0, reconciliations: asked > 0}
}

func (t *thread) searchStatus() string {
	switch {
	case t.closed:
		return contract.SearchClosed
	case t.pending() != pending{}:
		return contract.SearchWaiting
	case t.current == nil && len(t.recent) > 0 && t.recent[len(t.recent)-1].Status == contract.StatusFailed:
		return contract.SearchFailed
	}
	return contract.SearchActive
}

// maxDetails is about how many bytes the details may have; the server's own limit
// is 20,000.
const maxDetails = 12 << 10

// details tells a person in the Temporal UI what the thread is doing and, if it
// waits for someone, how to answer.
func (t *thread) details() string {
	var d strings.Builder
	fmt.Fprintf(&d, "**%s** for `%s`: %s\n", t.start.Agent, t.start.ThreadRef, t.sentence())
	for i, ap := range t.approvals {
		if d.Len() > maxDetails {
			fmt.Fprintf(&d, "\n%s more; the query `%s` has them all.\n", plural(len(t.approvals)-i, "approval"), contract.QueryState)
			break
		}
		fmt.Fprintf(&d, "\n### Approve `%s`?\n\n", ap.Tool)
		if ap.Reason != "" {
			fmt.Fprintf(&d, "Asked because %s. ", ap.Reason)
		}
		fmt.Fprintf(&d, "Expires %s.\n\n```json\n%s\n```\n\n", ap.ExpiresAt.UTC().Format(time.RFC1123), cut(indented(ap.Preview), contract.MaxPreview))
		if ap.Does != "" {
			fmt.Fprintf(&d, "It does:\n\n```\n%s\n```\n\n", cut(ap.Does, contract.MaxPartText))
		}
		if ap.Changed != "" {
			fmt.Fprintf(&d, "The tool has changed since people were asked about it:\n\n```diff\n%s\n```\n\n", cut(unfenced(ap.Changed), contract.MaxPartText))
		}
		if ap.Approvers > 0 {
			fmt.Fprintf(&d, "%s who did not ask must agree; %d missing.\n\n", people(ap.Approvers), ap.missing())
		}
		fmt.Fprintf(&d, "To decide, send the signal `%s` with `approve` or `deny`:\n\n"+
			"```json\n{\n  \"approval\": %q,\n  \"digest\": %q,\n  \"verdict\": \"approve\",\n  \"by\": \"...\"\n}\n```\n",
			contract.SignalApproval, ap.ID, ap.Digest)
	}
	for _, r := range t.doubts {
		r.describe(&d)
	}
	t.detailQuestions(&d)
	for _, c := range t.keyed {
		if c.waits() && d.Len() <= maxDetails {
			fmt.Fprintf(&d, "\nCall %s (`%s`) waits: %s.\n", c.planned.ID, c.planned.Tool, cut(c.place.lock.String(), contract.MaxPartText))
		}
	}
	if n := len(t.queue); n > 0 {
		fmt.Fprintf(&d, "\n%s in the queue.\n", plural(n, "message"))
	}
	return d.String()
}

// describe tells a person what to find out, and how to answer.
func (r *reconciliation) describe(d *strings.Builder) {
	if !r.asked() || d.Len() > maxDetails {
		return
	}
	fmt.Fprintf(d, "\n### Was `%s` applied?\n\n%s. Look at the target", r.Tool, r.Reason)
	if r.Key != "" {
		fmt.Fprintf(d, " for the idempotency key `%s`", r.Key)
	}
	fmt.Fprintf(d, ", then send the signal `%s` with `%s` and the result, `%s` or `%s`:\n\n"+
		"```json\n{\n  \"reconciliation\": %q,\n  \"finding\": \"applied\",\n  \"result\": null,\n  \"by\": \"...\"\n}\n```\n",
		contract.SignalReconcile, contract.FindingApplied, contract.FindingNotApplied, contract.FindingAbandoned, r.ID)
}

// detailQuestions says what is asked, and how to answer.
func (t *thread) detailQuestions(d *strings.Builder) {
	for i, q := range t.questions {
		if d.Len() > maxDetails {
			fmt.Fprintf(d, "\n%s more; the query `%s` has them all.\n", plural(len(t.questions)-i, "question"), contract.QueryState)
			return
		}
		fmt.Fprintf(d, "\n### `%s` asks\n\n%s asks until %s:\n\n```\n%s\n```\n\n",
			q.Tool, q.From, q.ExpiresAt.UTC().Format(time.RFC1123), cut(unfenced(q.Message), contract.MaxPartText))
		content := ""
		if len(q.Schema) > 0 {
			fmt.Fprintf(d, "The content of the answer:\n\n```json\n%s\n```\n\n", cut(unfenced(indented(q.Schema)), contract.MaxPreview))
			content = "\n  \"content\": {...},"
		}
		if q.URL != "" {
			fmt.Fprintf(d, "To be done at:\n\n```\n%s\n```\n\n", cut(unfenced(q.URL), contract.MaxPreview))
		}
		fmt.Fprintf(d, "To answer, send the signal `%s` with `accept` or `decline`:\n\n"+
			"```json\n{\n  \"question\": %q,\n  \"action\": \"accept\",%s\n  \"by\": \"...\"\n}\n```\n", contract.SignalAnswer, q.ID, content)
	}
}

// unfenced keeps what others say within the block of text that it is shown in.
func unfenced(text string) string { return strings.ReplaceAll(text, "```", "'''") }

func (t *thread) sentence() string {
	_, waited := t.asks()
	switch {
	case t.closed:
		return "closed."
	case t.current != nil && len(t.approvals) > 0 && len(t.questions) > 0:
		return fmt.Sprintf("turn %s waits for %s and %s.", t.current.ID, plural(len(t.approvals), "approval"), plural(len(t.questions), "answer"))
	case t.current != nil && len(t.approvals) > 0:
		return fmt.Sprintf("turn %s waits for %s.", t.current.ID, plural(len(t.approvals), "approval"))
	case t.current != nil && waited > 0:
		return fmt.Sprintf("turn %s waits for someone to find out about %s.", t.current.ID, plural(waited, "write"))
	case t.current != nil && len(t.questions) > 0:
		return fmt.Sprintf("turn %s waits for %s.", t.current.ID, plural(len(t.questions), "answer"))
	case t.current != nil:
		return fmt.Sprintf("turn %s, step %d.", t.current.ID, t.current.Steps)
	case len(t.recent) > 0:
		last := t.recent[len(t.recent)-1]
		if last.Problem != nil {
			return fmt.Sprintf("idle; turn %s %s: %s", last.ID, last.Status, cut(last.Problem.Message, 200))
		}
		return fmt.Sprintf("idle; turn %s %s.", last.ID, last.Status)
	}
	return "idle."
}

// indented lays compact JSON out in lines. It does what json.Indent does, without
// the pools that would make that nondeterministic in the eyes of the checker.
func indented(compact []byte) string {
	var out strings.Builder
	depth, quoted, escaped := 0, false, false
	for i, c := range compact {
		switch {
		case quoted:
			out.WriteByte(c)
			quoted = escaped || c != '"'
			escaped = !escaped && c == '\\'
		case c == '{' || c == '[':
			out.WriteByte(c)
			if next := i + 1; next < len(compact) && compact[next] != c+2 { // } is { + 2, ] is [ + 2
				depth++
				newLine(&out, depth)
			}
		case c == '}' || c == ']':
			if compact[i-1] != c-2 {
				depth--
				newLine(&out, depth)
			}
			out.WriteByte(c)
		case c == ',':
			out.WriteByte(c)
			newLine(&out, depth)
		case c == ':':
			out.WriteString(": ")
		default:
			out.WriteByte(c)
			quoted = c == '"'
		}
	}
	return out.String()
}

func newLine(out *strings.Builder, depth int) {
	out.WriteByte('\n')
	for range depth {
		out.WriteString("  ")
	}
}
