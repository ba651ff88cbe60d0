package typescript

import (
	"fmt"
	"slices"
	"strings"
)

// maxProduct bounds the members that TypeScript makes of an intersection of
// unions; at 100,000 it gives up.
const maxProduct = 2_000

// maxParts bounds the parts of an intersection.
const maxParts = 200

// simplify drops from a type what says nothing, and works out what its parts say
// together. It changes the type in place and returns what became of it.
func (t *types) simplify(typ *typ) *typ {
	for i, part := range typ.parts {
		typ.parts[i] = t.simplify(part)
	}
	if typ.rest != nil {
		typ.rest = t.simplify(typ.rest)
	}
	if typ.object != nil {
		for _, f := range typ.object.fields {
			f.typ = t.simplify(f.typ)
		}
		for i, k := range typ.object.keys {
			typ.object.keys[i].typ = t.simplify(k.typ)
		}
	}
	switch typ.op {
	case opUnion:
		return t.unite(typ)
	case opIntersection:
		return t.intersect(typ)
	}
	return typ
}

// unite simplifies a union of simple members.
func (t *types) unite(union *typ) *typ {
	var members []*typ
	seen := map[string]bool{}
	for _, member := range flatten(union, opUnion) {
		if id := identity(member); id != "" {
			if seen[id] {
				continue
			}
			seen[id] = true
		}
		members = append(members, member)
	}
	if some := slices.DeleteFunc(slices.Clone(members), plainNever); len(some) > 0 {
		members = some
	}
	union.parts = members
	if !slices.ContainsFunc(members, func(member *typ) bool { return member.op != opUnknown }) {
		for _, member := range members {
			union.note = join(union.note, member.note)
		}
		return &typ{op: opUnknown, docs: union.docs, note: union.note, source: union.source}
	}
	hoist(union)
	return collapse(union)
}

// hoist lets a union say what its only member beside null has to say.
func hoist(union *typ) {
	var only *typ
	for _, member := range union.parts {
		switch {
		case member.op == opPrimitive && member.kinds == kindNull && member.docs.empty():
		case only != nil:
			return
		default:
			only = member
		}
	}
	if only != nil {
		union.docs = union.docs.and(only.docs)
		only.docs = docs{}
	}
}

func plainNever(t *typ) bool { return t.op == opNever && t.note == "" && t.docs.empty() }

// identity tells types that are the same without a doubt; empty for the others.
func identity(t *typ) string {
	if t.note != "" || !t.docs.empty() {
		return ""
	}
	switch t.op {
	case opUnknown:
		return "unknown"
	case opPrimitive, opLiteral:
		return t.text
	case opRef:
		return fmt.Sprintf("ref %p", t.decl)
	}
	return ""
}

// flatten lists the parts of a type, and in place of those of the same op that
// stand for nothing more, their parts.
func flatten(t *typ, o op) []*typ {
	var parts []*typ
	for _, part := range t.parts {
		if part.op == o && part.note == "" && part.docs.empty() {
			parts = append(parts, part.parts...)
		} else {
			parts = append(parts, part)
		}
	}
	return parts
}

// collapse makes a union or an intersection of one part that part.
func collapse(t *typ) *typ {
	if len(t.parts) != 1 {
		return t
	}
	only := t.parts[0]
	only.docs = t.docs.and(only.docs)
	only.note = join(t.note, only.note)
	if t.source != nil {
		only.source = t.source
	}
	return only
}

// intersect simplifies an intersection of simple parts.
func (t *types) intersect(all *typ) *typ {
	all.parts = flatten(all, opIntersection)
	if extra := len(all.parts) - maxParts; extra > 0 {
		t.degrade(all.source, "", fmt.Sprintf("is made of %d parts: %d are not expressed", len(all.parts), extra))
		all.parts = all.parts[:maxParts]
	}
	common := t.kinds(all)
	if common == kindsNone {
		return t.contradiction(all)
	}
	t.narrow(all, common)
	t.dropIdle(all)
	t.mergeObjects(all)
	t.limit(all)
	if len(all.parts) == 0 {
		return &typ{op: opUnknown, docs: all.docs, note: all.note, source: all.source}
	}
	return collapse(all)
}

