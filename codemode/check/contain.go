package check

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/codemode/schema"
)

// object holds an object against a schema.
func (m *matcher) object(s *schema.Value, a *arg, path []string) []fault {
	faults := m.required(s, a, path)
	properties := s.Get("properties")
	patterns := s.Get("patternProperties").Fields()
	additional := s.Get("additionalProperties")
	names := s.Get("propertyNames")
	if m.doc.Draft == schema.Draft4 {
		names = nil
	}
	for _, member := range a.members {
		if !m.take(1) {
			break
		}
		at := append(slices.Clip(path), member.name)
		if names != nil && member.value.certain() {
			name := &arg{at: member.value.at, typ: "string", text: member.name}
			if wrong := m.match(names, name, at); len(wrong) > 0 {
				faults = append(faults, fault{at: member.value, path: at, message: "has a name that " + wrong[0].message, hint: wrong[0].hint})
			}
		}
		property := properties.Get(member.name)
		if property != nil {
			faults = append(faults, m.match(property, member.value, at)...)
		}
		matched, sure := m.patterned(patterns, member, at, &faults)
		if property != nil || matched || !sure || additional == nil {
			continue
		}
		if additional.False() {
			faults = append(faults, m.unknownProperty(s, member, at)...)
			continue
		}
		faults = append(faults, m.match(additional, member.value, at)...)
	}
	return append(faults, m.members(s, a, path)...)
}

// patterned holds a member against the schemas of the patterns that its name
// matches. It is not sure whether one does where a pattern cannot be tried.
func (m *matcher) patterned(patterns []schema.Member, member argMember, path []string, faults *[]fault) (matched, sure bool) {
	sure = true
	for _, p := range patterns {
		if m.steps < 0 {
			return matched, false
		}
		matches, tried := m.matchPattern(p.Name, member.name)
		sure = sure && tried
		if tried && matches {
			matched = true
			*faults = append(*faults, m.match(p.Value, member.value, path)...)
		}
	}
	return matched, sure
}

// required lists the required properties that are missing.
func (m *matcher) required(s *schema.Value, a *arg, path []string) []fault {
	var faults []fault
	names := s.Get("required").Strings()
	if !m.take(len(names)) {
		return nil
	}
	for _, name := range names {
		value, written := a.member(name)
		switch {
		case !written && a.open, written && !value.absent:
			continue
		case m.excused(s.Get("properties").Get(name)):
			continue
		}
		faults = append(faults, fault{at: a, path: append(slices.Clip(path), name), message: "is required", hint: m.wanted(s.Get("properties").Get(name))})
	}
	return faults
}

// excused says whether a property need not be written: it has a default, or is
// readOnly.
func (m *matcher) excused(property *schema.Value) bool {
	for range maxHops {
		if property.Has("default") || property.Get("readOnly").True() {
			return true
		}
		if property = m.target(property); property == nil {
			return false
		}
	}
	return false
}

// maxHops bounds the references that are followed to learn one thing.
const maxHops = 8

// target is what a schema refers to, nil if that is nothing.
func (m *matcher) target(s *schema.Value) *schema.Value {
	ref := s.Get("$ref")
	if !ref.Is(schema.String) {
		return nil
	}
	target, err := m.doc.Resolve(s, ref.Text)
	if err != nil {
		return nil
	}
	return target
}

// wanted says what to write for a property.
func (m *matcher) wanted(property *schema.Value) string {
	for range maxHops {
		named := property.Get("type")
		switch values := property.Get("enum").Elements(); {
		case len(values) > 0:
			return "add it: " + oneOf(values)
		case named.Is(schema.String):
			return "add it: " + article(named.Text)
		case len(named.Strings()) > 0:
			return "add it: " + orList(named.Strings())
		}
		if property = m.target(property); property == nil {
			break
		}
	}
	return ""
}

// unknownProperty reports a member that a schema has no place for. One whose value
// is not known may be undefined, and so not be there.
func (m *matcher) unknownProperty(s *schema.Value, member argMember, path []string) []fault {
	if !member.value.certain() || !m.take(len(s.Get("properties").Fields())) {
		return nil
	}
	var names []string
	for _, known := range s.Get("properties").Fields() {
		names = append(names, known.Name)
	}
	f := fault{at: member.value, path: path, message: "is not a known property"}
	switch near := nearest(member.name, names); {
	case near != "":
		f.hint = "did you mean " + quote(near) + "?"
	case len(names) > 0:
		f.hint = "it takes " + list(names)
	default:
		f.hint = "it takes no properties"
	}
	return []fault{f}
}

