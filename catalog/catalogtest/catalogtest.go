package catalogtest

import (
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// Fixture is a source under test, with calls of its tools.
type Fixture struct {
	// Source is new and has not been asked yet. What it holds open ends with the
	// test: see [testing.T.Cleanup].
	Source catalog.Source
	// Good are calls that succeed. At least one.
	Good []Call
	// Bad are calls whose input does not fit the tool's schema. At least one.
	Bad []Call
	// Failing are calls that reach the tool, which fails them.
	Failing []Failure
	// Slow is a call that lasts until its context ends.
	Slow *Call
	// Reached counts the calls that have reached the tools so far.
	Reached func() int
}

// Call is a call of one tool.
type Call struct {
	Tool string
	// Input is a JSON object.
	Input string
}

// Failure is a call that fails in the tool.
type Failure struct {
	Call
	// Code is that of the error.
	Code string
	// Effect is what the error says of the effect.
	Effect catalog.Effect
}

// Run runs the suite, each check with a fixture of its own. All fixtures must be
// alike: tools that differ from one to the next are a fault.
func Run(t *testing.T, fixture func(t testing.TB) Fixture) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.check(t, fixture) })
	}
	t.Run("leaves no goroutine behind", func(t *testing.T) { checkLeaks(t, fixture) })
}

// checks are the parts of the suite.
var checks = []struct {
	name  string
	check func(t testing.TB, fixture func(testing.TB) Fixture)
}{
	{"the fixture is complete", checkFixture},
	{"descriptors are complete and legal", checkDescriptors},
	{"listings are alike", checkListings},
	{"digests are alike in every process", checkDigests},
	{"good calls succeed and fit the output schema", checkGood},
	{"bad inputs never reach a tool", checkBad},
	{"failures are typed", checkFailing},
	{"cancellation ends a call at once", checkCancel},
	{"a listing whose context has ended comes back", checkListCancel},
	{"listings and calls run at once", checkConcurrency},
}

// scope may use every tool.
var scope = catalog.Scope{Tenant: "tenant", User: "user", Thread: "thread", Agent: "agent", Tools: []string{"*"}}

func newBroker(t testing.TB, source catalog.Source) *catalog.Broker {
	t.Helper()
	broker, err := catalog.New(source)
	if err != nil {
		t.Fatalf("the catalog refuses the source: %v", err)
	}
	return broker
}

func (c Call) request() catalog.Request {
	return catalog.Request{Tool: c.Tool, Input: []byte(c.Input), IdempotencyKey: "idempotency-key"}
}

func checkFixture(t testing.TB, fixture func(testing.TB) Fixture) {
	f := fixture(t)
	switch {
	case f.Source == nil:
		t.Error("Source is missing")
	case f.Source.Name() == "":
		t.Error("the source has no name")
	case len(f.Good) == 0:
		t.Error("Good has no call")
	case len(f.Bad) == 0:
		t.Error("Bad has no call")
	case f.Reached == nil:
		t.Error("Reached is missing")
	}
}
