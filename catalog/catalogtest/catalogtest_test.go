package catalogtest

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// sound is a source that passes the suite.
func sound(testing.TB) Fixture {
	s := &fake{}
	s.tools = []catalog.Tool{
		{
			Descriptor: catalog.Descriptor{
				ID: "fake.echo", Description: "Answers what it got.", Operation: catalog.Write,
				Input:  json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
				Output: json.RawMessage(`{"type":"object"}`),
			},
			Call: func(_ context.Context, call catalog.Call) (json.RawMessage, error) {
				s.reached.Add(1)
				if string(call.Input) == `{"text":"fail"}` {
					return nil, &catalog.Error{Code: "failed", Message: "it failed", Effect: catalog.EffectNone}
				}
				return call.Input, nil
			},
		},
		{
			Descriptor: catalog.Descriptor{ID: "fake.wait", Description: "Waits.", Operation: catalog.Read, Input: json.RawMessage(`{"type":"object"}`)},
			Call: func(ctx context.Context, _ catalog.Call) (json.RawMessage, error) {
				s.reached.Add(1)
				<-ctx.Done()
				return nil, ctx.Err()
			},
		},
	}
	return Fixture{
		Source:  s,
		Good:    []Call{{Tool: "fake.echo", Input: `{"text":"hello"}`}},
		Bad:     []Call{{Tool: "fake.echo", Input: `{}`}},
		Failing: []Failure{{Call: Call{Tool: "fake.echo", Input: `{"text":"fail"}`}, Code: "failed", Effect: catalog.EffectNone}},
		Slow:    &Call{Tool: "fake.wait"},
		Reached: func() int { return int(s.reached.Load()) },
	}
}

type fake struct {
	tools   []catalog.Tool
	reached atomic.Int64
	listed  atomic.Int64
	// spoil changes what a listing returns.
	spoil func(nth int64, tools []catalog.Tool) []catalog.Tool
}

func (*fake) Name() string { return "fake" }

func (s *fake) Tools(context.Context) ([]catalog.Tool, error) {
	tools := append([]catalog.Tool(nil), s.tools...)
	if s.spoil != nil {
		tools = s.spoil(s.listed.Add(1), tools)
	}
	return tools, nil
}

func TestSoundSourcePasses(t *testing.T) { Run(t, sound) }

// TestBrokenSourcesFail breaks one thing at a time and names the check that must
// find it.
func TestBrokenSourcesFail(t *testing.T) {
	var made atomic.Int64
	spoil := func(change func(nth int64, tools []catalog.Tool) []catalog.Tool) func(*Fixture) {
		return func(f *Fixture) { f.Source.(*fake).spoil = change }
	}
	for _, c := range []struct {
		fault string
		check string
		spoil func(*Fixture)
	}{
		{"illegal id", "descriptors are complete and legal", spoil(func(_ int64, t []catalog.Tool) []catalog.Tool { t[0].ID = "echo"; return t })},
		{"same id twice", "descriptors are complete and legal", spoil(func(_ int64, t []catalog.Tool) []catalog.Tool { return append(t, t[0]) })},
		{"no description", "descriptors are complete and legal", spoil(func(_ int64, t []catalog.Tool) []catalog.Tool { t[1].Description = ""; return t })},
		{"no tools", "descriptors are complete and legal", spoil(func(int64, []catalog.Tool) []catalog.Tool { return nil })},
		{"input is no object", "descriptors are complete and legal", spoil(func(_ int64, t []catalog.Tool) []catalog.Tool { t[1].Input = json.RawMessage(`{}`); return t })},
		{"output schema is broken", "descriptors are complete and legal", spoil(func(_ int64, t []catalog.Tool) []catalog.Tool { t[1].Output = json.RawMessage(`{"type":1}`); return t })},
		{"order changes", "listings are alike", spoil(func(n int64, t []catalog.Tool) []catalog.Tool {
			if n%2 == 0 {
				t[0], t[1] = t[1], t[0]
			}
			return t
		})},
		{"description differs between workers", "digests are alike in every process", func(f *Fixture) {
			f.Source.(*fake).tools[0].Description += fmt.Sprint(made.Add(1))
		}},
		{"input is completed at random", "digests are alike in every process", func(f *Fixture) {
			f.Source.(*fake).tools[0].Prepare = func(json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(fmt.Sprintf(`{"text":"%d"}`, made.Add(1))), nil
			}
		}},
		{"output does not fit", "good calls succeed and fit the output schema", func(f *Fixture) {
			f.Source.(*fake).tools[0].Output = json.RawMessage(`{"required":["id"]}`)
		}},
		{"bad input is good", "bad inputs never reach a tool", func(f *Fixture) {
			f.Source.(*fake).tools[0].Input = json.RawMessage(`{"type":"object"}`)
		}},
		{"failure succeeds", "failures are typed", func(f *Fixture) { f.Failing[0].Input = `{"text":"x"}` }},
		{"failure has another code", "failures are typed", func(f *Fixture) { f.Failing[0].Code = "other" }},
		{"slow call is fast", "cancellation ends a call at once", func(f *Fixture) { f.Slow = &f.Good[0] }},
		{"fixture has no calls", "the fixture is complete", func(f *Fixture) { f.Good = nil }},
	} {
		t.Run(c.fault, func(t *testing.T) {
			for _, check := range checks {
				if check.name != c.check {
					continue
				}
				r := &recorder{TB: t}
				r.run(func() {
					check.check(r, func(t testing.TB) Fixture {
						f := sound(t)
						c.spoil(&f)
						return f
					})
				})
				if !r.failed {
					t.Errorf("the check %q does not find it", c.check)
				}
				return
			}
			t.Fatalf("there is no check %q", c.check)
		})
	}
}

// recorder notes that a test failed, in place of failing it.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	failed bool
}

func (r *recorder) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Error(...any)          { r.fail() }
func (r *recorder) Errorf(string, ...any) { r.fail() }
func (r *recorder) Fatalf(string, ...any) { r.fail(); runtime.Goexit() }
func (r *recorder) Fatal(...any)          { r.fail(); runtime.Goexit() }

// run runs a check in a goroutine of its own, which it may end.
func (r *recorder) run(check func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		check()
	}()
	<-done
}
