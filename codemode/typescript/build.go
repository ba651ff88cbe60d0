package typescript

import (
	"encoding/json"
	"fmt"

	"github.com/heddle-dev/heddle/codemode/schema"
)

const (
	// MaxDegraded bounds the places of each schema that are named in
	// [Declaration.Degraded].
	MaxDegraded = 20
	// maxNodes bounds the types that are built of a schema.
	maxNodes = 30_000
	// maxDepth bounds how deep types are nested within each other, references
	// apart.
	maxDepth = 64
	// maxReason bounds a reason and a pointer in Degraded, in bytes.
	maxReason = 240
)

// side is whether a schema is of what goes in or of what comes out.
type side uint8

const (
	input side = iota
	output
)

func (s side) String() string {
	if s == output {
		return "output"
	}
	return "input"
}

// types are the types of one schema.
type types struct {
	side side
	doc  *schema.Document
	// decls are the named types: the root's, and those of all references.
	decls    []*decl
	byTarget map[*schema.Value]*decl
	nodes    int
	places   []Degraded
	// unnamed counts the places beyond MaxDegraded.
	unnamed int
}

// build makes the types of a schema's text.
func build(text json.RawMessage, s side) *types {
	t := &types{side: s, byTarget: map[*schema.Value]*decl{}}
	if len(text) == 0 {
		t.decls = []*decl{{typ: unknown("")}}
		return t
	}
	doc, err := schema.Parse(text)
	if err != nil {
		t.decls = []*decl{{typ: unknown("the schema cannot be read")}}
		t.degrade(nil, "", err.Error())
		return t
	}
	t.doc = doc
	t.declare(doc.Root)
	for i := 0; i < len(t.decls); i++ { // grows as references are met
		t.decls[i].typ = t.schema(t.decls[i].source, 0)
	}
	t.untie()
	for _, d := range t.decls {
		d.typ = t.simplify(d.typ)
	}
	return t
}

func (t *types) root() *decl { return t.decls[0] }

// declare is the declaration of a reference's target.
func (t *types) declare(target *schema.Value) *decl {
	if d := t.byTarget[target]; d != nil {
		return d
	}
	d := &decl{source: target, wanted: referenceName(target.Path())}
	t.byTarget[target] = d
	t.decls = append(t.decls, d)
	return d
}

// schema is the type of a schema.
func (t *types) schema(s *schema.Value, depth int) *typ {
	t.nodes++
	switch {
	case s.True():
		return &typ{op: opUnknown, source: s}
	case s.False():
		return &typ{op: opNever, source: s}
	case !s.Is(schema.Object):
		return t.lost(s, "", "is not a schema")
	case depth > maxDepth:
		return t.lost(s, "", fmt.Sprintf("is nested deeper than %d levels", maxDepth))
	case t.nodes > maxNodes:
		return t.lost(s, "", "the schema is too large")
	}
	typ := intersection(t.parts(s, depth))
	typ.docs = docsOf(s).and(typ.docs)
	typ.note = join(typ.note, t.conditions(s))
	if s.Get("nullable").True() {
		typ = nullable(typ)
	}
	typ.source = s
	return typ
}

// parts are the types that a schema demands all at once.
func (t *types) parts(s *schema.Value, depth int) []*typ {
	var parts []*typ
	if ref := s.Get("$ref"); ref.Is(schema.String) {
		parts = append(parts, t.reference(s, ref.Text))
		if t.doc.RefAlone() {
			return parts
		}
	}
	for _, keyword := range []string{"$dynamicRef", "$recursiveRef"} {
		if s.Has(keyword) {
			parts = append(parts, t.lost(s, keyword, "depends on where the schema is used"))
		}
	}
	if base := t.base(s, depth); base != nil {
		parts = append(parts, base)
	}
	for _, part := range s.Get("allOf").Elements() {
		parts = append(parts, t.schema(part, depth+1))
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if s.Get(keyword).Is(schema.Array) {
			parts = append(parts, t.alternatives(s, keyword, depth))
		}
	}
	return parts
}

// reference is the type of what a schema refers to.
func (t *types) reference(s *schema.Value, ref string) *typ {
	target, err := t.doc.Resolve(s, ref)
	if err != nil {
		return t.lost(s, "$ref", quote(cut(ref, maxTag))+" "+err.Error())
	}
	d := t.declare(target)
	d.referred = true
	return &typ{op: opRef, decl: d, source: s}
}

// conditional are the keywords that no type can express.
var conditional = []string{"not", "if", "dependentSchemas", "dependentRequired", "dependencies"}

// conditions notes what a schema demands beyond its type.
func (t *types) conditions(s *schema.Value) string {
	if s.Has("$ref") && t.doc.RefAlone() {
		return ""
	}
	note := ""
	for _, keyword := range conditional {
		v := s.Get(keyword)
		if !v.Is(schema.Object) || len(v.Members) == 0 {
			continue
		}
		t.degrade(s, keyword, "is not expressed")
		if note == "" {
			note = "and more conditions: " + keyword
		} else {
			note += ", " + keyword
		}
	}
	return note
}

// lost is the type of a place that cannot be expressed, and reports it.
func (t *types) lost(s *schema.Value, keyword, reason string) *typ {
	t.degrade(s, keyword, reason)
	return &typ{op: opUnknown, note: remark(reason, maxTag), source: s}
}

func (t *types) degrade(s *schema.Value, keyword, reason string) {
	if len(t.places) == MaxDegraded {
		t.unnamed++
		return
	}
	pointer := s.Pointer()
	if keyword != "" {
		pointer += "/" + keyword
	}
	t.places = append(t.places, Degraded{t.side.String(), remark(pointer, maxReason), remark(reason, maxReason)})
}

// degraded lists the places of the schema that its types say less of.
func (t *types) degraded() []Degraded {
	if t.unnamed == 0 {
		return t.places
	}
	return append(t.places, Degraded{Schema: t.side.String(), Reason: fmt.Sprintf("and %d more places", t.unnamed)})
}

// intersection is what fits all parts.
func intersection(parts []*typ) *typ {
	switch len(parts) {
	case 0:
		return unknown("")
	case 1:
		return parts[0]
	}
	return &typ{op: opIntersection, parts: parts}
}

func nullable(t *typ) *typ {
	d := t.docs
	t.docs = docs{}
	return &typ{op: opUnion, parts: []*typ{t, primitive("null", kindNull)}, docs: d}
}

func join(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return cut(a+"; "+b, maxReason)
}
