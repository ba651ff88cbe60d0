package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/catalogtest"
)

// conditions are those of a broker's sources, by name.
func conditions(b *catalog.Broker, scope catalog.Scope) map[string]catalog.Condition {
	all := map[string]catalog.Condition{}
	for _, c := range b.Conditions(scope) {
		all[c.Source] = c
	}
	return all
}

// Conditions tell what is known, and ask nothing.
func TestConditionsAskNothing(t *testing.T) {
	far := &elsewhere{}
	b := broker(t, far, of("local", read("orders.get")))
	if known := conditions(b, everyone); len(known) != 1 || known["local"].Source == "" {
		t.Errorf("before anybody asked: %+v", known)
	}
	if far.asked.Load() != 0 {
		t.Error("a source was asked")
	}
	unavailable(t, b) // asks
	if known := conditions(b, everyone); len(known) != 2 || len(known["far"].Unavailable) != 0 {
		t.Errorf("once it was asked: %+v", known)
	}
	if known := conditions(b, catalog.Scope{Tools: []string{"near.*"}}); len(known) != 1 {
		t.Errorf("of a scope that it is not for: %+v", known)
	}
}

func TestConditionsFollowASource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := true
		far := remote{of("far")}
		far.list = func(context.Context) ([]catalog.Tool, error) {
			if !up {
				return nil, errors.New("connection refused")
			}
			return []catalog.Tool{read("far.get"), read("far.get"), read("near.get")}, nil
		}
		b := broker(t, far)
		unavailable(t, b)
		if c := conditions(b, everyone)["far"]; len(c.Unavailable) != 0 || len(c.LeftOut) != 2 ||
			!strings.Contains(c.LeftOut[0], "used twice") || !strings.Contains(c.LeftOut[1], "not of the namespace") {
			t.Errorf("with tools that cannot be used: %+v", c)
		}
		up = false
		unavailable(t, b)
		if c := conditions(b, everyone)["far"]; len(c.Unavailable) != 1 || c.Unavailable[0].Reason != "connection refused" || len(c.LeftOut) != 2 {
			t.Errorf("with the old listing: %+v", c)
		}
		up = true
		time.Sleep(time.Minute)
		unavailable(t, b)
		if c := conditions(b, everyone)["far"]; len(c.Unavailable) != 0 {
			t.Errorf("when it is well again: %+v", c)
		}
	})
}

func TestConditionsOfASourceThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := remote{of("far")}
		far.list = func(ctx context.Context) ([]catalog.Tool, error) { <-ctx.Done(); return nil, ctx.Err() }
		b := broker(t, far)
		go func() { _, _ = b.Snapshot(t.Context(), everyone) }()
		synctest.Wait()
		if known := conditions(b, everyone); len(known) != 0 {
			t.Errorf("while nobody has waited for long: %+v", known)
		}
		time.Sleep(3 * time.Second)
		if c := conditions(b, everyone)["far"]; len(c.Unavailable) != 1 || !strings.Contains(c.Unavailable[0].Reason, "not answered yet") {
			t.Errorf("after three seconds: %+v", c)
		}
		time.Sleep(20 * time.Second)
		if c := conditions(b, everyone)["far"]; len(c.Unavailable) != 1 || !strings.Contains(c.Unavailable[0].Reason, "deadline exceeded") {
			t.Errorf("in the end: %+v", c)
		}
	})
}

// Of a tool that two sources list, the second source is told of, on every worker.
func TestClashesAreConditions(t *testing.T) {
	for range 3 {
		first, second := of("first", read("orders.get")), of("second")
		b := broker(t, first, second)
		second.list = func(context.Context) ([]catalog.Tool, error) {
			return []catalog.Tool{read("orders.get"), read("orders.list")}, nil
		}
		unavailable(t, b)
		known := conditions(b, everyone)
		if c := known["second"]; len(c.LeftOut) != 1 || !strings.Contains(c.LeftOut[0], `tool id "orders.get" is used twice`) || len(known["first"].LeftOut) != 0 {
			t.Errorf("conditions are %+v", known)
		}
	}
}