// contradiction is the type of what nothing can fit.
func (t *types) contradiction(all *typ) *typ {
	var wanted []string
	for _, part := range all.parts {
		if k := t.kinds(part).String(); !slices.Contains(wanted, k) {
			wanted = append(wanted, k)
		}
	}
	reason := "allows no value: it would have to be " + strings.Join(wanted, " and ")
	t.degrade(all.source, "", reason)
	return &typ{op: opNever, docs: all.docs, note: reason, source: all.source}
}

// narrow drops from the unions among the parts the members of kinds that the
// other parts exclude.
func (t *types) narrow(all *typ, common kinds) {
	for i, part := range all.parts {
		if part.op != opUnion {
			continue
		}
		part.parts = slices.DeleteFunc(part.parts, func(member *typ) bool { return t.kinds(member)&common == 0 })
		all.parts[i] = collapse(part)
	}
}

// dropIdle drops the parts that allow all that the others do: unknown, what is
// there twice, and the whole of a kind beside a narrower type of it. What they
// say to people goes to the whole.
func (t *types) dropIdle(all *typ) {
	later := make([]kinds, len(all.parts)+1) // of the parts from there on
	later[len(all.parts)] = kindsAll
	for i := len(all.parts) - 1; i >= 0; i-- {
		later[i] = later[i+1] & t.kinds(all.parts[i])
	}
	kept, earlier, seen := all.parts[:0:0], kindsAll, map[string]bool{}
	for i, part := range all.parts {
		id, k := identity(part), t.kinds(part)
		others := len(kept) > 0 || i < len(all.parts)-1
		if part.op == opUnknown || seen[id] || others && whole(part) && (earlier&later[i+1])&^k == 0 {
			all.docs = all.docs.and(part.docs)
			all.note = join(all.note, part.note)
			continue
		}
		if id != "" {
			seen[id] = true
		}
		kept, earlier = append(kept, part), earlier&k
	}
	all.parts = kept
}

// whole says whether a type is all values of its kinds.
func whole(t *typ) bool {
	switch t.op {
	case opPrimitive:
		return true
	case opArray:
		return t.parts[0].op == opUnknown
	case opObject:
		return len(t.object.fields) == 0 && !slices.ContainsFunc(t.object.keys, func(k keyType) bool { return k.typ.op != opUnknown })
	case opUnion:
		return !slices.ContainsFunc(t.parts, func(part *typ) bool { return !whole(part) })
	}
	return false
}

// mergeObjects makes one of the objects that are spelled out among the parts.
func (t *types) mergeObjects(all *typ) {
	var merged *typ
	parts := all.parts[:0:0]
	for _, part := range all.parts {
		switch {
		case part.op != opObject:
			parts = append(parts, part)
		case merged == nil:
			merged = part
			parts = append(parts, part)
		default:
			t.merge(merged.object, part.object)
			merged.docs = merged.docs.and(part.docs)
			merged.note = join(merged.note, part.note)
		}
	}
	all.parts = parts
}

// merge adds to an object what another one demands.
func (t *types) merge(o, other *object) {
	byName := make(map[string]*field, len(o.fields))
	for _, f := range o.fields {
		byName[f.name] = f
	}
	for _, f := range other.fields {
		mine := byName[f.name]
		if mine == nil {
			o.fields = append(o.fields, f)
			byName[f.name] = f
			continue
		}
		mine.optional = mine.optional && f.optional
		docs := mine.typ.docs.and(f.typ.docs)
		mine.typ = t.intersect(&typ{op: opIntersection, parts: []*typ{mine.typ, f.typ}, source: mine.typ.source})
		mine.typ.docs = docs
	}
	o.keys = append(o.keys, other.keys...)
	o.closed = o.closed && other.closed
}

// limit drops unions while there are more combinations of their members than
// TypeScript goes through.
func (t *types) limit(all *typ) {
	product := 1
	for i := 0; i < len(all.parts); i++ {
		size := t.size(all.parts[i])
		if size > 1 && product > 1 && product*size > maxProduct {
			t.degrade(all.source, "", "has too many combinations of alternatives: not all are expressed")
			all.note = join(all.note, "and more conditions: too many combinations of alternatives")
			all.parts = slices.Delete(all.parts, i, i+1)
			i--
			continue
		}
		product *= size
	}
}

func (k kinds) String() string {
	var names []string
	for _, name := range []string{"string", "number", "boolean", "null", "array", "object"} {
		if k&kindsByName[name] != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}
