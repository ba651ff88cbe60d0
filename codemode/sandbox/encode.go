package sandbox

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

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

func (e *encoder) array(o *goja.Object) {
	value, thrown := e.x.property(o, "length")
	if thrown != nil {
		e.threw(thrown)
		return
	}
	length := value.ToInteger()
	e.raw("[")
	for i := int64(0); i < length && !e.full; i++ {
		if i > 0 {
			e.raw(",")
		}
		e.member(o, strconv.FormatInt(i, 10), "["+strconv.FormatInt(i, 10)+"]")
	}
	e.raw("]")
}

func (e *encoder) plain(o *goja.Object) {
	names, thrown := e.x.keys(o)
	if thrown != nil {
		e.threw(thrown)
		return
	}
	e.raw("{")
	e.members(o, names, false)
	e.raw("}")
}

// members writes the properties of an object, after others or not.
func (e *encoder) members(o *goja.Object, names []string, after bool) {
	for _, name := range names {
		if e.full {
			return
		}
		value, thrown := e.x.property(o, name)
		if thrown == nil && goja.IsUndefined(value) {
			continue
		}
		if after {
			e.raw(",")
		}
		after = true
		e.string(name)
		e.raw(":")
		e.enter(pathOf(name), func() {
			if thrown != nil {
				e.threw(thrown)
			} else {
				e.value(value)
			}
		})
	}
}

func (e *encoder) member(o *goja.Object, name, path string) {
	value, thrown := e.x.property(o, name)
	e.enter(path, func() {
		if thrown != nil {
			e.threw(thrown)
		} else {
			e.value(value)
		}
	})
}

func (e *encoder) enter(path string, write func()) {
	e.path = append(e.path, path)
	write()
	e.path = e.path[:len(e.path)-1]
}

// errorObject writes an error as name, message and what else it carries.
func (e *encoder) errorObject(o *goja.Object) {
	e.raw(`{"name":`)
	e.string(e.x.text(o, "name"))
	e.raw(`,"message":`)
	e.string(e.x.text(o, "message"))
	names, thrown := e.x.keys(o)
	if thrown == nil {
		var others []string
		for _, name := range names {
			if name != "name" && name != "message" && name != "stack" {
				others = append(others, name)
			}
		}
		e.members(o, others, true)
	}
	e.raw("}")
}

func (e *encoder) date(o *goja.Object) {
	at, ok := o.Export().(time.Time)
	if !ok {
		e.name("[Invalid Date]")
		return
	}
	e.string(at.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// mapObject writes a Map: for a tool as an object, which takes strings as keys.
func (e *encoder) mapObject(o *goja.Object) {
	entries := e.x.members(o, e.x.hooks.entries)
	if !e.input {
		e.list("[Map]", entries)
		return
	}
	e.raw("{")
	for i, entry := range entries {
		pair := items(entry.(*goja.Object))
		key, ok := pair[0].(goja.String)
		if !ok {
			e.refuse("is a Map with a key that is no string")
			return
		}
		if i > 0 {
			e.raw(",")
		}
		e.string(key.String())
		e.raw(":")
		e.enter(pathOf(key.String()), func() { e.value(pair[1]) })
	}
	e.raw("}")
}

// list writes values as an array: in a result with what they were a list of.
func (e *encoder) list(what string, values []goja.Value) {
	if !e.input {
		e.raw("{")
		e.string(what)
		e.raw(":")
		defer e.raw("}")
	}
	e.raw("[")
	for i, value := range values {
		if e.full {
			break
		}
		if i > 0 {
			e.raw(",")
		}
		e.enter("["+strconv.Itoa(i)+"]", func() { e.value(value) })
	}
	e.raw("]")
}

func (e *encoder) bytes(o *goja.Object) {
	var data []byte
	switch exported := o.Export().(type) {
	case []byte:
		data = exported
	case goja.ArrayBuffer:
		data = exported.Bytes()
	}
	if base64.StdEncoding.EncodedLen(len(data)) > e.max-len(e.out) {
		e.name(fmt.Sprintf("[%d bytes]", len(data)))
		e.full = true
		return
	}
	text := base64.StdEncoding.EncodeToString(data)
	if e.input {
		e.string(text)
		return
	}
	e.raw(`{"[bytes]":`)
	e.string(text)
	e.raw("}")
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

// boxed takes the primitive out of new Number(1) and the like.
func (x *execution) boxed(o *goja.Object) goja.Value {
	value, err := x.hooks.valueOf(o)
	must(err)
	if _, still := value.(*goja.Object); still {
		return goja.Undefined()
	}
	return value
}

func functionName(name string) string {
	if name == "" {
		return "[Function]"
	}
	return "[Function " + name + "]"
}

// pathOf is how a property is written after its object.
func pathOf(name string) string {
	for i, r := range name {
		if r != '_' && r != '$' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return "[" + strconv.Quote(name) + "]"
		}
	}
	return "." + name
}

func index(i int) string { return strconv.Itoa(i) }

// call calls a function of the snippet; what it throws goes on as a panic.
func (x *execution) call(function goja.Callable, this goja.Value, arguments ...goja.Value) goja.Value {
	value, err := function(this, arguments...)
	must(err)
	return value
}
