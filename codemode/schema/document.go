package schema

import (
	"net/url"
	"strings"
)

// Draft is a version of JSON Schema, by its number or year.
type Draft int

// The drafts that are known. A document that names none of them is read as
// Draft2020.
const (
	Draft4    Draft = 4
	Draft6    Draft = 6
	Draft7    Draft = 7
	Draft2019 Draft = 2019
	Draft2020 Draft = 2020
)

var drafts = map[string]Draft{
	"json-schema.org/draft/2020-12/schema": Draft2020,
	"json-schema.org/draft/2019-09/schema": Draft2019,
	"json-schema.org/draft-07/schema":      Draft7,
	"json-schema.org/draft-06/schema":      Draft6,
	"json-schema.org/draft-04/schema":      Draft4,
}

func draftOf(root *Value) Draft {
	name := root.Get("$schema").Str()
	name = strings.TrimPrefix(strings.TrimPrefix(name, "http://"), "https://")
	if d, ok := drafts[strings.TrimSuffix(name, "#")]; ok {
		return d
	}
	return Draft2020
}

// Document is a JSON Schema with what it refers to. It never changes.
type Document struct {
	Root  *Value
	Draft Draft

	// bases holds the address of each resource: a schema with an $id, and the root.
	bases map[*Value]*url.URL
	// names finds resources by their address, and schemas by the address of their
	// resource, # and their anchor.
	names map[string]*Value
}

// RefAlone says whether keywords beside a $ref are ignored, as they are up to
// draft 7.
func (d *Document) RefAlone() bool { return d.Draft <= Draft7 }

// Items are the schemas of an array's elements: those of the first elements in
// turn, and that of all others, nil where nothing is said of them.
func (d *Document) Items(s *Value) (first []*Value, rest *Value) {
	items := s.Get("items")
	if items.Is(Array) { // up to 2019-09; later it is an error, and its meaning clear
		return items.Items, schemaOrNil(s.Get("additionalItems"))
	}
	if d.Draft >= Draft2020 {
		first = s.Get("prefixItems").Elements()
	}
	return first, schemaOrNil(items)
}

func schemaOrNil(v *Value) *Value {
	if v.Schema() {
		return v
	}
	return nil
}
