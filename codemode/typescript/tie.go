package typescript

import "slices"

// untie replaces references by which a type would be made of itself with nothing
// in between, such as type A = A | string, which TypeScript refuses.
func (t *types) untie() {
	const open, done = 1, 2
	state := map[*decl]int{}
	var visit func(d *decl)
	var walk func(typ *typ)
	visit = func(d *decl) {
		state[d] = open
		walk(d.typ)
		state[d] = done
	}
	walk = func(typ *typ) {
		switch typ.op {
		case opUnion, opIntersection:
			for _, part := range typ.parts {
				walk(part)
			}
		case opRef:
			switch state[typ.decl] {
			case open:
				const reason = "refers to itself with nothing in between"
				t.degrade(typ.source, "", reason)
				*typ = *unknown(reason)
			case done:
			default:
				visit(typ.decl)
			}
		}
	}
	for _, d := range t.decls {
		if state[d] == 0 {
			visit(d)
		}
	}
}

// kinds are the kinds of value that a type can have.
func (t *types) kinds(typ *typ) kinds {
	switch typ.op {
	case opNever:
		return kindsNone
	case opPrimitive, opLiteral:
		return typ.kinds
	case opArray, opTuple:
		return kindArray
	case opObject:
		return kindObject
	case opUnion:
		all := kindsNone
		for _, part := range typ.parts {
			all |= t.kinds(part)
		}
		return all
	case opIntersection:
		all := kindsAll
		for _, part := range typ.parts {
			all &= t.kinds(part)
		}
		return all
	case opRef:
		return t.declKinds(typ.decl)
	default:
		return kindsAll
	}
}

// declKinds are the kinds of a declaration's type, worked out once.
func (t *types) declKinds(d *decl) kinds {
	if !d.kindsKnown {
		d.kinds, d.kindsKnown = kindsAll, true
		d.kinds = t.kinds(d.typ)
	}
	return d.kinds
}

// size is how many members TypeScript makes of a type when it multiplies unions
// out.
func (t *types) size(typ *typ) int {
	const enough = 1 << 20
	switch typ.op {
	case opPrimitive:
		if typ.kinds == kindBoolean {
			return 2
		}
	case opUnion:
		sum := 0
		for _, part := range typ.parts {
			sum = min(sum+t.size(part), enough)
		}
		return sum
	case opIntersection:
		product := 1
		for _, part := range typ.parts {
			product = min(product*t.size(part), enough)
		}
		return product
	case opRef:
		if typ.decl.size == 0 {
			typ.decl.size = 1
			typ.decl.size = t.size(typ.decl.typ)
		}
		return typ.decl.size
	}
	return 1
}

// takesNothing says whether a type takes an object without properties.
func (t *types) takesNothing(of *typ) bool {
	switch of.op {
	case opUnknown:
		return true
	case opObject:
		return !slices.ContainsFunc(of.object.fields, func(f *field) bool { return !f.optional })
	case opUnion:
		return slices.ContainsFunc(of.parts, t.takesNothing)
	case opIntersection:
		return !slices.ContainsFunc(of.parts, func(part *typ) bool { return !t.takesNothing(part) })
	case opRef:
		return t.takesNothing(of.decl.typ)
	default:
		return false
	}
}