// members holds the number of members against a schema.
func (m *matcher) members(s *schema.Value, a *arg, path []string) []fault {
	var faults []fault
	certain, possible := int64(0), int64(0)
	for _, member := range a.members {
		if !member.value.absent {
			possible++
			if member.value.certain() {
				certain++
			}
		}
	}
	if limit, under := below(s.Get("minProperties"), big.NewRat(possible, 1)); under && !a.open {
		faults = append(faults, fault{at: a, path: path, message: fmt.Sprintf("has %d properties, want at least %s", possible, limit)})
	}
	if limit, over := above(s.Get("maxProperties"), big.NewRat(certain, 1)); over {
		faults = append(faults, fault{at: a, path: path, message: fmt.Sprintf("has %d properties, want at most %s", certain, limit)})
	}
	return faults
}

// array holds an array against a schema.
func (m *matcher) array(s *schema.Value, a *arg, path []string) []fault {
	var faults []fault
	first, rest := m.doc.Items(s)
	spread := false
	items := int64(0)
	for i, item := range a.items {
		if item.spread {
			spread = true
			continue
		}
		if items++; !m.take(1) {
			continue
		}
		at := append(slices.Clip(path), fmt.Sprint(i))
		switch {
		case !spread && i < len(first):
			faults = append(faults, m.match(first[i], item, at)...)
		case rest == nil, spread && len(first) > 0: // nothing is said, or it may be one of the first
		case rest.False():
			faults = append(faults, fault{at: item, path: at, message: fmt.Sprintf("is one item too many: at most %d", len(first))})
		default:
			faults = append(faults, m.match(rest, item, at)...)
		}
	}
	if limit, under := below(s.Get("minItems"), big.NewRat(items, 1)); under && !spread {
		faults = append(faults, fault{at: a, path: path, message: fmt.Sprintf("has %d items, want at least %s", items, limit)})
	}
	if limit, over := above(s.Get("maxItems"), big.NewRat(items, 1)); over {
		faults = append(faults, fault{at: a, path: path, message: fmt.Sprintf("has %d items, want at most %s", items, limit)})
	}
	return faults
}

// mayEqual says whether a value may be equal to a constant.
func mayEqual(a *arg, v *schema.Value) bool {
	if a.anything() {
		return true
	}
	if a.absent || a.typ != typeOf(v) {
		return false
	}
	if a.unknown {
		return true
	}
	switch v.Kind {
	case schema.String:
		return a.text == v.Text
	case schema.Number:
		return sameNumber(a.text, v.Text)
	case schema.Bool:
		return a.truth == v.Bool
	case schema.Array:
		return mayEqualArray(a, v)
	case schema.Object:
		return mayEqualObject(a, v)
	default:
		return true
	}
}

func mayEqualArray(a *arg, v *schema.Value) bool {
	for i, item := range a.items {
		switch {
		case item.spread:
			return true // whatever follows
		case i >= len(v.Items) || !mayEqual(item, v.Items[i]):
			return false
		}
	}
	return len(a.items) == len(v.Items)
}

func mayEqualObject(a *arg, v *schema.Value) bool {
	for _, member := range a.members {
		other := v.Get(member.name)
		switch {
		case other == nil && member.value.certain():
			return false
		case other != nil && !mayEqual(member.value, other):
			return false
		}
	}
	if a.open {
		return true
	}
	for _, other := range v.Members {
		if _, written := a.member(other.Name); !written {
			return false
		}
	}
	return true
}

func typeOf(v *schema.Value) string {
	switch v.Kind {
	case schema.String:
		return "string"
	case schema.Number:
		return "number"
	case schema.Bool:
		return "boolean"
	case schema.Array:
		return "array"
	case schema.Object:
		return "object"
	default:
		return "null"
	}
}

func list(names []string) string {
	const shown = 12
	var quoted []string
	for _, name := range names[:min(len(names), shown)] {
		quoted = append(quoted, quote(name))
	}
	if more := len(names) - shown; more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(quoted, ", ")
}
