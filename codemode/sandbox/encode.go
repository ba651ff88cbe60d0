package sandbox

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dop251/goja"

	"github.com/heddle-dev/heddle/codemode/internal/outline"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

const (
	// maxResult is the largest result that is handed over whole, and maxInput the
	// largest input of a call, in bytes of JSON.
	maxResult = 16 << 20
	maxInput  = 4 << 20
	// maxDepth is how deeply a result or an input may be nested.
	maxDepth = 200
	// maxSafe is the largest integer that all readers of JSON read alike.
	maxSafe = 1<<53 - 1
)

// encoder writes values of the snippet as JSON. It reads them as goja has them,
// so that nothing the snippet does to its globals changes what is written.
//
// A result has a word for everything: what JSON lacks is named. The input of a
// call is data or refused: a tool must not be sent a guess.
type encoder struct {
	x      *execution
	input  bool
	max    int
	out    []byte
	around []*goja.Object
	path   []string

	problem string // why an input is refused
	full    bool   // max was reached; what is open is closed, and that is all
	promise bool   // a promise was met
}

// result writes the value of the snippet.
func (x *execution) result(v goja.Value) *snippet.End {
	if v == nil || goja.IsUndefined(v) {
		return &snippet.End{Undefined: true, Hint: "The snippet gave no value: return one, or make it the last expression."}
	}
	e := &encoder{x: x, max: maxResult}
	e.value(v)
	end := &snippet.End{Result: e.out, Bytes: len(e.out)}
	if e.promise {
		end.Hint = "The result holds a promise that was not awaited."
	} else if x.is(v, classFunction) {
		end.Hint = "The result is a function: call it."
	}
	if budget := x.limits.OutputBytes; e.full || budget > 0 && len(e.out) > budget {
		end.Outline = outline.Of(e.out, budget)
	}
	if e.full {
		end.Truncated, end.Result = true, nil
	}
	return end
}

// input writes the input of a call.
func (x *execution) input(v goja.Value) ([]byte, *snippet.Error) {
	e := &encoder{x: x, max: maxInput, input: true}
	if v == nil || goja.IsUndefined(v) {
		return []byte("{}"), nil
	}
	e.value(v)
	if e.full && e.problem == "" {
		e.problem = fmt.Sprintf("input is larger than %d bytes", maxInput)
	}
	if e.problem != "" {
		return nil, &snippet.Error{Code: snippet.CodeInvalidInput, Message: e.problem}
	}
	return e.out, nil
}

// name writes what a value is, in brackets, where JSON has no word for it. No
// input holds such a value.
func (e *encoder) name(what string) {
	if e.input {
		e.refuse("is no data: " + strings.Trim(what, "[]"))
		return
	}
	e.string(what)
}

// refuse makes an input invalid.
func (e *encoder) refuse(why string) {
	if e.problem == "" {
		e.problem = "input" + strings.Join(e.path, "") + " " + why
	}
	e.full = true
}

func (e *encoder) value(v goja.Value) {
	if len(e.out) > e.max {
		e.full = true
	}
	switch {
	case e.full, v == nil, goja.IsUndefined(v), goja.IsNull(v):
		e.raw("null")
	default:
		switch v := v.(type) {
		case *goja.Object:
			e.object(v)
		case *goja.Symbol:
			e.name("[Symbol " + v.String() + "]")
		case goja.String:
			e.string(v.String())
		default:
			e.primitive(v)
		}
	}
}

func (e *encoder) primitive(v goja.Value) {
	switch exported := v.Export().(type) {
	case *big.Int:
		e.bigint(exported)
	case float64:
		if math.IsNaN(exported) || math.IsInf(exported, 0) {
			e.name(v.String())
			return
		}
		e.raw(v.String())
	default: // booleans and integers
		e.raw(v.String())
	}
}

// bigint writes a BigInt: for a tool as the number that it is, in a result as the
// language writes it, lest a reader rounds it.
func (e *encoder) bigint(n *big.Int) {
	if e.input || n.IsInt64() && n.Int64() <= maxSafe && n.Int64() >= -maxSafe {
		e.raw(n.String())
		return
	}
	e.string(n.String() + "n")
}

func (e *encoder) object(o *goja.Object) {
	for i, outer := range e.around {
		if outer == o {
			e.name("[Circular $" + strings.Join(e.path[:i], "") + "]")
			return
		}
	}
	if len(e.around) >= maxDepth {
		e.name(fmt.Sprintf("[nested deeper than %d]", maxDepth))
		return
	}
	e.around = append(e.around, o)
	defer func() { e.around = e.around[:len(e.around)-1] }()
	kind, name := e.x.classOf(o)
	if kind != classDate && kind != classProxy && e.toJSON(o) {
		return
	}
	switch kind {
	case classArray:
		e.array(o)
	case classFunction:
		e.name(functionName(e.x.text(o, "name")))
	case classError:
		e.errorObject(o)
	case classDate:
		e.date(o)
	case classMap:
		e.mapObject(o)
	case classSet:
		e.list("[Set]", e.x.members(o, e.x.hooks.values))
	case classPromise:
		e.promise = true
		e.name("[Promise, not awaited]")
	case classBytes:
		e.bytes(o)
	case classVector:
		e.list("["+e.x.constructorName(o)+"]", items(o))
	case classBoxed:
		e.value(e.x.boxed(o))
	case classRegExp:
		e.string(o.String())
	case classOpaque:
		e.name("[" + name + "]")
	case classProxy:
		e.proxy(o)
	default:
		e.plain(o)
	}
}

// proxy writes what a Proxy shows of itself.
func (e *encoder) proxy(o *goja.Object) {
	isArray, err := e.x.hooks.isArray(goja.Undefined(), o)
	switch {
	case err != nil: // revoked
		e.name("[Proxy]")
	case isArray.ToBoolean():
		e.array(o)
	default:
		e.plain(o)
	}
}

// toJSON writes what the toJSON method of an object gives, if it has one.
func (e *encoder) toJSON(o *goja.Object) bool {
	value, thrown := e.x.property(o, "toJSON")
	method, ok := goja.AssertFunction(value)
	if thrown != nil || !ok {
		return false
	}
	var replaced goja.Value
	if thrown := e.x.rt.Try(func() { replaced = e.x.call(method, o) }); thrown != nil {
		e.threw(thrown)
		return true
	}
	if again, ok := replaced.(*goja.Object); ok && again == o {
		return false
	}
	e.value(replaced)
	return true
}

// threw writes down that reading a value failed.
func (e *encoder) threw(thrown *goja.Exception) {
	problem := e.x.errorOf(thrown.Value(), 0)
	e.name(fmt.Sprintf("[Threw %s]", describe(problem)))
}

func (e *encoder) raw(text string) { e.out = append(e.out, text...) }

// string writes a string, or as much of it as there is room for.
func (e *encoder) string(text string) {
	if room := max(e.max-len(e.out), 0); len(text) > room {
		text = strings.ToValidUTF8(text[:room], "")
		e.full = true
	}
	e.out = outline.AppendString(e.out, text)
}
