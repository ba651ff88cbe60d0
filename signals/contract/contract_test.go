package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/signals/contract"
)

// A payload that is wrong is refused with the field's name.
func TestValidate(t *testing.T) {
	ref := contract.ThreadRef{Tenant: "acme", Thread: "thr-1"}
	start := contract.Start{ThreadRef: ref, Agent: "support"}
	decision := contract.Decision{Approval: "t1-s1-c1-a", Digest: "sha256:0", Verdict: contract.Approve}
	long := func(n int) string { return strings.Repeat("x", n) }
	with := func(s contract.Start, change func(*contract.Start)) contract.Start { change(&s); return s }
	decided := func(change func(*contract.Decision)) contract.Decision { d := decision; change(&d); return d }

	for _, test := range []struct {
		name    string
		payload interface{ Validate() error }
		field   string // empty: it is valid
	}{
		{"thread", ref, ""},
		{"thread at its limits", contract.ThreadRef{Tenant: long(64), Thread: long(128)}, ""},
		{"no tenant", contract.ThreadRef{Thread: "t"}, "tenant"},
		{"long tenant", contract.ThreadRef{Tenant: long(65), Thread: "t"}, "tenant"},
		{"slash in the thread", contract.ThreadRef{Tenant: "acme", Thread: "a/b"}, "thread"},
		{"letter that is not ASCII", contract.ThreadRef{Tenant: "acmé", Thread: "t"}, "tenant"},
		{"broken UTF-8", contract.ThreadRef{Tenant: "acme", Thread: "\xff"}, "thread"},

		{"start", start, ""},
		{"no agent", contract.Start{ThreadRef: ref}, "agent"},
		{"any user", with(start, func(s *contract.Start) { s.User = "Änn <ann@acme.example>" }), ""},
		{"long user", with(start, func(s *contract.Start) { s.User = long(257) }), "user"},
		{"many roles", with(start, func(s *contract.Start) { s.Roles = make([]string, contract.MaxRoles+1) }), "roles"},
		{"empty role", with(start, func(s *contract.Start) { s.Roles = []string{"admin", ""} }), "roles[1]"},

		{"submission", contract.Submission{ID: "m-1", Text: "hi"}, ""},
		{"longest text", contract.Submission{ID: "m-1", Text: long(contract.MaxText)}, ""},
		{"no id", contract.Submission{Text: "hi"}, "id"},
		{"no text", contract.Submission{ID: "m-1"}, "text"},
		{"long text", contract.Submission{ID: "m-1", Text: long(contract.MaxText + 1)}, "text"},
		{"broken text", contract.Submission{ID: "m-1", Text: "a\xc3"}, "text"},

		{"decision", decision, ""},
		{"no approval", decided(func(d *contract.Decision) { d.Approval = "" }), "approval"},
		{"no verdict", decided(func(d *contract.Decision) { d.Verdict = "" }), "verdict"},
		{"other verdict", decided(func(d *contract.Decision) { d.Verdict = "Approve" }), "verdict"},
		{"no digest", decided(func(d *contract.Decision) { d.Digest = "" }), "digest"},
		{"long comment", decided(func(d *contract.Decision) { d.Comment = long(contract.MaxComment + 1) }), "comment"},

		{"edit", decided(func(d *contract.Decision) { d.Verdict, d.Input = contract.Edit, []byte(`{"n":1}`) }), ""},
		{"edit of nothing", decided(func(d *contract.Decision) { d.Verdict = contract.Edit }), "input"},
		{"approval with an input", decided(func(d *contract.Decision) { d.Input = []byte(`{}`) }), "input"},
		{"long edit", decided(func(d *contract.Decision) { d.Verdict, d.Input = contract.Edit, []byte(long(contract.MaxInline+1)) }), "input"},
		{"grant", decided(func(d *contract.Decision) { d.Grant = &contract.GrantTerms{Calls: 3} }), ""},
		{"grant with a denial", decided(func(d *contract.Decision) { d.Verdict, d.Grant = contract.Deny, &contract.GrantTerms{} }), "grant"},
		{"grant for less than nothing", decided(func(d *contract.Decision) { d.Grant = &contract.GrantTerms{Calls: -1} }), "grant.calls"},
		{"revoke", contract.RevokeGrant{Grant: "g1"}, ""},
		{"revoke nothing", contract.RevokeGrant{}, "grant"},
		{"mode", contract.SetMode{Mode: "plan"}, ""},
		{"the agent's own mode", contract.SetMode{}, ""},
		{"mode of another form", contract.SetMode{Mode: "a b"}, "mode"},
		{"start in a mode of another form", with(start, func(s *contract.Start) { s.Mode = "a b" }), "mode"},
		{"cancel the running turn", contract.CancelTurn{}, ""},
		{"cancel no turn at all", contract.CancelTurn{Turn: "t 1"}, "turn"},
		{"long reason", contract.CancelTurn{Reason: long(contract.MaxReason + 1)}, "reason"},
		{"close", contract.Close{}, ""},
		{"close at length", contract.Close{Reason: long(contract.MaxReason + 1)}, "reason"},

		{"timeline", contract.TimelineQuery{After: 7, Limit: contract.MaxParts}, ""},
		{"timeline before the first", contract.TimelineQuery{After: -1}, "after"},
		{"large page", contract.TimelineQuery{Limit: contract.MaxParts + 1}, "limit"},
		{"transcript", contract.TranscriptQuery{From: 3, To: 3}, ""},
		{"transcript to its end", contract.TranscriptQuery{From: 3}, ""},
		{"transcript before the first", contract.TranscriptQuery{From: -1}, "from"},
		{"transcript backwards", contract.TranscriptQuery{From: 3, To: 2}, "to"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.payload.Validate()
			switch {
			case test.field == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.field != "" && (err == nil || !strings.HasPrefix(err.Error(), test.field+":")):
				t.Errorf("error %v, want one about %s", err, test.field)
			}
		})
	}
}

