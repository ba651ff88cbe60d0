package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/signals/contract"
)

var noon = time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)

func part(id string, kind contract.Kind, status contract.PartStatus, change func(*contract.Part)) contract.Part {
	p := contract.Part{ID: id, Kind: kind, Status: status, Turn: "t1", Parent: "t1", StartedAt: noon}
	if status != contract.PartRunning && status != contract.PartWaiting {
		end := noon.Add(120 * time.Millisecond)
		p.EndedAt, p.DurationMS = &end, 120
	}
	if change != nil {
		change(&p)
	}
	return p
}

// story is a turn as it is watched live: a batch of reads, an approval, an answer.
func story() []contract.Part {
	approval := &contract.Approval{ID: "ap", Tool: "orders.refund", ExpiresAt: noon.Add(72 * time.Hour)}
	user := func(p *contract.Part) { p.Role, p.Text = contract.RoleUser, "Refund the mug." }
	agent := func(text string) func(*contract.Part) {
		return func(p *contract.Part) { p.Role, p.Text = contract.RoleAssistant, text }
	}
	call := func(tool, parent string) func(*contract.Part) {
		return func(p *contract.Part) { p.Tool, p.Parent, p.DurationMS = tool, parent, 0; p.EndedAt = nil }
	}
	asked := func(p *contract.Part) { p.Tool, p.Approval, p.Parent = "orders.refund", approval, "w" }
	return []contract.Part{
		part("t1", contract.KindMilestone, contract.PartRunning, func(p *contract.Part) { p.Parent = "" }),
		part("m0", contract.KindMessage, contract.PartDone, user),
		part("s1", contract.KindModel, contract.PartRunning, func(p *contract.Part) { p.Title = "Model turn 1" }),
		part("s1", contract.KindModel, contract.PartDone, func(p *contract.Part) {
			p.Title, p.Usage = "Model turn 1: tiny", &contract.Usage{InputTokens: 900, OutputTokens: 40, CostMicros: 1200}
		}),
		part("m1", contract.KindMessage, contract.PartDone, agent("Let me look.")),
		part("c1", contract.KindCall, contract.PartDone, call("orders.get", "b")), // before its batch
		part("c2", contract.KindCall, contract.PartFailed, func(p *contract.Part) {
			call("orders.find", "b")(p)
			p.Problem = &contract.Problem{Code: "not_found", Message: "no such order"}
		}),
		part("b", contract.KindBatch, contract.PartDone, func(p *contract.Part) { p.Title = "2 reads" }),
		part("w", contract.KindCall, contract.PartWaiting, call("orders.refund", "t1")),
		part("ap", contract.KindApproval, contract.PartWaiting, asked),
		part("ap", contract.KindApproval, contract.PartWaiting, asked), // again, unchanged
		part("ap", contract.KindApproval, contract.PartDenied, func(p *contract.Part) {
			asked(p)
			p.Decision = &contract.Decision{Verdict: contract.Deny, By: "ann", Comment: "ask for a photo"}
		}),
		part("w", contract.KindCall, contract.PartDenied, func(p *contract.Part) {
			call("orders.refund", "t1")(p)
			p.Problem = &contract.Problem{Code: "approval_denied", Message: "a person denied the call"}
		}),
		part("m2", contract.KindMessage, contract.PartDone, agent("I could not.")),
		part("t1", contract.KindMilestone, contract.PartDone, func(p *contract.Part) { p.Parent, p.Title = "", "Turn t1 completed" }),
	}
}

func draw(s screen, turn string, parts []contract.Part) string {
	var out bytes.Buffer
	view := newTimeline(&out, s, "support")
	view.turn, view.now = turn, func() time.Time { return noon }
	for _, p := range parts {
		view.show(p)
	}
	return out.String()
}

