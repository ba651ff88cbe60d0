package schema

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// The reasons why a reference leads nowhere. They complete a sentence that names
// the reference.
var (
	// ErrElsewhere says that a reference leads out of the document.
	ErrElsewhere = errors.New("refers to another document, and none is ever fetched")
	// ErrAbsent says that a reference leads to a place that is not there.
	ErrAbsent = errors.New("refers to a place that is not there")
	// ErrMalformed says that a reference cannot be read.
	ErrMalformed = errors.New("is not a reference")
)

// Resolve follows a reference that stands in the value from.
func (d *Document) Resolve(from *Value, ref string) (*Value, error) {
	resource := from.resource
	address, fragment, _ := strings.Cut(ref, "#")
	if address != "" {
		target, err := d.bases[resource].Parse(address)
		if err != nil {
			return nil, ErrMalformed
		}
		if resource = d.names[target.String()]; resource == nil {
			return nil, ErrElsewhere
		}
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, ErrMalformed
	}
	switch {
	case fragment == "":
		return resource, nil
	case fragment[0] == '/':
		return follow(resource, fragment)
	}
	if anchored := d.names[d.bases[resource].String()+"#"+fragment]; anchored != nil {
		return anchored, nil
	}
	return nil, ErrAbsent
}

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")

// follow finds the place of a JSON pointer.
func follow(v *Value, pointer string) (*Value, error) {
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = pointerUnescapes.Replace(token)
		next := v.Get(token)
		if v.Kind == Array {
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.Items) && strconv.Itoa(i) == token {
				next = v.Items[i]
			}
		}
		if next == nil {
			return nil, ErrAbsent
		}
		v = next
	}
	return v, nil
}

// nowhere is the address of a document that has none.
var nowhere = &url.URL{Scheme: "heddle", Path: "/schema"}

// place is what a value is to the schema around it.
type place uint8

const (
	aSchema place = iota // a schema, or a keyword's list of them
	aMap                 // named schemas
	aDatum               // a value such as a default: what looks like a keyword is none
)

// places are what the values of keywords are where that is not aSchema.
var places = map[string]place{
	"properties": aMap, "patternProperties": aMap, "$defs": aMap, "definitions": aMap,
	"dependentSchemas": aMap, "dependencies": aMap,
	"const": aDatum, "enum": aDatum, "default": aDatum, "examples": aDatum, "example": aDatum,
}

// locate tells v and all in it to which resource they belong, and notes the names
// of resources and anchors. The first that has a name keeps it.
func (d *Document) locate(v, resource *Value, is place) {
	if is == aSchema {
		if id, _, _ := strings.Cut(d.id(v), "#"); id != "" {
			if base, err := d.bases[resource].Parse(id); err == nil {
				resource = v
				d.bases[v] = base
				d.note(base.String(), v)
			}
		}
		d.noteAnchors(v, resource)
	}
	v.resource = resource
	for _, item := range v.Items {
		d.locate(item, resource, is)
	}
	for _, m := range v.Members {
		inner := aSchema
		if is == aSchema {
			inner = places[m.Name]
		} else if is == aDatum {
			inner = aDatum
		}
		d.locate(m.Value, resource, inner)
	}
}

// id is the $id of a schema, if it counts.
func (d *Document) id(v *Value) string {
	switch {
	case d.RefAlone() && v.Has("$ref"):
		return ""
	case d.Draft == Draft4:
		return v.Get("id").Str()
	}
	return v.Get("$id").Str()
}

func (d *Document) noteAnchors(v, resource *Value) {
	anchors := []string{v.Get("$anchor").Str(), v.Get("$dynamicAnchor").Str()}
	if d.Draft <= Draft7 {
		_, anchor, _ := strings.Cut(d.id(v), "#")
		anchors = []string{anchor}
	}
	for _, anchor := range anchors {
		if anchor != "" {
			d.note(d.bases[resource].String()+"#"+anchor, v)
		}
	}
}

func (d *Document) note(name string, v *Value) {
	if _, taken := d.names[name]; !taken {
		d.names[name] = v
	}
}
