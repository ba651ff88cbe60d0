package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/heddle-dev/heddle/codemode/engine"
)

// TestCallSitesComeBeforeAnythingIsCarriedOut asks for the calls of a source, of
// which the snippet itself makes only the first.
func TestCallSitesComeBeforeAnythingIsCarriedOut(t *testing.T) {
	e := newEngine(t, engine.Options{})
	p := program("const a: any = await orders.get({ id: 1 });\nif (a.x) await orders.refund({ id: a.id, all: true });")
	p.ListCalls = true
	s := start(t, e, p).wantCalls("1:call.get")
	var sites []struct {
		Path     []string
		Position struct{ Line, Column int }
	}
	if err := json.Unmarshal(s.step.CallSites, &sites); err != nil {
		t.Fatal(err)
	}
	if len(sites) != 2 || sites[1].Path[1] != "refund" || sites[1].Position.Line != 2 {
		t.Errorf("call sites = %+v", sites)
	}
	if s.give(1, "{}"); s.step.CallSites != nil {
		t.Error("the second step repeats the call sites")
	}
	if unasked := start(t, e, program("await orders.get({})")); unasked.step.CallSites != nil {
		t.Error("call sites that nobody asked for")
	}
}
