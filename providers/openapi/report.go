package openapi

import (
	"errors"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

// Report is what becomes of a specification.
type Report struct {
	Title   string `json:"title"`
	Version string `json:"version"`
	// Operations are those of the specification, Tools those that can be used.
	Operations int `json:"operations"`
	Tools      int `json:"tools"`
	// List has the tools, in the order in which a source lists them.
	List []Entry `json:"list"`
	// Degraded are the parts that are used with less than they say; Skipped those
	// that cost an operation.
	Degraded []Note `json:"degraded"`
	Skipped  []Note `json:"skipped"`
	// LoadMS is how long reading and listing took, in milliseconds.
	LoadMS int64 `json:"load_ms"`
}

// Entry is one tool of a report.
type Entry struct {
	Tool      string `json:"tool"`
	Signature string `json:"signature"`
	// Operation is read or write, and Endpoint its method and path.
	Operation catalog.Operation `json:"operation"`
	Endpoint  string            `json:"endpoint"`
	// Auth are the alternatives to authenticate, each the names of the schemes
	// joined by +; none is to call without.
	Auth       []string `json:"auth,omitempty"`
	Deprecated bool     `json:"deprecated,omitempty"`
}

// Report looks at all operations, as tools of a namespace.
func (s *Spec) Report(namespace string) Report {
	r := Report{
		Title: s.Title, Version: s.Version, Operations: len(s.operations) + s.lost, LoadMS: s.Loaded.Milliseconds(),
		List: []Entry{}, Degraded: []Note{}, Skipped: slices.Clone(s.skipped),
	}
	if r.Skipped == nil {
		r.Skipped = []Note{}
	}
	if len(s.operations) > 0 {
		n := &notes{home: s.home}
		if _, ok := s.rootServer(n); !ok {
			n.add(s.servers, "no server that can be called is named; the operations need an address from the application")
		}
		r.Degraded = n.list
	}
	var old []Entry
	ids := nameAll(namespace, s.operations)
	for i, o := range s.operations {
		c, err := s.compile(o)
		if err == nil && ids[i] == "" {
			err = errors.New("its name is made to be that of another operation")
		}
		if err != nil {
			r.Skipped = append(r.Skipped, Note{o.self.where(s.home), err.Error()})
			continue
		}
		for _, note := range c.notes {
			if !slices.Contains(r.Degraded, note) {
				r.Degraded = append(r.Degraded, note)
			}
		}
		r.Tools++
		if entry := c.entry(ids[i]); o.deprecated {
			old = append(old, entry)
		} else {
			r.List = append(r.List, entry)
		}
	}
	r.List = append(r.List, old...)
	if r.Degraded == nil {
		r.Degraded = []Note{}
	}
	return r
}

func (c *compiled) entry(id string) Entry {
	e := Entry{Tool: id, Operation: catalog.Write, Endpoint: c.op.key(), Deprecated: c.op.deprecated}
	if c.op.reads() {
		e.Operation = catalog.Read
	}
	var arguments []string
	for _, p := range c.inputs {
		arguments = append(arguments, optional(p.input, p.required))
	}
	if len(c.bodies) > 0 {
		arguments = append(arguments, optional("body", c.bodyRequired))
	}
	if c.pager != nil {
		arguments = append(arguments, optional(c.pager.input, false))
	}
	slices.SortStableFunc(arguments, func(a, b string) int {
		return strings.Count(a, "?") - strings.Count(b, "?")
	})
	e.Signature = id + "({" + strings.Join(arguments, ", ") + "})"
	for _, all := range c.security.alternatives {
		var names []string
		for _, one := range all {
			names = append(names, one.name)
		}
		if len(names) == 0 {
			names = []string{"none"}
		}
		e.Auth = append(e.Auth, strings.Join(names, "+"))
	}
	return e
}

func optional(name string, required bool) string {
	if required {
		return name
	}
	return name + "?"
}

// Note says that a part of a specification was left out, or is used with less
// than it says.
type Note struct {
	// Pointer is a JSON pointer into the specification; of a part of another file,
	// the file's location, # and the pointer.
	Pointer string `json:"pointer"`
	// Reason says why, and what became of it.
	Reason string `json:"reason"`
}

// maxNotes bounds the notes on one operation.
const maxNotes = 50

// notes gathers what one operation has lost.
type notes struct {
	home *document
	list []Note
}

func (n *notes) add(p place, reason string) {
	note := Note{Pointer: p.where(n.home), Reason: reason}
	for _, other := range n.list {
		if other == note {
			return
		}
	}
	if len(n.list) < maxNotes {
		n.list = append(n.list, note)
	}
}
