package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

// hooks are the functions of the prelude that Go calls.
type hooks struct {
	// run calls the snippet and tells host.end or host.fail what came of it.
	run goja.Callable
	// failure makes the error object that a snippet catches.
	failure goja.Callable
	// entries gives the entries of a Map, and values those of a Set, as an array.
	entries, values goja.Callable
	// isArray is Array.isArray, and valueOf Object.prototype.valueOf of what boxes a
	// primitive.
	isArray, valueOf goja.Callable
}

// newExecution makes a furnished runtime for an execution that begin starts.
func newExecution() (*execution, error) {
	x := &execution{rt: goja.New(), hostError: map[*goja.Object]*snippet.Error{}}
	x.rt.SetMaxCallStackSize(maxCallStack)
	x.rt.SetTimeSource(func() time.Time { return x.clock })
	x.rt.SetRandSource(func() float64 { return x.random.float() })
	x.rt.SetPromiseRejectionTracker(x.trackRejection)
	return x, x.furnish()
}

// begin sets what is the program's own: limits, clock, randomness, input, namespaces.
func (x *execution) begin(program *snippet.Program) error {
	x.limits, x.journal = program.Limits, program.Journal
	x.clock, x.begun, x.random = program.Now, program.Now, newRandom(program.Seed)
	x.console.limit = program.Limits.ConsoleBytes
	if err := x.addInput(program.Input); err != nil {
		return err
	}
	return x.addNamespaces(program.API)
}

// inputName is the global that holds what a snippet is given.
const inputName = "input"

