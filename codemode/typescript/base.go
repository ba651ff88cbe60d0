package typescript

import (
	"math"
	"strconv"

	"github.com/heddle-dev/heddle/codemode/schema"
)

// base is the type that a schema describes itself, without what it refers to and
// what it is composed of; nil if it describes none.
func (t *types) base(s *schema.Value, depth int) *typ {
	names, said := typesOf(s)
	if values, ok := t.constants(s); ok {
		return t.enumeration(s, values, names, said)
	}
	if !said {
		names = implied(s)
	}
	var members []*typ
	for _, name := range names {
		if member := t.ofType(s, name, depth); member != nil {
			members = append(members, member)
		}
	}
	switch {
	case len(members) == 1:
		return members[0]
	case len(members) > 1:
		return &typ{op: opUnion, parts: members}
	case said:
		return t.lost(s, "type", "names no type")
	}
	return nil
}

// typesOf are the types that a schema names, and whether it names any.
func typesOf(s *schema.Value) (names []string, said bool) {
	v := s.Get("type")
	switch {
	case v == nil:
		return nil, false
	case v.Is(schema.String):
		return []string{v.Text}, true
	}
	return v.Strings(), true
}

// implied are the types that a schema which names none speaks of. Strictly it
// says nothing of values of other types; its author forgot that.
func implied(s *schema.Value) []string {
	var names []string
	for _, keyword := range []string{"properties", "patternProperties", "additionalProperties", "required"} {
		if v := s.Get(keyword); v.Schema() && !v.True() || len(v.Strings()) > 0 {
			names = append(names, "object")
			break
		}
	}
	for _, keyword := range []string{"items", "prefixItems"} {
		if v := s.Get(keyword); v.Schema() || v.Is(schema.Array) {
			names = append(names, "array")
			break
		}
	}
	return names
}

func (t *types) ofType(s *schema.Value, name string, depth int) *typ {
	switch name {
	case "array":
		return t.array(s, depth)
	case "object":
		return t.object(s, depth)
	case "integer":
		return primitive("number", kindNumber)
	case "string", "number", "boolean", "null":
		return primitive(name, kindsByName[name])
	}
	return nil
}

// constants are the only values that a schema allows, if it names them.
func (t *types) constants(s *schema.Value) ([]*schema.Value, bool) {
	if v := s.Get("const"); v != nil && t.doc.Draft != schema.Draft4 {
		return []*schema.Value{v}, true
	}
	if v := s.Get("enum"); v.Is(schema.Array) {
		return v.Items, true
	}
	return nil, false
}

// enumeration is the type of the values that are of the types.
func (t *types) enumeration(s *schema.Value, values []*schema.Value, names []string, said bool) *typ {
	allowed := kindsAll
	if said {
		allowed = kindsNone
		for _, name := range names {
			allowed |= kindsByName[name]
		}
	}
	union := &typ{op: opUnion}
	for _, v := range values {
		if kindOf(v)&allowed != 0 {
			union.parts = append(union.parts, literal(v))
		}
	}
	switch len(union.parts) {
	case 0:
		t.degrade(s, "", "allows no value: none of its constants is of its type")
		return &typ{op: opNever, note: "none of the constants is of the type"}
	case 1:
		return union.parts[0]
	}
	return union
}

// array is the type of an array: a tuple where the first elements have schemas of
// their own.
func (t *types) array(s *schema.Value, depth int) *typ {
	first, rest := t.doc.Items(s)
	most := count(s.Get("maxItems"), math.MaxInt)
	if len(first) > most {
		first = first[:most]
	}
	if len(first) == 0 && !rest.False() {
		element := unknown("")
		if rest != nil {
			element = t.schema(rest, depth+1)
		}
		return &typ{op: opArray, parts: []*typ{element}}
	}
	tuple := &typ{op: opTuple, optional: max(len(first)-count(s.Get("minItems"), 0), 0)}
	for _, element := range first {
		tuple.parts = append(tuple.parts, t.schema(element, depth+1))
	}
	switch {
	case rest.False() || most == len(first):
	case rest == nil:
		tuple.rest = unknown("")
	default:
		tuple.rest = t.schema(rest, depth+1)
	}
	return tuple
}

// count reads a number of things, or what there is of it by default.
func count(v *schema.Value, absent int) int {
	if !v.Is(schema.Number) {
		return absent
	}
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return absent
	}
	return int(n)
}
