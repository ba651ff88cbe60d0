package codemode

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/check"
	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/signals/contract"
)

// codeCheck is the code of a snippet that was not run, for what can be read off it.
const codeCheck = "check_failed"

// maxListed bounds each list of a report.
const maxListed = 20

// report is what the agent is told of an execution. It never holds the source.
type report struct {
	Result json.RawMessage `json:"result,omitempty"`
	// Outline stands for a result that is too long, and Handle gets the whole.
	Outline json.RawMessage `json:"outline,omitempty"`
	Handle  string          `json:"handle,omitempty"`
	Bytes   int             `json:"bytes,omitempty"`
	Error   *snippet.Error  `json:"error,omitempty"`
	// Findings are what is wrong with a snippet that was not run.
	Findings []check.Finding `json:"findings,omitempty"`
	Hint     string          `json:"hint,omitempty"`
	// Console is a line each, with its level where that is not info.
	Console  []string `json:"console,omitempty"`
	Dropped  int      `json:"console_lines_dropped,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Calls counts the calls that were made, by tool.
	Calls map[string]int `json:"calls,omitempty"`
	// Failed are calls that were made and failed, NotMade those that were not made.
	Failed  []callReport `json:"failed,omitempty"`
	NotMade []callReport `json:"not_made,omitempty"`
	// Planned are, of a dry run, the effects that were not made.
	Planned []rehearsal `json:"planned,omitempty"`
	// Open are calls that had no outcome when the snippet ended.
	Open []callReport `json:"open,omitempty"`
	// NotAwaited are calls whose outcome the snippet did not wait for.
	NotAwaited []callReport `json:"not_awaited,omitempty"`
	// Unhandled are failures that nothing caught and that did not end the snippet.
	Unhandled  []snippet.Error `json:"unhandled,omitempty"`
	DurationMS int64           `json:"duration_ms"`
	Left       *left           `json:"left,omitempty"`
}

// callReport is a call in a list of a report.
type callReport struct {
	Tool   string `json:"tool"`
	Number int    `json:"call"`
	Line   int    `json:"line,omitempty"`
	Code   string `json:"code,omitempty"`
}

// rehearsal is an effect as it would be carried out.
type rehearsal struct {
	Tool          string          `json:"tool"`
	Number        int             `json:"call"`
	Line          int             `json:"line,omitempty"`
	NeedsApproval bool            `json:"needs_approval"`
	Preview       json.RawMessage `json:"preview,omitempty"`
}

// left is what is left of the budgets.
type left struct {
	TimeMS int64 `json:"time_ms"`
	CPUMS  int64 `json:"cpu_ms"`
	// Memory is in bytes, as Bytes is, which the results of calls may come to.
	Memory int64 `json:"memory"`
	Calls  int   `json:"calls"`
	Bytes  int64 `json:"bytes"`
}

// refused is the end of a snippet that was not run.
func (s *stretch) refused(findings []check.Finding) *activities.StretchEnd {
	e := &snippet.Error{
		Code:    codeCheck,
		Message: fmt.Sprintf("nothing of the snippet was carried out: %d of its calls cannot succeed", len(findings)),
		Hint:    "Correct what is listed and run it again: no call was made.",
		Effect:  string(catalog.EffectNone), Position: &findings[0].Position,
	}
	r := report{Error: e, Findings: findings, DurationMS: s.spent().Milliseconds()}
	first := findings[0]
	return &activities.StretchEnd{Report: r.encode(), Problem: &contract.Problem{
		Code: e.Code, Message: clip(fmt.Sprintf("%s; line %d: %s: %s", e.Message, first.Position.Line, first.Tool, first.Message), contract.MaxPartText),
	}}
}

func (s *stretch) spent() time.Duration { return s.in.Spent + time.Since(s.began) }

// report is the end of an execution.
func (s *stretch) report() *activities.StretchEnd {
	end, limits := s.end, s.runner.Engine.Limits()
	r := report{
		Result: end.Result, Error: end.Error, Hint: end.Hint, Dropped: s.dropped,
		Warnings: s.warnings[:min(len(s.warnings), maxListed)], Unhandled: end.Unhandled[:min(len(end.Unhandled), maxListed)],
		DurationMS: s.spent().Milliseconds(),
		Left: &left{
			TimeMS: max(s.runner.Budget.Wall-s.spent(), 0).Milliseconds(), CPUMS: max(limits.CPU-s.cpu, 0).Milliseconds(),
			Memory: max(limits.Memory-s.x.Memory(), 0),
			Calls:  limits.Calls - len(s.journal.Calls), Bytes: max(s.runner.Budget.Bytes-s.bytes, 0),
		},
	}
	for _, line := range s.console {
		text := line.Text
		if line.Level != "info" {
			text = "[" + line.Level + "] " + text
		}
		r.Console = append(r.Console, text)
	}
	r.Planned = s.rehearsed[:min(len(s.rehearsed), maxListed)]
	s.account(&r)
	out := &activities.StretchEnd{Value: end.Result, Lost: end.Truncated}
	if len(end.Outline) > 0 {
		r.Result, r.Outline, r.Bytes = nil, end.Outline, end.Bytes
		if !end.Truncated {
			out.Whole, r.Handle = end.Result, s.in.Call
			r.Hint = fmt.Sprintf("The result is too long to be shown in whole. In another snippet, await tools.result(%q) gives the whole, and { path, offset, limit } a part.", r.Handle)
		}
	}
	if end.Error != nil {
		out.Problem = &contract.Problem{Code: end.Error.Code, Message: clip(end.Error.Error(), contract.MaxPartText)}
	}
	out.Report = r.encode()
	return out
}

// account tells the calls that were made from those that were not.
func (s *stretch) account(r *report) {
	outcomes := map[int]*snippet.Error{}
	over := map[int]bool{}
	for _, d := range slices.Concat(s.journal.Deliveries, s.late) {
		outcomes[d.Call], over[d.Call] = d.Error, true
	}
	r.Calls = map[string]int{}
	for _, c := range s.journal.Calls {
		planned := slices.ContainsFunc(s.rehearsed, func(r rehearsal) bool { return r.Number == c.Number })
		if c.Kind != snippet.KindCall || planned {
			continue
		}
		listed := callReport{Tool: c.Tool, Number: c.Number, Line: s.calls[c.Number].Position.Line}
		failed := outcomes[c.Number]
		if failed != nil {
			listed.Code = failed.Code
		}
		switch {
		case !over[c.Number]:
			add(&r.Open, listed)
		case notMade(failed):
			add(&r.NotMade, listed)
		default:
			r.Calls[c.Tool]++
			if failed != nil {
				add(&r.Failed, listed)
			}
		}
		if slices.Contains(s.end.Unawaited, c.Number) {
			add(&r.NotAwaited, listed)
		}
	}
}

func add(list *[]callReport, c callReport) {
	if len(*list) < maxListed {
		*list = append(*list, c)
	}
}

// notMade reports whether an error says that its call was never carried out.
func notMade(e *snippet.Error) bool {
	if e == nil {
		return false
	}
	switch e.Code {
	case contract.CodeApprovalDenied, contract.CodeApprovalExpired, catalog.CodeToolNotFound, catalog.CodeInvalidInput,
		catalog.CodeDescriptorChanged, catalog.CodeInputChanged, catalog.CodeInvalidTool, catalog.CodePolicyBlocked,
		catalog.CodeModeDenied, catalog.CodeApprovalRequired, contract.CodeGrantRevoked:
		return true
	}
	return false
}

// encode writes a report within the bounds of a payload: what it does without, if
// it must, is the console first.
func (r report) encode() json.RawMessage {
	for _, shorten := range []func(){
		func() {},
		func() { r.Dropped, r.Console = r.Dropped+len(r.Console), nil },
		func() { r.Unhandled, r.Warnings = nil, nil },
		func() { r.Planned = r.Planned[:min(len(r.Planned), 3)] },
		func() {
			if r.Error != nil {
				r.Error = &snippet.Error{Code: r.Error.Code, Message: clip(r.Error.Message, contract.MaxPartText), Position: r.Error.Position}
			}
		},
		func() { r.Findings = r.Findings[:min(len(r.Findings), 3)] },
	} {
		shorten()
		encoded, err := json.Marshal(r)
		if err == nil && len(encoded) <= contract.MaxInline {
			return encoded
		}
	}
	return json.RawMessage(`{"error":{"code":"too_large","message":"the report of the snippet is too long"}}`)
}

// clip returns at most limit bytes of s and cuts no character in two.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	limit -= len(mark)
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:max(limit, 0)] + mark
}
