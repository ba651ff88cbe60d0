package engine_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// TestCallsOfAHostileChild: a child that is no longer what it was cannot have calls taken
// for others, or for ones that are counted already, nor make more of them than there may be.
func TestCallsOfAHostileChild(t *testing.T) {
	for name, tt := range map[string]struct{ replies, want string }{
		"a call twice":          {`[{"steps":[{"calls":[{"number":1}]}]},{"steps":[{"calls":[{"number":1}]}]}]`, "call 1, want call 2"},
		"a call twice at once":  {`[{"steps":[{"calls":[{"number":1},{"number":1}]}]}]`, "call 1, want call 2"},
		"a gap":                 {`[{"steps":[{"calls":[{"number":1},{"number":3}]}]}]`, "call 3, want call 2"},
		"no number":             {`[{"steps":[{"calls":[{"number":0}]}]}]`, "call 0, want call 1"},
		"a negative number":     {`[{"steps":[{"calls":[{"number":-1}]}]}]`, "call -1, want call 1"},
		"too many calls":        {`[{"steps":[{"calls":[{"number":1},{"number":2},{"number":3},{"number":4}]}]}]`, "4 calls, at most 3"},
		"more steps than asked": {`[{"steps":[{"calls":[{"number":1}]}]},{"steps":[{},{}]}]`, "2 steps, want 1 to 1"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := engine.New(engine.Options{Command: []string{os.Args[0], lyingChild, tt.replies}, AllowUnhardened: true, Limits: snippet.Limits{Calls: 3}})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			x, step, err := e.Start(t.Context(), program("whatever"))
			if err == nil {
				defer x.Close()
				_, err = x.Deliver(t.Context(), snippet.Delivery{Call: step.Calls[0].Number, Result: json.RawMessage("1"), At: epoch})
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

// A journal that is gone on from has calls that may be told of again, and no others.
func TestCallsOfAHostileChildWithAJournal(t *testing.T) {
	for name, tt := range map[string]struct{ replies, want string }{
		"what is open":         {`[{"steps":[{"calls":[{"number":2},{"number":3}]}]},{"steps":[{}]}]`, ""},
		"one that is known":    {`[{"steps":[{"calls":[{"number":2}]}]},{"steps":[{"calls":[{"number":1}]}]}]`, "call 1, want call 3"},
		"what is open, twice":  {`[{"steps":[{"calls":[{"number":2}]}]},{"steps":[{"calls":[{"number":2}]}]}]`, "call 2, want call 3"},
		"no number at first":   {`[{"steps":[{"calls":[{"number":0}]}]}]`, "call 0, want call 3"},
		"what is open, turned": {`[{"steps":[{"calls":[{"number":2},{"number":1}]}]}]`, "call 1, want call 3"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := engine.New(engine.Options{Command: []string{os.Args[0], lyingChild, tt.replies}, AllowUnhardened: true})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			p := program("whatever")
			p.Journal.Calls = []snippet.Record{{Number: 1}, {Number: 2}}
			x, _, err := e.Start(t.Context(), p)
			if err == nil {
				defer x.Close()
				_, err = x.Deliver(t.Context(), snippet.Delivery{Call: 2, At: epoch})
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}
