package sandbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

const (
	// maxMessage is how much of a message is told, in bytes.
	maxMessage = 8 << 10
	// maxCauses is how deep the causes of an error are followed, and how many
	// members of an AggregateError are told.
	maxCauses = 4
)

// errorObject makes what the snippet catches of a failed call.
func (x *execution) errorObject(problem *snippet.Error, stack []snippet.Frame) *goja.Object {
	told := *problem
	told.Stack, told.Name = nil, ""
	fields, err := json.Marshal(told)
	must(err)
	value, err := x.hooks.failure(goja.Undefined(), x.rt.ToValue(string(fields)), x.rt.ToValue(stackText(stack)))
	must(err)
	object := value.ToObject(x.rt)
	known := *problem
	x.hostError[object] = &known
	return object
}

// missingGlobals are what scripts reach for and a snippet has not, and what it has
// instead.
var missingGlobals = map[string]string{
	"require":   "A snippet has no modules: all there is, is global.",
	"module":    "A snippet has no modules: return the result, or make it the last expression.",
	"exports":   "A snippet has no modules: return the result, or make it the last expression.",
	"fetch":     "A snippet has no network: call a tool, such as one that tools.search finds.",
	"process":   "A snippet has no process and no environment: call a tool for what it needs.",
	"Buffer":    "Use Uint8Array, TextEncoder and TextDecoder, atob and btoa, or Uint8Array.fromBase64.",
	"window":    "A snippet runs in no browser: what is global is on globalThis.",
	"document":  "A snippet runs in no browser: call a tool to use one.",
	"Deno":      "A snippet runs in no Deno: call a tool for files and network.",
	"__dirname": "A snippet has no files: call a tool for them.",
	"Temporal":  "Use Date and Intl.DateTimeFormat.",
}

func stackText(stack []snippet.Frame) string {
	var text strings.Builder
	for _, frame := range stack {
		function := frame.Function
		if function == "" {
			function = "snippet"
		}
		fmt.Fprintf(&text, "\n    at %s (%s:%d:%d)", function, sourceName, frame.Line, frame.Column)
	}
	return text.String()
}

// errorOf tells what was thrown.
func (x *execution) errorOf(v goja.Value, depth int) *snippet.Error {
	o, ok := v.(*goja.Object)
	if !ok {
		return &snippet.Error{Code: snippet.CodeException, Message: cut(x.inspect(v))}
	}
	if known := x.hostError[o]; known != nil {
		told := *known
		told.Name = "ToolError"
		return &told
	}
	if !x.is(o, classError) {
		return &snippet.Error{
			Code: snippet.CodeException, Message: "thrown: " + cut(x.inspect(v)),
			Hint: "Throw an Error, which knows where it was made.",
		}
	}
	problem := &snippet.Error{
		Code: snippet.CodeException, Name: x.text(o, "name"), Message: cut(x.text(o, "message")),
		Stack: parseStack(x.text(o, "stack")),
	}
	setPosition(problem, problem.Stack)
	if name, ok := strings.CutSuffix(problem.Message, " is not defined"); ok {
		problem.Hint = missingGlobals[name]
	}
	if depth < maxCauses {
		problem.Causes = x.causes(o, depth)
	}
	return problem
}

// causes are the cause of an error, and the members of an AggregateError.
func (x *execution) causes(o *goja.Object, depth int) []snippet.Error {
	var causes []snippet.Error
	if cause, thrown := x.property(o, "cause"); thrown == nil && !goja.IsUndefined(cause) {
		causes = append(causes, *x.errorOf(cause, depth+1))
	}
	errors, thrown := x.property(o, "errors")
	list, ok := errors.(*goja.Object)
	if thrown != nil || !ok || !x.is(list, classArray) {
		return causes
	}
	for i := range maxCauses {
		member, thrown := x.property(list, index(i))
		if thrown != nil || goja.IsUndefined(member) {
			break
		}
		causes = append(causes, *x.errorOf(member, depth+1))
	}
	return causes
}

var stackLine = regexp.MustCompile(`(?m)^\s*at (?:(?:async )?([^\s(]+) \()?` + regexp.QuoteMeta(sourceName) + `:(\d+):(\d+)`)

// parseStack reads the functions of the snippet out of the stack of an error.
func parseStack(text string) []snippet.Frame {
	var frames []snippet.Frame
	for _, match := range stackLine.FindAllStringSubmatch(text, maxFrames) {
		line, _ := strconv.Atoi(match[2])
		column, _ := strconv.Atoi(match[3])
		name := match[1]
		if name == bodyName {
			name = ""
		}
		frames = append(frames, snippet.Frame{Function: name, Position: snippet.Position{Line: line, Column: column}})
	}
	return frames
}

// describe is an error in one line.
func describe(e *snippet.Error) string {
	if e.Name == "" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}

// cut bounds a message.
func cut(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + fmt.Sprintf("… (%d bytes)", len(text))
}
