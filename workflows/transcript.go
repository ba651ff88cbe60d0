package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// maxPage bounds, in bytes, the messages of one answer to a query.
const maxPage = 900 << 10

// transcript holds the messages of this run; those before are archived.
type transcript struct {
	// first is the index of messages[0].
	first    int
	messages []contract.Message
	archive  *contract.Ref
	// archivedSeq is the sequence number up to which the ended parts are archived.
	archivedSeq int64
	// open are the calls that are being carried out.
	open []contract.Call
}

// length is that of the whole transcript.
func (tr *transcript) length() int { return tr.first + len(tr.messages) }

// append adds a message and returns its index.
func (t *thread) append(m contract.Message) int {
	m.Index = t.length()
	m.At = workflow.Now(t.ctx)
	t.messages = append(t.messages, m)
	return m.Index
}

// near is what an activity in the same process need not query. A message never
// changes once it stands, so the slices can be read while the thread goes on.
func (t *thread) near() activities.Near {
	return activities.Near{First: t.first, Messages: t.messages, Calls: t.open}
}

// say adds a message that people see too.
func (t *thread) say(m contract.Message, submission string) int {
	index := t.append(m)
	if m.Text == "" {
		return index
	}
	title := "Agent"
	if m.Role == contract.RoleUser {
		title = "User"
	}
	t.put(part(fmt.Sprintf("%s-m%d", m.Turn, index), contract.KindMessage, contract.PartDone, title).with(func(p *contract.Part) {
		p.Turn, p.Submission, p.Parent = m.Turn, submission, m.Turn
		p.Role, p.Message, p.Text = m.Role, &index, cut(m.Text, contract.MaxPartText)
		if m.Role == contract.RoleUser && t.current.run != "" { // a snippet stands in the transcript alone
			p.Text = fmt.Sprintf("Run a snippet of %d bytes (%s)", len(m.Text), t.current.run)
			switch {
			case t.current.script != "":
				p.Text = fmt.Sprintf("Run the script %s (%s)", t.current.script, t.current.run)
			case t.current.tool != "":
				p.Text = "Call " + t.current.tool
			}
		}
	}))
	return index
}

// pages answers a query for the transcript with as much as fits.
func (t *thread) pages(q contract.TranscriptQuery) contract.TranscriptPage {
	page := contract.TranscriptPage{Length: t.length(), Earlier: t.earlier(int64(t.first))}
	to := t.length()
	if q.To > 0 {
		to = min(to, q.To)
	}
	size := 0
	for i := max(q.From, t.first); i < to; i++ {
		m := t.messages[i-t.first]
		size += weight(m)
		if size > maxPage && len(page.Messages) > 0 {
			page.Next = i
			break
		}
		page.Messages = append(page.Messages, m)
	}
	return page
}

// weight bounds how many bytes a message takes in JSON.
func weight(m contract.Message) int {
	const fields = 300
	n := fields + escaped(m.Text)
	for _, c := range m.Calls {
		n += fields + len(c.Input)
	}
	if m.Problem != nil {
		n += escaped(m.Problem.Message) + len(m.Problem.Details)
	}
	return n + sourcesWeight(m.Sources)
}

// sourcesWeight bounds how many bytes the states of sources take in JSON.
func sourcesWeight(states []contract.SourceState) int {
	const fields = 200
	n := 0
	for _, s := range states {
		n += fields + escaped(s.Unread)
		for _, reason := range s.Reasons {
			n += escaped(reason)
		}
	}
	return n
}

// escaped is the length of s as a JSON string: a control character takes six
// bytes, and so does each of <, > and &.
func escaped(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c == '<', c == '>', c == '&':
			n += 5
		case c == '"', c == '\\':
			n++
		}
	}
	return n
}

// earlier says where what is older than this run can be read.
func (t *thread) earlier(first int64) contract.Earlier {
	if t.archive == nil {
		return contract.Earlier{}
	}
	return contract.Earlier{First: first, PreviousRunID: t.info.ContinuedExecutionRunID, Archive: t.archive}
}
