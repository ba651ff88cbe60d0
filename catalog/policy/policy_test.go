package policy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/policy"
)

var modes = func() catalog.Modes {
	m, err := catalog.NewModes()
	if err != nil {
		panic(err)
	}
	return m
}()

func compile(t testing.TB, set policy.Set) *policy.Policy {
	t.Helper()
	set.Modes = modes.Names()
	p, err := policy.New(set)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// refund is a call of a write at nine in the morning.
func refund(change func(*catalog.Question)) catalog.Question {
	q := catalog.Question{
		Tool: catalog.Descriptor{
			ID: "orders.refund", Operation: catalog.Write, Capabilities: []string{"payments.refund"}, Tags: []string{"money"},
		},
		Input: json.RawMessage(`{"order":"A-17","cents":1250,"lines":[{"sku":"x","count":2}]}`),
		Scope: catalog.Scope{Tenant: "acme", User: "ada", Roles: []string{"support"}, Agent: "support", Thread: "t1", Mode: "build"},
		Now:   time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC),
	}
	if change != nil {
		change(&q)
	}
	return q
}

// Each matcher takes what it names and nothing else.
func TestMatchers(t *testing.T) {
	read := func(q *catalog.Question) { q.Tool.Operation = catalog.Read }
	for name, c := range map[string]struct {
		rule   policy.Rule
		change func(*catalog.Question)
		want   bool
	}{
		"everything":            {policy.Rule{}, nil, true},
		"id":                    {policy.Rule{Tools: []string{"orders.refund"}}, nil, true},
		"other id":              {policy.Rule{Tools: []string{"orders.get"}}, nil, false},
		"glob":                  {policy.Rule{Tools: []string{"billing.*", "orders.*"}}, nil, true},
		"namespace":             {policy.Rule{Namespaces: []string{"orders"}}, nil, true},
		"other namespace":       {policy.Rule{Namespaces: []string{"order"}}, nil, false},
		"operation":             {policy.Rule{Operation: catalog.Write}, nil, true},
		"other operation":       {policy.Rule{Operation: catalog.Write}, read, false},
		"capability":            {policy.Rule{Capabilities: []string{"payments.*"}}, nil, true},
		"other capability":      {policy.Rule{Capabilities: []string{"orders.*"}}, nil, false},
		"capability by default": {policy.Rule{Capabilities: []string{"orders.write"}}, func(q *catalog.Question) { q.Tool.Capabilities = nil }, true},
		"tag":                   {policy.Rule{Tags: []string{"money"}}, nil, true},
		"other tag":             {policy.Rule{Tags: []string{"danger"}}, nil, false},
		"mode":                  {policy.Rule{Modes: []string{"ask", "build"}}, nil, true},
		"other mode":            {policy.Rule{Modes: []string{"ask"}}, nil, false},
		"all of several":        {policy.Rule{Namespaces: []string{"orders"}, Tags: []string{"money"}, Operation: catalog.Write}, nil, true},
		"not all of several":    {policy.Rule{Namespaces: []string{"orders"}, Tags: []string{"danger"}}, nil, false},
		"input":                 {policy.Rule{When: `input.cents > 1000`}, nil, true},
		"input, false":          {policy.Rule{When: `input.cents > 1250`}, nil, false},
		"input, other types":    {policy.Rule{When: `input.cents > 1249.5`}, nil, true},
		"large number":          {policy.Rule{When: `input.n == 9007199254740993`}, func(q *catalog.Question) { q.Input = json.RawMessage(`{"n":9007199254740993}`) }, true},
		"nested input":          {policy.Rule{When: `input.lines.exists(l, l.sku == "x")`}, nil, true},
		"tenant":                {policy.Rule{When: `tenant == "acme" && user == "ada"`}, nil, true},
		"roles":                 {policy.Rule{When: `"manager" in roles`}, nil, false},
		"no roles":              {policy.Rule{When: `"manager" in roles`}, func(q *catalog.Question) { q.Scope.Roles = nil }, false},
		"mode in condition":     {policy.Rule{When: `mode == "build"`}, nil, true},
		"time of day":           {policy.Rule{When: `now.getHours("America/New_York") < 8`}, nil, true},
		"time of day elsewhere": {policy.Rule{When: `now.getHours("Europe/Berlin") < 8`}, nil, false},
		"weekday":               {policy.Rule{When: `now.getDayOfWeek() == 1`}, nil, true},
		"field that is lacking": {policy.Rule{When: `has(input.note)`}, nil, false},
		"optional field":        {policy.Rule{When: `input.?note.orValue("none") == "none"`}, nil, true},
		"no input at all":       {policy.Rule{When: `!has(input.order)`}, func(q *catalog.Question) { q.Input = nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.rule.Effect = policy.Block
			got := compile(t, policy.Set{App: []policy.Rule{c.rule}}).Judge(refund(c.change))
			if taken := got.Verdict == catalog.VerdictBlock; taken != c.want {
				t.Errorf("ruling is %+v, want it taken: %v", got, c.want)
			}
		})
	}
}