// What a source says of its failure is bounded.
func TestConditionsAreBounded(t *testing.T) {
	far := remote{of("far")}
	far.list = func(context.Context) ([]catalog.Tool, error) { return nil, errors.New(strings.Repeat("x", 9000)) }
	b := broker(t, far)
	unavailable(t, b)
	if c := conditions(b, everyone)["far"]; len(c.Unavailable) != 1 || len(c.Unavailable[0].Reason) > 400 {
		t.Errorf("conditions are %+v", c)
	}
}

// Of sources that fail in ten ways, those that cannot be read and those that list what
// is no tool are told apart.
func TestConditionsOfEachFault(t *testing.T) {
	sources := len(catalogtest.Faults) + 2
	b := broker(t, catalogtest.Many(sources, 10)...)
	unread := 0
	for _, fault := range catalogtest.Faults {
		if fault.Unread {
			unread++
		}
	}
	// A list goes on without the slow ones: on a busy machine there are more at first.
	for end := time.Now().Add(3 * time.Minute); len(unavailable(t, b)) > unread && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	known := conditions(b, everyone)
	for i, fault := range catalogtest.Faults {
		c := known[fmt.Sprintf("s%d", i+2)]
		if (len(c.Unavailable) > 0) != fault.Unread {
			t.Errorf("%s: unavailable are %v", fault.Name, c.Unavailable)
		}
		if want := map[string]bool{"lies about its namespace": true, "lists duplicates": true, "lists what is no tool": true, "is huge": true}[fault.Name]; (len(c.LeftOut) > 0) != want {
			t.Errorf("%s: left out are %v", fault.Name, c.LeftOut)
		}
	}
	if c := known["s0"]; len(c.Unavailable)+len(c.LeftOut) > 0 {
		t.Errorf("of a source that is well: %+v", c)
	}
}

// candid is a source that says itself what its listing lacks.
type candid struct {
	remote
	stale   error
	leftOut []string
}

func (c *candid) Shortfall(catalog.Scope) (leftOut []string, stale error) { return c.leftOut, c.stale }

// A source that goes on with what it had says so, to those who search and to the thread.
func TestCandidSource(t *testing.T) {
	far := &candid{remote: remote{of("far", read("far.get"))}}
	b := broker(t, far)
	if why := unavailable(t, b); len(why) != 0 {
		t.Errorf("while it is well: %v", why)
	}
	far.stale, far.leftOut = errors.New("connection refused"), []string{"Get: its id far.get is like that of another tool"}
	if why := unavailable(t, b); len(why) != 1 || why[0].Source != "far" || why[0].Reason != "connection refused" {
		t.Errorf("unavailable are %v", why)
	}
	if c := conditions(b, everyone)["far"]; len(c.Unavailable) != 1 || len(c.LeftOut) != 1 || c.LeftOut[0] != far.leftOut[0] {
		t.Errorf("conditions are %+v", c)
	}
	if out := do(t, b, "far.get", "{}"); out.Error != nil {
		t.Errorf("the old listing: %v", out.Error)
	}
	far.stale = nil
	if why := unavailable(t, b); len(why) != 0 {
		t.Errorf("when it is well again: %v", why)
	}
}

// One that panics when it is asked what it lacks costs nothing but that.
func TestCandidSourceThatPanics(t *testing.T) {
	b := broker(t, panicking{remote{of("far", read("far.get"))}})
	if why := unavailable(t, b); len(why) != 1 || !strings.Contains(why[0].Reason, "panicked") {
		t.Errorf("unavailable are %v", why)
	}
	if out := do(t, b, "far.get", "{}"); out.Error != nil {
		t.Errorf("its tool: %v", out.Error)
	}
}

type panicking struct{ remote }

func (panicking) Shortfall(catalog.Scope) (leftOut []string, stale error) { panic("out of order") }