func TestTimeline(t *testing.T) {
	want := `● user      Refund the mug.
✓ model     Model turn 1: tiny  120ms · 900 tokens in, 40 out · $0.0012
◆ support   Let me look.
✓ reads     2 reads  120ms
          ✓ orders.get
          ✗ orders.find
            no such order
? approval  orders.refund waits for a person, expires in 72h00m (` + noon.Add(72*time.Hour).Local().Format("Mon 2 Jan 15:04") + `)
✗ approval  orders.refund denied by ann  120ms
            ask for a photo
✗ call      orders.refund
            a person denied the call
◆ support   I could not.
✓ turn      Turn t1 completed  120ms
`
	if got := draw(screen{width: 100}, "", story()); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestChangedToolIsShown(t *testing.T) {
	var out bytes.Buffer
	newTimeline(&out, screen{width: 100}, "support").quote(contract.Approval{
		Tool: "mail.send", Does: "POST /mails", Changed: "description\n- Sends a mail.\n+ Sends a mail,\x1b[2J and a copy.", Preview: json.RawMessage(`{}`), Digest: "sha256:d",
	})
	want := `
            POST /mails
            the tool has changed since people were asked about it:
            description
            - Sends a mail.
            + Sends a mail,�[2J and a copy.
            mail.send
            {}
            digest: sha256:d
`
	if got := "\n" + out.String(); got != strings.ReplaceAll(want, `\uFFFD`, "\uFFFD") {
		t.Errorf("got:%s\nwant:%s", got, want)
	}
}

func TestTimelineLeavesTheAnswerOfItsTurnToTheCaller(t *testing.T) {
	got := draw(screen{width: 100}, "t1", story())
	if strings.Contains(got, "I could not.") || !strings.Contains(got, "Let me look.") {
		t.Errorf("got:\n%s\nwant all but the last message", got)
	}
}

func TestTimelineOnATerminal(t *testing.T) {
	got := draw(screen{width: 100, terminal: true}, "", story())
	if !strings.Contains(got, "… Model turn 1\r\x1b[K✓ model") {
		t.Errorf("a passing line is not wiped before the next line:\n%q", got)
	}
	if strings.Contains(got, "\x1b[3") {
		t.Errorf("painted without colours:\n%q", got)
	}
	if got := draw(screen{width: 100, terminal: true, colour: true}, "", story()); !strings.Contains(got, "\x1b[32m✓\x1b[0m") {
		t.Errorf("not painted:\n%q", got)
	}
}

func TestTimelineKeepsToTheScreen(t *testing.T) {
	long := strings.Repeat("日本語 ", 200) + "\x1b[2J"
	parts := []contract.Part{
		part("m0", contract.KindMessage, contract.PartDone, func(p *contract.Part) { p.Role, p.Text = contract.RoleUser, long }),
		part("s1", contract.KindModel, contract.PartDone, func(p *contract.Part) { p.Title = long }),
		part("e", contract.KindError, contract.PartFailed, func(p *contract.Part) {
			p.Title, p.Problem = long, &contract.Problem{Code: "x", Message: long}
		}),
	}
	for _, width := range []int{1, 40, 80} {
		for line := range strings.Lines(draw(screen{width: width}, "", parts)) {
			if n := columns(strings.TrimSuffix(line, "\n")); n > max(width, minWidth) {
				t.Errorf("on %d columns a line has %d: %s", width, n, line)
			}
			if strings.Contains(line, "\x1b") {
				t.Errorf("a line holds an escape sequence: %q", line)
			}
		}
	}
}

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 3 * time.Millisecond: "3ms", 2440 * time.Millisecond: "2.4s",
		95 * time.Second: "1m35s", 72 * time.Hour: "72h00m", 59*time.Hour + 59*time.Minute: "59h59m",
	} {
		if got := brief(d); got != want {
			t.Errorf("brief(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestPreview(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 50), ",") + "]"
	for _, test := range []struct{ name, preview, want string }{
		{"object", `{"b":1,"a":"<x>"}`, "orders.refund: Refund\n{\n  \"b\": 1,\n  \"a\": \"<x>\"\n}"},
		{"beginning of a long one", `"{\"a\":"`, "orders.refund: Refund\n{\"a\":\n… (the input is longer"},
		{"many lines", list, "… 32 more lines: see details"},
		{"none", ``, "orders.refund: Refund\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := contract.Approval{Tool: "orders.refund", Title: "Refund", Preview: json.RawMessage(test.preview)}
			if got := preview(a, maxPreviewLines); !strings.Contains(got, test.want) {
				t.Errorf("preview:\n%s\nwant in it:\n%s", got, test.want)
			}
		})
	}
}