func FuzzParseThreadRef(f *testing.F) {
	for _, seed := range []string{"acme/thr-1", "thread/acme/thr-1", "thread/thread/thread", "", "/", "thread/", "a/b/c", "a//b", "\xff/\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := contract.ParseThreadRef(s)
		if err != nil {
			if ref != (contract.ThreadRef{}) {
				t.Errorf("%q: %+v beside an error", s, ref)
			}
			return
		}
		if err := ref.Validate(); err != nil {
			t.Errorf("%q was read as %+v: %v", s, ref, err)
		}
		// A tenant named thread can be written in its long form alone.
		for _, form := range []string{ref.WorkflowID(), ref.String()} {
			if form == ref.String() && ref.Tenant == "thread" {
				continue
			}
			if again, err := contract.ParseThreadRef(form); err != nil || again != ref {
				t.Errorf("%q was read as %+v, and %q as %+v, %v", s, ref, form, again, err)
			}
		}
	})
}

func TestEmptyListsAreLists(t *testing.T) {
	for _, test := range []struct {
		page any
		want string
	}{
		{contract.TimelinePage{Status: contract.StatusIdle}, `{"parts":[],"cursor":0,"status":"idle"}`},
		{contract.TranscriptPage{Earlier: contract.Earlier{First: 3}}, `{"messages":[],"length":0,"first":3}`},
		{contract.CallsPage{}, `{"calls":[]}`},
		{contract.QueuePage{Submissions: []contract.Submission{{ID: "m", Text: "hi"}}}, `{"submissions":[{"id":"m","text":"hi"}]}`},
		{contract.QueuePage{}, `{"submissions":[]}`},
	} {
		if got, err := json.Marshal(test.page); err != nil || string(got) != test.want {
			t.Errorf("%T: %s, %v, want %s", test.page, got, err, test.want)
		}
	}
}
