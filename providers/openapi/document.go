package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// maxHops bounds the references that are followed for one: those in a chain, and
// those on the way of each.
const maxHops = 64

// document is one file of a specification.
type document struct {
	// location is the file's path or URL, empty for bytes.
	location string
	root     []byte

	mu sync.Mutex
	// opened are the objects near the root that references lead through.
	opened map[string]object
}

// place is a value of a specification and where it stands.
type place struct {
	doc     *document
	pointer string
	value   []byte
}

func (p place) child(key string, value []byte) place {
	return place{p.doc, at(p.pointer, key), value}
}

func (p place) item(i int, value []byte) place { return place{p.doc, atIndex(p.pointer, i), value} }

// where says where the place is: its pointer, and the file where that is not the
// specification's own.
func (p place) where(home *document) string {
	if p.doc == home {
		return p.pointer
	}
	return p.doc.location + "#" + p.pointer
}

// open returns the members of the object at a pointer that is near the root.
func (d *document) open(pointer string, value []byte) object {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, ok := d.opened[pointer]
	if !ok {
		o = objectOf(value)
		if d.opened == nil {
			d.opened = map[string]object{}
		}
		d.opened[pointer] = o
	}
	return o
}

var unescaper = strings.NewReplacer("~1", "/", "~0", "~")

// lookup finds what a JSON pointer leads to. A reference on the way is followed
// by step.
func (d *document) lookup(pointer string, step func(place) (place, error)) (place, error) {
	p := place{d, "", d.root}
	if pointer == "" {
		return p, nil
	}
	if pointer[0] != '/' {
		return place{}, fmt.Errorf("%q is no JSON pointer", pointer)
	}
	for depth, segment := range strings.Split(pointer[1:], "/") {
		key := unescaper.Replace(segment)
		value, err := d.descend(p, depth, key)
		if err != nil && p.pointer != "" {
			var next place
			if next, err = step(p); err == nil && next.pointer != p.pointer {
				p = next
				value, err = p.doc.descend(p, depth, key)
			}
		}
		if err != nil {
			return place{}, fmt.Errorf("there is nothing at %s", pointer)
		}
		p = p.child(key, value)
	}
	return p, nil
}

var errNothing = errors.New("nothing there")

func (d *document) descend(p place, depth int, key string) ([]byte, error) {
	if list := len(p.value) > 0 && p.value[0] == '['; list {
		items := elements(p.value)
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(items) {
			return nil, errNothing
		}
		return items[i], nil
	}
	if depth <= 2 {
		if value, ok := d.open(p.pointer, p.value)[key]; ok {
			return value, nil
		}
		return nil, errNothing
	}
	for _, m := range members(p.value) {
		if m.key == key {
			return m.value, nil
		}
	}
	return nil, errNothing
}

// reference returns the reference that a value is, if it is one.
func reference(value []byte) (string, bool) {
	if len(value) == 0 || value[0] != '{' {
		return "", false
	}
	for _, m := range members(value) {
		if m.key == "$ref" && len(m.value) > 0 && m.value[0] == '"' {
			return unquote(m.value), true
		}
	}
	return "", false
}

// resolve follows references to what is none.
func (s *Spec) resolve(p place) (place, error) {
	hops := maxHops
	return s.follow(p, &hops)
}

// follow resolves within a number of hops, which all that it follows share.
func (s *Spec) follow(p place, hops *int) (place, error) {
	for {
		ref, ok := reference(p.value)
		if !ok {
			return p, nil
		}
		if *hops--; *hops < 0 {
			return place{}, fmt.Errorf("%s refers to itself", cut(ref, 100))
		}
		target, err := s.target(p.doc, ref, hops)
		if err != nil {
			return place{}, err
		}
		p = target
	}
}

// target finds what a reference in a document names, be it a reference again.
func (s *Spec) target(from *document, ref string, hops *int) (place, error) {
	file, fragment, _ := strings.Cut(ref, "#")
	doc := from
	if file != "" {
		location, err := join(from.location, file)
		if err != nil {
			return place{}, err
		}
		if doc = s.documents[location]; doc == nil {
			if err := s.missing[location]; err != nil {
				return place{}, err
			}
			return place{}, fmt.Errorf("%s was not loaded", location)
		}
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return place{}, fmt.Errorf("%q is no reference", ref)
	}
	return doc.lookup(pointer, func(p place) (place, error) { return s.follow(p, hops) })
}
