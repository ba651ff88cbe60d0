package sandbox

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/dop251/goja"
)

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
	e.string(dateText(at))
}

// dateText writes a date as toISOString does.
func dateText(at time.Time) string {
	at = at.UTC()
	text := at.Format("-01-02T15:04:05.000Z")
	if year := at.Year(); year < 0 || year > 9999 {
		return fmt.Sprintf("%+07d", year) + text
	}
	return fmt.Sprintf("%04d", at.Year()) + text
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
