package sandbox

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
)

const (
	// inspectDepth is how deep objects are shown in console output, inspectItems
	// how many members of each.
	inspectDepth = 5
	inspectItems = 100
	// inspectString is how much of a string within an object is shown, in bytes.
	inspectString = 2 << 10
)

// inspector writes values as a person reads them.
type inspector struct {
	x      *execution
	out    strings.Builder
	around []*goja.Object
}

// inspect is a value as console output shows it.
func (x *execution) inspect(v goja.Value) string {
	i := &inspector{x: x}
	i.value(v)
	return i.out.String()
}

func (i *inspector) value(v goja.Value) {
	switch v := v.(type) {
	case nil:
		i.out.WriteString("undefined")
	case *goja.Object:
		i.object(v)
	case *goja.Symbol:
		i.out.WriteString("Symbol(" + v.String() + ")")
	case goja.String:
		i.quote(v.String())
	default:
		i.out.WriteString(v.String())
		if v.ExportType() != nil && v.ExportType().String() == "*big.Int" {
			i.out.WriteByte('n')
		}
	}
}

func (i *inspector) quote(text string) {
	if len(text) > inspectString {
		text = strings.ToValidUTF8(text[:inspectString], "") + fmt.Sprintf("… (%d bytes)", len(text))
	}
	i.out.WriteString(strconv.Quote(text))
}

func (i *inspector) object(o *goja.Object) {
	for _, outer := range i.around {
		if outer == o {
			i.out.WriteString("[Circular]")
			return
		}
	}
	kind, name := i.x.classOf(o)
	switch kind {
	case classFunction:
		i.out.WriteString(functionName(i.x.text(o, "name")))
		return
	case classError:
		i.failure(o)
		return
	case classDate:
		i.date(o)
		return
	case classPromise:
		i.out.WriteString("Promise {" + promiseState(o) + "}")
		return
	case classBoxed:
		i.value(i.x.boxed(o))
		return
	case classRegExp:
		i.out.WriteString(o.String())
		return
	case classOpaque:
		i.out.WriteString("[" + name + "]")
		return
	}
	if len(i.around) >= inspectDepth || i.out.Len() > maxLine {
		i.out.WriteString("[" + i.title(o, kind) + "]")
		return
	}
	i.around = append(i.around, o)
	i.members(o, kind)
	i.around = i.around[:len(i.around)-1]
}

func (i *inspector) members(o *goja.Object, kind class) {
	switch kind {
	case classArray:
		i.array(o)
	case classMap:
		i.collection("Map", i.x.members(o, i.x.hooks.entries), true)
	case classSet:
		i.collection("Set", i.x.members(o, i.x.hooks.values), false)
	case classBytes, classVector:
		i.out.WriteString(i.title(o, kind))
	default:
		i.plain(o, kind)
	}
}

func (i *inspector) array(o *goja.Object) {
	length, _ := i.x.property(o, "length")
	count := length.ToInteger()
	i.out.WriteByte('[')
	for n := range min(count, inspectItems) {
		if n > 0 {
			i.out.WriteString(", ")
		}
		i.member(o, strconv.FormatInt(n, 10))
		if i.out.Len() > maxLine {
			break
		}
	}
	i.more(int(count))
	i.out.WriteByte(']')
}

func (i *inspector) more(count int) {
	if count > inspectItems {
		fmt.Fprintf(&i.out, ", … %d more", count-inspectItems)
	}
}

func (i *inspector) collection(what string, values []goja.Value, pairs bool) {
	fmt.Fprintf(&i.out, "%s(%d) {", what, len(values))
	for n, value := range values[:min(len(values), inspectItems)] {
		if n > 0 {
			i.out.WriteString(", ")
		}
		if pairs {
			pair := items(value.(*goja.Object))
			i.value(pair[0])
			i.out.WriteString(" => ")
			i.value(pair[1])
		} else {
			i.value(value)
		}
	}
	i.more(len(values))
	i.out.WriteByte('}')
}

func (i *inspector) plain(o *goja.Object, kind class) {
	if title := i.title(o, kind); title != "Object" {
		i.out.WriteString(title + " ")
	}
	names, thrown := i.x.keys(o)
	if thrown != nil {
		i.out.WriteString("[Threw " + describe(i.x.errorOf(thrown.Value(), maxCauses)) + "]")
		return
	}
	i.out.WriteByte('{')
	for n, name := range names[:min(len(names), inspectItems)] {
		if n > 0 {
			i.out.WriteString(", ")
		}
		if path := pathOf(name); path[0] == '.' {
			i.out.WriteString(name)
		} else {
			i.out.WriteString(strconv.Quote(name))
		}
		i.out.WriteString(": ")
		i.member(o, name)
		if i.out.Len() > maxLine {
			break
		}
	}
	i.more(len(names))
	i.out.WriteByte('}')
}

func (i *inspector) member(o *goja.Object, name string) {
	value, thrown := i.x.property(o, name)
	if thrown != nil {
		i.out.WriteString("[Threw " + describe(i.x.errorOf(thrown.Value(), maxCauses)) + "]")
		return
	}
	i.value(value)
}

// failure shows an error with where it was made.
func (i *inspector) failure(o *goja.Object) {
	problem := i.x.errorOf(o, maxCauses)
	i.out.WriteString(describe(problem))
	if problem.Position != nil {
		fmt.Fprintf(&i.out, " (line %d, column %d)", problem.Position.Line, problem.Position.Column)
	}
}

func (i *inspector) date(o *goja.Object) {
	if at, ok := o.Export().(time.Time); ok {
		i.out.WriteString(dateText(at))
		return
	}
	i.out.WriteString("Invalid Date")
}

// title is what an object is, in a word or two.
func (i *inspector) title(o *goja.Object, kind class) string {
	switch kind {
	case classArray:
		return "Array"
	case classProxy:
		return "Proxy"
	case classMap:
		return "Map"
	case classSet:
		return "Set"
	}
	name := i.x.constructorName(o)
	if name == "" {
		name = "Object"
	}
	if kind == classBytes || kind == classVector {
		length, _ := i.x.property(o, "byteLength")
		return fmt.Sprintf("%s(%s bytes)", name, length)
	}
	return name
}

func promiseState(o *goja.Object) string {
	p, _ := o.Export().(*goja.Promise)
	switch {
	case p == nil || p.State() == goja.PromiseStatePending:
		return "pending"
	case p.State() == goja.PromiseStateRejected:
		return "rejected"
	default:
		return "fulfilled"
	}
}
