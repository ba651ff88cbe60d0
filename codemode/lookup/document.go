package lookup

import (
	"slices"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/search"
	"github.com/heddle-dev/heddle/codemode/schema"
)

const (
	// maxNesting is how deep in objects and lists parameters are looked for.
	maxNesting = 3
	// maxParameters bounds those of one tool.
	maxParameters = 200
	// maxValues bounds the values of a parameter that are searched.
	maxValues = 50
)

// document is a tool as it is searched.
func document(d catalog.Descriptor) search.Document {
	doc := search.Document{
		ID: d.ID, Namespace: d.Namespace(), Name: d.Name(), Title: d.Title, Description: d.Description,
		Tags: d.Tags, Operation: string(d.Operation), Parameters: properties(d.Input),
		Deprecated: slices.Contains(d.Tags, deprecated),
	}
	for _, p := range properties(d.Output) {
		doc.Outputs = append(doc.Outputs, p.Name)
	}
	return doc
}

// deprecated is the tag of a tool that is kept for those who use it already.
const deprecated = "deprecated"

// properties are the properties that a schema speaks of, in its order. A schema
// that cannot be read has none.
func properties(text []byte) []search.Parameter {
	if len(text) == 0 {
		return nil
	}
	doc, err := schema.Parse(text)
	if err != nil {
		return nil
	}
	r := reader{doc: doc, seen: map[*schema.Value]bool{}}
	r.read(doc.Root, 0)
	return r.found
}

// reader gathers the properties of a schema.
type reader struct {
	doc *schema.Document
	// seen are the schemas on the way, and those that were read: each counts once.
	seen  map[*schema.Value]bool
	found []search.Parameter
}

func (r *reader) read(s *schema.Value, depth int) {
	if s == nil || depth > maxNesting || r.seen[s] {
		return
	}
	r.seen[s] = true
	if ref := s.Get("$ref"); ref.Is(schema.String) {
		if target, err := r.doc.Resolve(s, ref.Str()); err == nil {
			r.read(target, depth)
		}
	}
	for _, p := range s.Get("properties").Fields() {
		if len(r.found) == maxParameters {
			return
		}
		r.found = append(r.found, r.parameter(p))
		r.read(p.Value, depth+1)
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range s.Get(keyword).Elements() {
			r.read(part, depth)
		}
	}
	first, rest := r.doc.Items(s)
	for _, item := range append(slices.Clone(first), rest) {
		r.read(item, depth+1)
	}
}

func (r *reader) parameter(p schema.Member) search.Parameter {
	found := search.Parameter{Name: p.Name, Description: p.Value.Get("description").Str()}
	values := p.Value.Get("enum").Elements()
	_, items := r.doc.Items(p.Value)
	for _, v := range append(slices.Clone(values), items.Get("enum").Elements()...) {
		if v.Is(schema.String) && len(found.Values) < maxValues {
			found.Values = append(found.Values, v.Text)
		}
	}
	return found
}
