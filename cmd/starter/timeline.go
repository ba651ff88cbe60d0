package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/signals/contract"
)

// labelColumns is the width of the column that names a part's kind.
const labelColumns = 9

// timeline draws the parts of a thread as they come: a line for each part when
// it is settled, and on a terminal one passing line for what runs.
type timeline struct {
	out    io.Writer
	screen screen
	now    func() time.Time
	agent  string
	// turn is the turn whose answer is printed by the caller, if any.
	turn string
	// drawn is the status in which a part was last drawn.
	drawn map[string]contract.PartStatus
	// reads are settled calls of a batch that is not drawn yet.
	reads []contract.Part
	// problem is what was said last to be wrong; it is not said twice.
	problem string
	// passing says that the cursor stands on a passing line.
	passing bool
	// asking says that it stands behind a question.
	asking bool
	// quoting says that what waits for a person is shown with its input and digest.
	// Where the person is asked, the question shows the input.
	quoting bool
	// held is the agent's newest message. It is drawn when something follows; the
	// last one is the answer, which is printed whole.
	held *contract.Part
}

func newTimeline(out io.Writer, s screen, agent string) *timeline {
	return &timeline{
		out: out, screen: s, now: time.Now, agent: cmp.Or(agent, "agent"),
		drawn: map[string]contract.PartStatus{},
	}
}

// show draws what is new about a part.
func (t *timeline) show(p contract.Part) {
	if t.drawn[p.ID] == p.Status {
		if p.Status == contract.PartRunning && p.Progress != nil && t.held == nil {
			t.pass("… " + cut(clean(cmp.Or(p.Tool, p.Title)+" "+soFar(*p.Progress)), t.screen.width-4))
		}
		return
	}
	begun := t.drawn[p.ID] != ""
	t.drawn[p.ID] = p.Status
	switch {
	case p.Kind == contract.KindMessage && p.Role == contract.RoleAssistant:
		t.release()
		t.held = &p
	case p.Status == contract.PartRunning:
		t.begin(p)
	case p.Kind == contract.KindCall && p.Status == contract.PartWaiting:
		// Its approval, or its question, says so.
	case p.Kind == contract.KindCall && p.Parent != p.Turn && t.drawn[p.Parent] == "":
		t.reads = append(t.reads, p)
	case p.Kind == contract.KindBatch && begun && p.Status == contract.PartDone:
		// Its calls have said so.
	case p.Kind == contract.KindMilestone && p.ID == t.turn:
		t.settled(p)
	case p.Kind == contract.KindBatch:
		t.release()
		t.settled(p)
		t.drawReads()
	default:
		t.release()
		t.drawReads()
		t.settled(p)
	}
}

// begin draws a part that runs: the head of a batch, and else a passing line.
func (t *timeline) begin(p contract.Part) {
	switch p.Kind {
	case contract.KindMilestone:
	case contract.KindBatch:
		t.release()
		t.row(row{glyph: "·", label: "reads", text: p.Title})
	case contract.KindExecute:
		t.release()
		t.row(row{glyph: "·", label: string(p.Kind), text: p.Title})
	default:
		t.release()
		t.pass("… " + cut(clean(cmp.Or(p.Tool, p.Title)), t.screen.width-4))
	}
}

// soFar says how far a part has come.
func soFar(p contract.Progress) string {
	text := fmt.Sprint(p.Done)
	if p.Total > 0 {
		text += fmt.Sprintf("/%d", p.Total)
	}
	return strings.TrimSpace(text + " " + p.Message)
}

