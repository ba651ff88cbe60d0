package sandbox

import (
	"math/big"
	"reflect"
	"strings"

	"github.com/dop251/goja"
)

// class is what a value of the snippet is to those who write it down.
type class int

const (
	classPlain class = iota
	classArray
	classFunction
	classError
	classDate
	classMap
	classSet
	classPromise
	classBytes  // an ArrayBuffer or a view on bytes
	classVector // a typed array of numbers
	classBoxed  // new Number(1) and the like
	classRegExp
	classProxy
	classOpaque // what has no content to show, such as a WeakMap
)

var classes = map[reflect.Type]class{
	reflect.TypeFor[goja.Proxy]():       classProxy,
	reflect.TypeFor[*goja.Promise]():    classPromise,
	reflect.TypeFor[goja.ArrayBuffer](): classBytes,
	reflect.TypeFor[[]byte]():           classBytes,
	reflect.TypeFor[[][2]any]():         classMap,
	reflect.TypeFor[*big.Int]():         classBoxed,
}

var classNames = map[string]class{
	"Array":   classArray,
	"Error":   classError,
	"Date":    classDate,
	"RegExp":  classRegExp,
	"Number":  classBoxed,
	"String":  classBoxed,
	"Boolean": classBoxed,
}

// classOf says what an object is, and its name where it has no content to show.
func (x *execution) classOf(o *goja.Object) (kind class, name string) {
	exported := o.ExportType()
	if kind, ok := classes[exported]; ok {
		return kind, ""
	}
	if kind, ok := classNames[o.ClassName()]; ok {
		return kind, ""
	}
	switch exported.Kind() {
	case reflect.Func:
		return classFunction, ""
	case reflect.String: // a boxed symbol
		return classBoxed, ""
	case reflect.Slice:
		if exported.Elem().Kind() == reflect.Interface {
			return classSet, ""
		}
		return classVector, ""
	}
	if tag := x.tag(o); opaque[tag] || strings.HasSuffix(tag, "Iterator") {
		return classOpaque, tag
	}
	return classPlain, ""
}

// opaque are the tags of objects whose content no property shows.
var opaque = map[string]bool{
	"Generator": true, "AsyncGenerator": true, "WeakMap": true, "WeakSet": true, "WeakRef": true, "DataView": true,
	"Math": true, "JSON": true,
}

// tag is what an object calls itself.
func (x *execution) tag(o *goja.Object) string {
	var tag goja.Value
	if thrown := x.rt.Try(func() { tag = o.GetSymbol(goja.SymToStringTag) }); thrown != nil {
		return ""
	}
	text, _ := tag.(goja.String)
	if text == nil {
		return ""
	}
	return text.String()
}

// is reports whether a value is an object of a class.
func (x *execution) is(v goja.Value, kind class) bool {
	o, ok := v.(*goja.Object)
	if !ok {
		return false
	}
	found, _ := x.classOf(o)
	return found == kind
}

// property reads a property. What a getter or a trap throws is given back; what
// cannot be caught goes on as a panic.
func (x *execution) property(o *goja.Object, name string) (value goja.Value, thrown *goja.Exception) {
	thrown = x.rt.Try(func() { value = o.Get(name) })
	if value == nil {
		value = goja.Undefined()
	}
	return value, thrown
}

// keys are the names of the enumerable properties of an object itself.
func (x *execution) keys(o *goja.Object) (names []string, thrown *goja.Exception) {
	thrown = x.rt.Try(func() { names = o.Keys() })
	return names, thrown
}

// text reads a property that is a string; anything else is empty.
func (x *execution) text(o *goja.Object, name string) string {
	value, thrown := x.property(o, name)
	if s, ok := value.(goja.String); ok && thrown == nil {
		return s.String()
	}
	return ""
}

// members are the entries of a Map or the values of a Set, as the items of an
// array that the snippet cannot reach.
func (x *execution) members(o *goja.Object, list goja.Callable) []goja.Value {
	value, err := list(goja.Undefined(), o)
	must(err)
	array, ok := value.(*goja.Object)
	if !ok {
		return nil
	}
	return items(array)
}

func items(array *goja.Object) []goja.Value {
	length := int(array.Get("length").ToInteger())
	values := make([]goja.Value, length)
	for i := range values {
		values[i] = array.Get(index(i))
	}
	return values
}

// constructorName is the name of the class of an object, if it has one.
func (x *execution) constructorName(o *goja.Object) string {
	constructor, thrown := x.property(o, "constructor")
	if thrown == nil && x.is(constructor, classFunction) {
		return x.text(constructor.(*goja.Object), "name")
	}
	return ""
}
