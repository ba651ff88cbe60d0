package check

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

// arg is what is known of a value: an argument or a part of one.
type arg struct {
	at snippet.Position
	// typ is its JSON type, empty if that is not known.
	typ string
	// unknown says that no more than the type is known.
	unknown bool
	// present says that it is there, whatever it is.
	present bool
	// absent says that JSON leaves it out: it is undefined.
	absent bool
	// spread says that it stands for any number of values.
	spread bool
	// text is the content of a string and the digits of a number.
	text string
	// truth is the value of a boolean.
	truth bool
	// members are an object's, in order, each name once, which index finds.
	members []argMember
	index   map[string]int
	// open says that an object may have more members, and that they may replace
	// those that are not among members.
	open bool
	// items are an array's; after one that is a spread, places are unknown.
	items []*arg
}

type argMember struct {
	name  string
	value *arg
}

// is says whether the type is known to be this one.
func (a *arg) is(typ string) bool { return a.typ == typ }

// anything says whether nothing is known of the value, not even that it is there.
func (a *arg) anything() bool { return a.typ == "" && !a.absent }

// certain says whether it is known that JSON has the value.
func (a *arg) certain() bool { return !a.absent && (a.typ != "" || a.present) }

func (a *arg) isSpread() bool { return a.spread }

// member is a member that is written out. One that is absent is left out for
// certain: nothing that is spread can bring it back.
func (a *arg) member(name string) (value *arg, written bool) {
	if i, ok := a.index[name]; ok {
		return a.members[i].value, true
	}
	return nil, false
}

// first is the first argument, absent if there is none.
func first(args []*arg) *arg {
	if len(args) == 0 {
		return &arg{absent: true}
	}
	return args[0]
}

// reader turns nodes, which come unchecked, into what is known of them.
type reader struct {
	// left are the nodes that it still reads.
	left int
}

// arguments reads those of a call.
func (r *reader) arguments(nodes []Node) []*arg {
	var args []*arg
	for i := range nodes[:min(len(nodes), maxArguments)] {
		args = append(args, r.arg(&nodes[i], 0))
	}
	return args
}

// maxArguments bounds the arguments of a call that are read: none takes as many.
const maxArguments = 8

func (r *reader) arg(n *Node, depth int) *arg {
	a := &arg{at: n.Position, unknown: true}
	if r.left--; r.left < 0 || depth > MaxDepth {
		return a
	}
	switch n.Kind {
	case Literal:
		r.literal(a, n.Value)
	case Undefined:
		a.absent, a.unknown = true, false
	case Object:
		a.typ, a.unknown = "object", false
		r.object(a, n.Members, depth)
	case Array:
		a.typ, a.unknown = "array", false
		r.array(a, n.Items, depth)
	case Spread:
		a.spread = true
	default:
		if slices.Contains(jsonTypes, n.Type) {
			a.typ = n.Type
		}
		a.present = n.Present
	}
	return a
}

var jsonTypes = []string{"string", "number", "boolean", "null", "object", "array"}

// literal reads a scalar. What is none is unknown.
func (r *reader) literal(a *arg, text json.RawMessage) {
	var value any
	if len(text) == 0 || json.Unmarshal(text, &value) != nil {
		return
	}
	switch v := value.(type) {
	case nil:
		a.typ = "null"
	case bool:
		a.typ, a.truth = "boolean", v
	case string:
		a.typ, a.text = "string", v
	case float64:
		a.typ, a.text = "number", string(bytes.TrimSpace(text))
	default:
		return
	}
	a.unknown = false
}

// array takes the items.
func (r *reader) array(a *arg, items []Node, depth int) {
	for i := range items {
		if r.left <= 0 {
			a.items = append(a.items, &arg{unknown: true, spread: true})
			return
		}
		item := r.arg(&items[i], depth+1)
		if item.absent { // what JSON makes of it is not for here to say
			item = &arg{at: item.at, unknown: true}
		}
		a.items = append(a.items, item)
	}
}

// object takes the members in their order: a later one replaces an earlier one of
// the name, and what is spread may replace all before it.
func (r *reader) object(a *arg, members []Member, depth int) {
	a.index = map[string]int{}
	for i := range members {
		m := &members[i]
		if m.Value.Kind == Spread || r.left <= 0 {
			a.members, a.open = nil, true
			clear(a.index)
			if r.left <= 0 {
				return
			}
			continue
		}
		value := r.arg(&m.Value, depth+1)
		if at, twice := a.index[m.Name]; twice {
			a.members[at].value = value
			continue
		}
		a.index[m.Name] = len(a.members)
		a.members = append(a.members, argMember{m.Name, value})
	}
}

// describe says what the value is.
func (a *arg) describe() string {
	switch a.typ {
	case "":
		return "undefined"
	case "null":
		return "null"
	case "array", "object":
		return "an " + a.typ
	default:
		return "a " + a.typ
	}
}