// The first rule that takes a call decides for its scope, and the strictest scope
// holds: an agent's rule tightens and never loosens.
func TestScopesTightenOnly(t *testing.T) {
	rules := func(effects ...policy.Effect) (made []policy.Rule) {
		for i, effect := range effects {
			made = append(made, policy.Rule{Name: fmt.Sprintf("r%d", i), Effect: effect, When: fmt.Sprintf("input.cents > %d", i)})
		}
		return made
	}
	for _, c := range []struct {
		app, agent []policy.Effect
		want       catalog.Verdict
		by         policy.Scope
	}{
		{nil, nil, catalog.VerdictNone, ""},
		{[]policy.Effect{policy.Allow, policy.Block}, nil, catalog.VerdictAllow, policy.App},
		{[]policy.Effect{policy.Block, policy.Allow}, nil, catalog.VerdictBlock, policy.App},
		{[]policy.Effect{policy.Block}, []policy.Effect{policy.Allow}, catalog.VerdictBlock, policy.App},
		{[]policy.Effect{policy.Ask}, []policy.Effect{policy.Allow}, catalog.VerdictAsk, policy.App},
		{[]policy.Effect{policy.Allow}, []policy.Effect{policy.Ask}, catalog.VerdictAsk, policy.Agent},
		{[]policy.Effect{policy.Allow}, []policy.Effect{policy.Block}, catalog.VerdictBlock, policy.Agent},
		{[]policy.Effect{policy.Ask}, []policy.Effect{policy.Ask}, catalog.VerdictAsk, policy.App},
		{nil, []policy.Effect{policy.Block}, catalog.VerdictBlock, policy.Agent},
	} {
		p := compile(t, policy.Set{App: rules(c.app...), Agents: map[string][]policy.Rule{"support": rules(c.agent...)}})
		got := p.Explain(refund(nil))
		if got.Ruling.Verdict != c.want || got.Scope != c.by {
			t.Errorf("app %v, agent %v: %s by %q, want %s by %q", c.app, c.agent, got.Ruling.Verdict, got.Scope, c.want, c.by)
		}
		other := p.Judge(refund(func(q *catalog.Question) { q.Scope.Agent = "other" }))
		if len(c.app) == 0 && other.Verdict != catalog.VerdictNone {
			t.Errorf("a rule of one agent decides for another: %+v", other)
		}
	}
}

func TestMostApproversHold(t *testing.T) {
	p := compile(t, policy.Set{
		App:    []policy.Rule{{Effect: policy.Ask, Approvers: 1}},
		Agents: map[string][]policy.Rule{"support": {{Effect: policy.Ask, Approvers: 3}}},
	})
	if got := p.Judge(refund(nil)); got.Approvers != 3 || got.Verdict != catalog.VerdictAsk {
		t.Errorf("ruling is %+v, want 3 approvers", got)
	}
}

