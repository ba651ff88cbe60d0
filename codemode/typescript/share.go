package typescript

import "slices"

// nameAll gives every declaration of a tool its name. The roots come first, so
// that theirs are always the same; then what goes in, then what comes out, which
// shares a declaration that says the same and otherwise gives way.
func nameAll(base string, in, out *types) {
	names := nameSet{}
	in.root().name = names.unique(base + "Input")
	out.root().name = names.unique(base + "Output")
	byWanted := map[string]*decl{}
	for _, d := range in.decls[1:] {
		d.name = names.unique(d.wanted)
		if byWanted[d.wanted] == nil {
			byWanted[d.wanted] = d
		}
	}
	c := comparison{same: map[[2]*decl]bool{}, left: maxCompared}
	for _, d := range out.decls[1:] {
		if other := byWanted[d.wanted]; other != nil && c.shared(d, other) {
			d.same, d.name = other, other.name
			continue
		}
		d.name = names.unique(d.wanted, d.wanted+"Output")
	}
}

// maxCompared bounds the types that are compared to share declarations.
const maxCompared = 50_000

// comparison compares types.
type comparison struct {
	// same are the declarations that are known to be the same, and those that are
	// assumed to be while they are compared: recursive ones are, unless a difference
	// shows elsewhere.
	same map[[2]*decl]bool
	// assumed are those of them that are not known yet.
	assumed [][2]*decl
	left    int
}

// shared says whether two declarations, and all that they refer to, are the same
// and can go by the same name.
func (c *comparison) shared(a, b *decl) bool {
	c.assumed = c.assumed[:0]
	same := c.decl(a, b)
	if !same {
		for _, pair := range c.assumed {
			delete(c.same, pair)
		}
	}
	return same
}

func (c *comparison) decl(a, b *decl) bool {
	pair := [2]*decl{a, b}
	if c.same[pair] {
		return true
	}
	c.same[pair] = true
	c.assumed = append(c.assumed, pair)
	return a.wanted == b.wanted && c.typ(a.typ, b.typ)
}

func (c *comparison) typ(a, b *typ) bool {
	if c.left--; c.left < 0 {
		return false
	}
	switch {
	case a == nil || b == nil:
		return a == b
	case a.op != b.op || a.text != b.text || a.note != b.note || a.optional != b.optional || len(a.parts) != len(b.parts):
		return false
	case a.docs.text != b.docs.text || !slices.Equal(a.docs.tags, b.docs.tags):
		return false
	case (a.decl == nil) != (b.decl == nil) || a.decl != nil && !c.decl(a.decl, b.decl):
		return false
	case (a.object == nil) != (b.object == nil) || a.object != nil && !c.object(a.object, b.object):
		return false
	}
	for i := range a.parts {
		if !c.typ(a.parts[i], b.parts[i]) {
			return false
		}
	}
	return c.typ(a.rest, b.rest)
}

func (c *comparison) object(a, b *object) bool {
	if len(a.fields) != len(b.fields) || len(a.keys) != len(b.keys) || a.closed != b.closed {
		return false
	}
	for i, f := range a.fields {
		g := b.fields[i]
		if f.name != g.name || f.optional != g.optional || !c.typ(f.typ, g.typ) {
			return false
		}
	}
	for i, k := range a.keys {
		if k.pattern != b.keys[i].pattern || !c.typ(k.typ, b.keys[i].typ) {
			return false
		}
	}
	return true
}