func (x *execution) addInput(input json.RawMessage) error {
	if len(input) == 0 {
		return nil
	}
	value, ok := parse(x.rt, string(input))
	if !ok {
		return fmt.Errorf("input: %w", errNotJSON)
	}
	return x.rt.GlobalObject().DefineDataProperty(inputName, value, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// host is the object through which the prelude reaches Go. The snippet never
// sees it.
func (x *execution) host() *goja.Object {
	host := x.rt.NewObject()
	for name, function := range map[string]func(goja.FunctionCall) goja.Value{
		"issue": x.hostIssue, "after": x.hostAfter, "cancel": x.hostCancel,
		"end": x.hostEnd, "fail": x.hostFail, "log": x.hostLog, "random": x.hostRandom, "begun": x.hostBegun,
	} {
		must(host.Set(name, function))
	}
	for name, function := range x.natives() {
		must(host.Set(name, function))
	}
	return host
}

// hostIssue makes a call: kind, tool, input.
func (x *execution) hostIssue(call goja.FunctionCall) goja.Value {
	input, problem := x.input(call.Argument(2))
	return x.issue(snippet.Kind(call.Argument(0).String()), call.Argument(1).String(), input, problem)
}

// hostAfter calls a function later: milliseconds, function. It returns what
// hostCancel takes.
func (x *execution) hostAfter(call goja.FunctionCall) goja.Value {
	callback, ok := goja.AssertFunction(call.Argument(1))
	if !ok {
		panic(x.rt.NewTypeError("the callback of a timer must be a function"))
	}
	milliseconds := call.Argument(0).ToInteger()
	if milliseconds <= 0 {
		x.taskCount++
		x.tasks = append(x.tasks, task{id: -x.taskCount, run: callback})
		return x.rt.ToValue(-x.taskCount)
	}
	number, problem := x.after(fmt.Appendf(nil, `{"ms":%d}`, milliseconds), callback)
	if problem != nil {
		panic(x.errorObject(problem, x.frames()))
	}
	return x.rt.ToValue(number)
}

func (x *execution) hostCancel(call goja.FunctionCall) goja.Value {
	id := int(call.Argument(0).ToInteger())
	x.tasks = slices.DeleteFunc(x.tasks, func(t task) bool { return t.id == id })
	x.cancel(id)
	return goja.Undefined()
}

// hostEnd takes the snippet's result.
func (x *execution) hostEnd(call goja.FunctionCall) goja.Value {
	if !x.ended {
		x.ended = true
		x.end = x.result(call.Argument(0))
	}
	return goja.Undefined()
}

// hostFail takes what the snippet threw.
func (x *execution) hostFail(call goja.FunctionCall) goja.Value {
	if !x.ended {
		x.ended = true
		x.end = &snippet.End{Error: x.errorOf(call.Argument(0), 0)}
	}
	return goja.Undefined()
}

// hostRandom gives random bytes as an array: how many.
func (x *execution) hostRandom(call goja.FunctionCall) goja.Value {
	return x.rt.ToValue(x.rt.NewArrayBuffer(x.random.bytes(int(call.Argument(0).ToInteger()))))
}

// hostBegun is when the execution began, in milliseconds.
func (x *execution) hostBegun(goja.FunctionCall) goja.Value {
	return x.rt.ToValue(x.begun.UnixMilli())
}

// addNamespaces defines a global for the first segment of each namespace's name.
// What is in it is made when the snippet first looks at it.
func (x *execution) addNamespaces(api json.RawMessage) error {
	if len(api) == 0 {
		return nil
	}
	var namespaces map[string]json.RawMessage
	if err := json.Unmarshal(api, &namespaces); err != nil {
		return fmt.Errorf("api: %w", err)
	}
	roots := map[string][]string{}
	for name := range namespaces {
		root, _, _ := strings.Cut(name, ".")
		if root == "" || snippet.Reserved(root) {
			return fmt.Errorf("api: namespace %q would hide a global of the language", name)
		}
		roots[root] = append(roots[root], name)
	}
	for _, root := range sortedKeys(roots) {
		names := roots[root]
		slices.Sort(names)
		if err := x.addRoot(root, names, namespaces); err != nil {
			return err
		}
	}
	return nil
}

func (x *execution) addRoot(root string, names []string, namespaces map[string]json.RawMessage) error {
	var made *goja.Object
	getter := x.rt.ToValue(func(goja.FunctionCall) goja.Value {
		if made == nil {
			made = x.rt.NewObject()
			for _, name := range names {
				x.fill(made, name, namespaces[name])
			}
		}
		return made
	})
	return x.rt.GlobalObject().DefineAccessorProperty(root, getter, nil, goja.FLAG_FALSE, goja.FLAG_TRUE)
}

// fill adds the methods of one namespace below the object of its root.
func (x *execution) fill(root *goja.Object, name string, methods json.RawMessage) {
	at := root
	segments := strings.Split(name, ".")
	for _, segment := range segments[1:] {
		next, ok := at.Get(segment).(*goja.Object)
		if !ok {
			next = x.rt.NewObject()
			must(at.DefineDataProperty(segment, next, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE))
		}
		at = next
	}
	var tools map[string]string
	if json.Unmarshal(methods, &tools) != nil {
		panic(x.rt.NewTypeError("namespace %s: its methods are no object of tool ids", name))
	}
	for _, method := range sortedKeys(tools) {
		must(at.DefineDataProperty(method, x.method(name+"."+method, tools[method]), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE))
	}
}

// method is the function of a namespace that calls one tool.
func (x *execution) method(path, tool string) goja.Value {
	return x.rt.ToValue(func(call goja.FunctionCall) goja.Value {
		var problem *snippet.Error
		input := []byte("{}")
		switch {
		case len(call.Arguments) > 1:
			problem = &snippet.Error{
				Code:    snippet.CodeInvalidInput,
				Message: fmt.Sprintf("%s takes one argument, an object, and was given %d", path, len(call.Arguments)),
				Hint:    fmt.Sprintf("Name the fields: await %s({ ... })", path),
			}
		case len(call.Arguments) == 1 && !goja.IsUndefined(call.Argument(0)):
			input, problem = x.input(call.Argument(0))
		}
		return x.issue(snippet.KindCall, tool, bytes.Clone(input), problem)
	})
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