// A condition that fails, or costs too much, lets nothing pass.
func TestFailingConditionsFailClosed(t *testing.T) {
	long, err := json.Marshal(map[string]any{"cents": 1, "list": make([]int, 3000)})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		when  string
		input json.RawMessage
	}{
		"field that is lacking": {`input.note == "x"`, nil},
		"other type":            {`input.order > 3`, nil},
		"not true or false":     {`input.cents`, nil},
		"division by zero":      {`10 / (input.cents - 1250) > 1`, nil},
		"unknown time zone":     {`now.getHours(input.order) > 1`, nil},
		"cost":                  {`input.list.all(a, input.list.all(b, a == b))`, long},
	} {
		for effect, want := range map[policy.Effect]catalog.Verdict{
			policy.Allow: catalog.VerdictAsk, policy.Ask: catalog.VerdictAsk, policy.Block: catalog.VerdictBlock,
		} {
			p := compile(t, policy.Set{App: []policy.Rule{
				{Name: "first", Effect: effect, When: c.when, Reason: "because", WithoutApproval: effect == policy.Allow},
				{Effect: policy.Allow},
			}})
			got := p.Judge(refund(func(q *catalog.Question) {
				if c.input != nil {
					q.Input = c.input
				}
			}))
			if got.Verdict != want || got.Rule != "first" || got.Waive || !strings.Contains(got.Reason, "because; its condition cannot be evaluated") {
				t.Errorf("%s, %s: ruling is %+v, want %s", name, effect, got, want)
			}
		}
	}
}

// What could not work is refused when the rules are compiled.
func TestNewRefuses(t *testing.T) {
	block := policy.Rule{Effect: policy.Block, Place: "heddle.yaml:3:5"}
	with := func(change func(*policy.Rule)) []policy.Rule { r := block; change(&r); return []policy.Rule{r} }
	for name, c := range map[string]struct {
		set  policy.Set
		want string
	}{
		"effect":               {policy.Set{App: with(func(r *policy.Rule) { r.Effect = "deny" })}, `heddle.yaml:3:5: policy rule 1 of the app: effect: want allow, ask or block, found "deny"`},
		"glob":                 {policy.Set{App: with(func(r *policy.Rule) { r.Tools = []string{"a.b", "*.b"} })}, "tools[1]: glob"},
		"namespace":            {policy.Set{App: with(func(r *policy.Rule) { r.Namespaces = []string{"a.b"} })}, "namespaces[0]"},
		"operation":            {policy.Set{App: with(func(r *policy.Rule) { r.Operation = "delete" })}, "operation: want read or write"},
		"capability":           {policy.Set{App: with(func(r *policy.Rule) { r.Capabilities = []string{"*x"} })}, "capabilities[0]"},
		"tag":                  {policy.Set{App: with(func(r *policy.Rule) { r.Tags = []string{""} })}, "tags[0]: pattern is empty"},
		"mode":                 {policy.Set{App: with(func(r *policy.Rule) { r.Modes = []string{"biuld"} })}, `modes[0]: can never match: there is no mode "biuld"; there are ask, build, plan, review`},
		"tools elsewhere":      {policy.Set{App: with(func(r *policy.Rule) { r.Tools, r.Namespaces = []string{"a.*"}, []string{"b"} })}, "tools: can never match"},
		"approvers":            {policy.Set{App: with(func(r *policy.Rule) { r.Effect, r.Approvers = policy.Ask, 9 })}, "approvers: 9 is out of range"},
		"approvers of a block": {policy.Set{App: with(func(r *policy.Rule) { r.Approvers = 2 })}, "approvers: only a rule that asks"},
		"waiver of a block":    {policy.Set{App: with(func(r *policy.Rule) { r.WithoutApproval = true })}, "without_approval: only"},
		"waiver of an agent": {
			policy.Set{Agents: map[string][]policy.Rule{"a": with(func(r *policy.Rule) { r.Effect, r.WithoutApproval = policy.Allow, true })}},
			"policy rule 1 of the agent a: without_approval: only a rule of the application",
		},
		"syntax":        {policy.Set{App: with(func(r *policy.Rule) { r.When = "input.a &&" })}, "when:1:11: Syntax error"},
		"unknown name":  {policy.Set{App: with(func(r *policy.Rule) { r.When = "tenant == 'a' ||\n  tenat == 'b'" })}, "when:2:3: undeclared reference to 'tenat'"},
		"type":          {policy.Set{App: with(func(r *policy.Rule) { r.When = "tenant == 3" })}, "when:1:8: found no matching overload"},
		"not a boolean": {policy.Set{App: with(func(r *policy.Rule) { r.When = "tenant" })}, "when: the condition is of type string"},
		"always false":  {policy.Set{App: with(func(r *policy.Rule) { r.When = "false && input.a == 1" })}, "when: can never match"},
		"always fails":  {policy.Set{App: with(func(r *policy.Rule) { r.When = "1 / 0 == 1" })}, "when: the condition fails for every call"},
		"empty":         {policy.Set{App: with(func(r *policy.Rule) { r.When = " " })}, "when: is empty"},
		"long":          {policy.Set{App: with(func(r *policy.Rule) { r.When = strings.Repeat("a", policy.MaxWhen+1) })}, "when: the condition is 4097 bytes long"},
		"deep":          {policy.Set{App: with(func(r *policy.Rule) { r.When = strings.Repeat("(", 2000) })}, "when"},
		"agent's tools": {
			policy.Set{Agents: map[string][]policy.Rule{"a": with(func(r *policy.Rule) { r.Tools = []string{"b.c"} })}, AgentTools: map[string][]string{"a": {"a.*"}}},
			"tools: can never match: agent a may use a.*",
		},
		"same name": {policy.Set{App: []policy.Rule{{Name: "x", Effect: policy.Block, Tags: []string{"a"}}, {Name: "x", Effect: policy.Block}}}, `another rule has the name "x" too`},
		"behind another": {
			policy.Set{App: []policy.Rule{{Name: "all", Effect: policy.Allow, Place: "p:1"}, {Effect: policy.Block, When: "input.a == 1"}}},
			`policy rule 2 of the app: can never match: rule "all" before it (p:1) takes every call that it would`,
		},
		"behind a wider one": {policy.Set{App: []policy.Rule{
			{Effect: policy.Block, Namespaces: []string{"a"}, Tags: []string{"m*"}},
			{Effect: policy.Ask, Tools: []string{"a.b"}, Tags: []string{"money"}, Operation: catalog.Write},
		}}, "policy rule 2 of the app: can never match"},
		"too many": {policy.Set{App: make([]policy.Rule, policy.MaxRules+1)}, "policy rule 501 of the app: is one too many"},
	} {
		t.Run(name, func(t *testing.T) {
			c.set.Modes = modes.Names()
			_, err := policy.New(c.set)
			var fault *policy.Fault
			if err == nil || !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one that says %q", err, c.want)
			}
		})
	}
}