// settled draws a part that has ended, or waits for a person.
func (t *timeline) settled(p contract.Part) {
	glyph, colour := mark(p.Status)
	r := row{glyph: glyph, colour: colour, label: string(p.Kind), text: p.Title, meta: t.duration(p)}
	switch p.Kind {
	case contract.KindMessage:
		r = row{glyph: "●", colour: cyan, label: cmp.Or(string(p.Role), "message"), body: p.Text}
	case contract.KindModel:
		r.meta = append(r.meta, tokens(p.Usage)...)
	case contract.KindBatch:
		r.label = "reads"
	case contract.KindCall:
		r.text, r.body = p.Tool, p.Text
		if p.Parent != p.Turn {
			r.indent, r.label = labelColumns+1, ""
		}
	case contract.KindApproval:
		r.text, r.body = t.approval(p)
	case contract.KindReconciliation:
		r.text, r.body = reconciliation(p)
	case contract.KindQuestion:
		r.text, r.body = t.questioning(p)
	case contract.KindMilestone:
		r.label, r.body, r.meta = "note", p.Text, append(r.meta, tokens(p.Usage)...)
		if p.ID == p.Turn {
			r.label = "turn"
		}
	case contract.KindSources:
		r.body = sources(p.Sources)
	case contract.KindError:
		r.body = p.Text
	}
	t.row(r)
	if t.quoting && p.Status == contract.PartWaiting && p.Approval != nil {
		t.quote(*p.Approval)
	}
	if p.Status == contract.PartWaiting && p.Question != nil {
		t.question(*p.Question)
	}
	if p.Problem != nil && p.Kind != contract.KindApproval && p.Problem.Message != t.problem {
		t.problem = p.Problem.Message
		t.block(t.problem, plain)
	}
}

// sources says what has become of sources of tools.
func sources(states []contract.SourceState) string {
	var lines []string
	for _, s := range states {
		switch {
		case s.Unread != "":
			lines = append(lines, s.Source+": "+s.Unread)
		case s.Recovered:
			lines = append(lines, s.Source+": can be read again")
		}
		for _, reason := range s.Reasons {
			lines = append(lines, s.Source+": left out: "+reason)
		}
		if more := s.LeftOut - len(s.Reasons); more > 0 {
			lines = append(lines, fmt.Sprintf("%s: left out: %d more", s.Source, more))
		}
	}
	return strings.Join(lines, "\n")
}

// drawReads draws the calls that came before their batch did.
func (t *timeline) drawReads() {
	reads := t.reads
	t.reads = nil
	for _, read := range reads {
		t.settled(read)
	}
}

// approval says what a part waits for, or how it was decided.
func (t *timeline) approval(p contract.Part) (text, body string) {
	by := ""
	if d := p.Decision; d != nil {
		body = d.Comment
		if d.By != "" {
			by = " by " + d.By
		}
	}
	switch p.Status {
	case contract.PartWaiting:
		return p.Tool + " waits for a person, " + t.expiry(p.Approval), ""
	case contract.PartDone:
		return p.Tool + " approved" + by, body
	case contract.PartDenied:
		return p.Tool + " denied" + by, body
	case contract.PartExpired:
		return p.Tool + " expired without a decision", ""
	default:
		return p.Tool + " withdrawn", ""
	}
}

// reconciliation says what a person must find out about, or what was found.
func reconciliation(p contract.Part) (text, body string) {
	switch {
	case p.Reconciliation != nil && p.Status == contract.PartWaiting:
		text = "was " + p.Tool + " applied? find out, and say so: starter reconcile <thread>/" + p.ID
		if p.Reconciliation.Key != "" {
			body = "idempotency key: " + p.Reconciliation.Key + "\n"
		}
		return text, body + p.Reconciliation.Reason
	case p.Finding != nil:
		if text = p.Title; p.Finding.By != "" {
			text += ", found by " + p.Finding.By
		}
		return text, p.Finding.Comment
	}
	return p.Title, p.Text
}

// quote shows the input of a call that waits, and the digest that a decision
// quotes: on a line of its own, unbroken, so that it can be copied.
func (t *timeline) quote(a contract.Approval) {
	t.details(a)
	t.block(preview(a, 0), plain)
	if a.Approvers > 0 {
		t.lines([]string{fmt.Sprintf("%s must agree, none of them who asked; %d have", count(a.Approvers, "other"), len(a.Votes))}, plain)
	}
	t.lines([]string{"digest: " + clean(a.Digest)}, plain)
}

// details show what is to be known of a call that waits besides its input: what it does,
// and how its tool has changed.
func (t *timeline) details(a contract.Approval) {
	if a.Does != "" {
		t.block(a.Does, bold)
	}
	if a.Changed != "" {
		t.block("the tool has changed since people were asked about it:\n"+a.Changed, bold)
	}
}

// expiry says when an approval expires.
func (t *timeline) expiry(a *contract.Approval) string {
	if a == nil {
		return "without a deadline"
	}
	return t.until(a.ExpiresAt)
}

