package activities

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Who sets limits of turns and threads: the agent's configuration, and the thread's
// backend when it opens the thread.
const (
	SetByAgent  = "agent"
	SetByThread = "thread"
)

// Bounds are limits of a turn or a thread, with what has been used of them.
type Bounds struct {
	contract.Limits
	Used Used
	// At is where the limits stand, such as limits.thread, and SetBy who set them.
	At, SetBy string
	// Whose they are: a turn's or a thread's.
	Whose string
}

// Used is what a turn or a thread has used.
type Used struct {
	contract.Usage
	Steps int
	// Time is how long its turns have taken, waits for people not counted.
	Time time.Duration
}

// bound is one limit: what is used may come up to it, or where strict stay below.
type bound struct {
	name        string
	limit, used int64
	unit        string
	strict      bool
}

func (b Bounds) ofCalls() []bound {
	return []bound{
		{"calls", int64(b.Calls), int64(b.Used.Calls), "calls", false},
		{"input_bytes", b.InputBytes, b.Used.InputBytes, "bytes", false},
		{"output_bytes", b.OutputBytes, b.Used.OutputBytes, "bytes", false},
	}
}

// Over says which limit forbids another step, if any.
func (b Bounds) Over() *catalog.Exceeded {
	return b.over(append([]bound{
		{"steps", int64(b.Steps), int64(b.Used.Steps), "steps", true},
		{"tokens", b.Tokens, b.Used.InputTokens + b.Used.OutputTokens, "tokens", true},
		{"cost_usd", b.CostMicros, b.Used.CostMicros, "micro-USD", true},
		{"time", b.TimeMS, b.Used.Time.Milliseconds(), "ms", true},
	}, b.ofCalls()...))
}

// OverCalls says which limit forbids the calls that are counted in Used, if any.
func (b Bounds) OverCalls() *catalog.Exceeded { return b.over(b.ofCalls()) }

func (b Bounds) over(bounds []bound) *catalog.Exceeded {
	for _, one := range bounds {
		if one.limit > 0 && (one.used > one.limit || one.strict && one.used == one.limit) {
			return b.exceeded(one)
		}
	}
	return nil
}

func (b Bounds) exceeded(one bound) *catalog.Exceeded {
	return &catalog.Exceeded{Limit: b.At + "." + one.name, Value: one.limit, Unit: one.unit, SetBy: b.SetBy, Used: one.used}
}

// Problem says that a turn or a thread of an agent came to a limit.
func (b Bounds) Problem(agent string, e *catalog.Exceeded) *contract.Problem {
	value, used := amount(e.Value, e.Unit), amount(e.Used, e.Unit)
	details, err := json.Marshal(rest{Limit: e})
	if err != nil {
		details = nil // numbers and words always encode
	}
	return &contract.Problem{Code: contract.CodeLimit, Details: details, Message: fmt.Sprintf(
		"%s of agent %s: a %s may use %s, and this one came to %s (set by the %s)", e.Limit, agent, b.Whose, value, used, e.SetBy)}
}

// amount words a number for people.
func amount(n int64, unit string) string {
	switch unit {
	case "micro-USD":
		return fmt.Sprintf("$%d.%06d", n/1_000_000, n%1_000_000)
	case "ms":
		return (time.Duration(n) * time.Millisecond).Round(time.Second / 10).String()
	case "bytes", "tokens":
		return fmt.Sprintf("%d %s", n, unit)
	}
	return fmt.Sprint(n)
}

// Allowance is what the calls of a snippet may still use. Nil: anything.
type Allowance struct {
	Calls       *Left `json:"calls,omitempty"`
	InputBytes  *Left `json:"input_bytes,omitempty"`
	OutputBytes *Left `json:"output_bytes,omitempty"`
}

// Left is what is left of a limit.
type Left struct {
	catalog.Exceeded
	Left int64 `json:"left"`
}

// Allow is what all of the bounds leave.
func Allow(all []Bounds) Allowance {
	var a Allowance
	into := []**Left{&a.Calls, &a.InputBytes, &a.OutputBytes}
	for _, b := range all {
		for i, one := range b.ofCalls() {
			left := max(one.limit-one.used, 0)
			if one.limit > 0 && (*into[i] == nil || left < (*into[i]).Left) {
				*into[i] = &Left{Exceeded: *b.exceeded(one), Left: left}
			}
		}
	}
	return a
}

// Refusal is the error of a call past a limit: nil while there is as much left as it
// needs, and where there is no limit.
func (l *Left) Refusal(used, needs int64) *catalog.Error {
	if l == nil || used+needs <= l.Left {
		return nil
	}
	limit := l.Exceeded
	limit.Used += used + needs
	return &catalog.Error{
		Code: catalog.CodeLimit, Effect: catalog.EffectNone, Limit: &limit,
		Message: "the call was not made: " + limit.String(), Hint: "finish with what there is",
	}
}