// A rule that takes some call which none before it takes is no fault.
func TestNewAccepts(t *testing.T) {
	compile(t, policy.Set{App: []policy.Rule{
		{Effect: policy.Block, Tools: []string{"a.b"}},
		{Effect: policy.Block, Tools: []string{"a.*"}, When: "input.x == 1"},
		{Effect: policy.Block, Tools: []string{"a.*"}, Operation: catalog.Write},
		{Effect: policy.Block, Namespaces: []string{"a"}, Capabilities: []string{"x.*"}},
		{Effect: policy.Block, Namespaces: []string{"a"}, Modes: []string{"ask"}},
		{Effect: policy.Ask, Namespaces: []string{"a", "b"}},
		{Effect: policy.Allow},
	}})
}

func TestExplain(t *testing.T) {
	p := compile(t, policy.Set{
		App: []policy.Rule{
			{Name: "reads", Effect: policy.Allow, Operation: catalog.Read, Place: "heddle.yaml:2:5"},
			{Name: "large", Effect: policy.Ask, When: "input.cents > 100000"},
			{Name: "rest", Effect: policy.Allow},
		},
		Agents: map[string][]policy.Rule{"support": {{Name: "night", Effect: policy.Block, When: "now.getHours() < 10", Reason: "closed"}}},
	})
	got := p.Rehearse(modes, refund(nil), "")
	want := policy.Rehearsal{
		Effect: policy.Block, Reason: "closed", Rule: "night", Scope: policy.Agent, Place: "in the same scope",
		Steps: []policy.Step{
			{Scope: policy.App, Rule: "reads", Place: "heddle.yaml:2:5", Effect: policy.Allow, Why: "it is a write"},
			{Scope: policy.App, Rule: "large", Effect: policy.Ask, Why: "the condition is false: input.cents > 100000"},
			{Scope: policy.App, Rule: "rest", Effect: policy.Allow, Taken: true, Why: "the call fits"},
			{Scope: policy.Agent, Rule: "night", Effect: policy.Block, Taken: true, Why: "the condition is true: now.getHours() < 10"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rehearsal (-want +got):\n%s", diff)
	}
}

// Mode, policy and the tool's own rule add up.
func TestRehearse(t *testing.T) {
	at := func(mode string) func(*catalog.Question) { return func(q *catalog.Question) { q.Scope.Mode = mode } }
	rules := func(r ...policy.Rule) policy.Set { return policy.Set{App: r} }
	for name, c := range map[string]struct {
		set      policy.Set
		change   func(*catalog.Question)
		resource string
		want     policy.Effect
		rule     string
	}{
		"write by default":    {rules(), nil, "", policy.Ask, ""},
		"allowed write":       {rules(policy.Rule{Effect: policy.Allow}), nil, "", policy.Ask, ""},
		"waived":              {rules(policy.Rule{Effect: policy.Allow, WithoutApproval: true}), nil, "", policy.Allow, "app-1"},
		"waiver of an always": {rules(policy.Rule{Effect: policy.Allow, WithoutApproval: true}), func(q *catalog.Question) { q.Tool.Approval = catalog.ApprovalAlways }, "", policy.Ask, ""},
		"read":                {rules(), func(q *catalog.Question) { q.Tool.Operation = catalog.Read }, "", policy.Allow, ""},
		"asked read":          {rules(policy.Rule{Effect: policy.Ask}), func(q *catalog.Question) { q.Tool.Operation = catalog.Read }, "", policy.Ask, "app-1"},
		"ask mode":            {rules(), at("ask"), "", policy.Block, ""},
		"plan mode":           {rules(), at("plan"), "", policy.Block, ""},
		"plan mode, a plan":   {rules(), at("plan"), "plans/next", policy.Ask, ""},
		"no such mode":        {rules(), at("bulid"), "", policy.Block, ""},
	} {
		got := compile(t, c.set).Rehearse(modes, refund(c.change), c.resource)
		if got.Effect != c.want || got.Rule != c.rule {
			t.Errorf("%s: %+v, want %s by %q", name, got, c.want, c.rule)
		}
	}
}

func FuzzCondition(f *testing.F) {
	for _, seed := range []string{`input.a == 1`, `"x" in roles`, `input.a.b.c[0] > now.getHours("UTC")`, `[1].map(x, x*2) == input.l`, `((((`, "input.\x00"} {
		f.Add(seed, `{"a":1,"l":[1.5,null,{"b":"c"}]}`)
	}
	f.Fuzz(func(t *testing.T, when, input string) {
		p, err := policy.New(policy.Set{App: []policy.Rule{{Effect: policy.Allow, When: when}}})
		if err != nil {
			return
		}
		got := p.Judge(refund(func(q *catalog.Question) { q.Input = json.RawMessage(input) }))
		if !json.Valid([]byte(input)) && when != "" && got.Verdict == catalog.VerdictAllow {
			t.Errorf("an input that is no JSON is allowed")
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	p := compile(b, policy.Set{App: []policy.Rule{
		{Effect: policy.Block, Tags: []string{"danger"}},
		{Effect: policy.Ask, Namespaces: []string{"orders"}, When: `input.cents > 10000 && !("manager" in roles)`},
		{Effect: policy.Block, When: `now.getHours("Europe/Berlin") < 8`},
	}})
	q := refund(nil)
	b.ReportAllocs()
	for b.Loop() {
		p.Judge(q)
	}
}