// until says when something expires.
func (t *timeline) until(at time.Time) string {
	left := at.Sub(t.now())
	if left <= 0 {
		return "expiring now"
	}
	return fmt.Sprintf("expires in %s (%s)", brief(left), at.Local().Format("Mon 2 Jan 15:04"))
}

func mark(status contract.PartStatus) (glyph string, colour style) {
	switch status {
	case contract.PartDone:
		return "✓", green
	case contract.PartWaiting:
		return "?", yellow
	case contract.PartFailed:
		return "✗", red
	case contract.PartDenied, contract.PartExpired:
		return "✗", yellow
	case contract.PartCancelled:
		return "-", dim
	default:
		return "·", dim
	}
}

// row is a line of the timeline, and what stands under it.
type row struct {
	indent             int
	glyph, label, text string
	colour             style
	meta               []string
	// body is drawn under the line, or beside the label where there is no text.
	body string
}

func (t *timeline) row(r row) {
	t.wipe()
	lead := strings.Repeat(" ", r.indent) + t.screen.paint(r.colour, r.glyph) + " "
	if r.label != "" {
		label := cut(clean(r.label), labelColumns)
		lead += label + strings.Repeat(" ", labelColumns-columns(label)) + " "
	}
	meta := strings.Join(r.meta, " · ")
	room := t.room()
	if meta != "" {
		room = max(room-columns(meta)-2, minWidth/2)
	}
	var lines []string
	if r.text == "" || r.body != "" {
		lines = wrap(clean(r.body), room)
	}
	if r.text == "" {
		r.text, lines = lines[0], lines[1:]
	}
	text := cut(clean(r.text), room)
	if meta != "" {
		text += t.screen.paint(dim, "  "+meta)
	}
	fmt.Fprintln(t.out, lead+text)
	t.lines(lines, plain)
}

// room is the number of columns beside the labels.
func (t *timeline) room() int { return max(t.screen.width, minWidth) - labelColumns - 3 }

// block prints text under the line above, beside the labels.
func (t *timeline) block(text string, st style) {
	t.wipe()
	t.lines(wrap(clean(text), t.room()), st)
}

func (t *timeline) lines(lines []string, st style) {
	for _, line := range lines {
		fmt.Fprintln(t.out, strings.TrimRight(strings.Repeat(" ", labelColumns+3)+t.screen.paint(st, line), " "))
	}
}

// say prints words of the agent.
func (t *timeline) say(text string) {
	t.row(row{glyph: "◆", colour: cyan, label: t.agent, body: cmp.Or(text, "(nothing)")})
}

// release draws the message that was held back.
func (t *timeline) release() {
	if t.held != nil && t.held.Text != "" {
		t.say(t.held.Text)
	}
	t.held = nil
}

// pass shows a line that the next one replaces.
func (t *timeline) pass(text string) {
	if t.screen.terminal {
		t.wipe()
		fmt.Fprint(t.out, t.screen.paint(dim, text))
		t.passing = true
	}
}

// ask prints a question and leaves the cursor behind it.
func (t *timeline) ask(question string) {
	t.wipe()
	fmt.Fprint(t.out, t.screen.paint(yellow, question))
	t.asking = true
}

// wipe makes room for a line: it removes a passing one, and leaves a question
// where it is.
func (t *timeline) wipe() {
	if t.asking {
		fmt.Fprintln(t.out)
		t.asking = false
	}
	if t.passing {
		fmt.Fprint(t.out, "\r\x1b[K")
		t.passing = false
	}
}

func (t *timeline) duration(p contract.Part) []string {
	d := time.Duration(p.DurationMS) * time.Millisecond
	if d == 0 && p.EndedAt != nil {
		d = p.EndedAt.Sub(p.StartedAt)
	}
	if d < time.Millisecond {
		return nil
	}
	return []string{brief(d)}
}

func tokens(u *contract.Usage) []string {
	var meta []string
	if u == nil {
		return nil
	}
	if u.InputTokens+u.OutputTokens > 0 {
		meta = append(meta, fmt.Sprintf("%d tokens in, %d out", u.InputTokens, u.OutputTokens))
	}
	if u.CostMicros > 0 {
		meta = append(meta, fmt.Sprintf("$%.4f", float64(u.CostMicros)/1e6))
	}
	return meta
}

// brief writes a duration with two units at most, such as 840ms, 2.4s or 71h59m.
func brief(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}
