package catalog

import (
	"context"
	"slices"
	"strings"
)

// Snapshot is what the sources list at one moment. It never changes and is safe
// for concurrent use.
//
// It holds all that the sources of a scope's tools list, whatever of it the scope
// may use: what is made of it, such as an index, can be shared. [Snapshot.Shows]
// says what may be shown.
type Snapshot struct {
	*view
	unavailable []Unavailable
	shows       func(*Tool) bool
}

// Unavailable is a part of the catalog that cannot be read now.
type Unavailable struct {
	// Source is the source's name, which is the namespace of its tools if they lie
	// elsewhere.
	Source string `json:"source"`
	// Reason says why, for people and models.
	Reason string `json:"reason"`
	// Cause is the error of a call of a tool that may be among those that cannot be
	// listed. Nil: [CodeSourceUnavailable].
	Cause *Error `json:"-"`
}

// Snapshot returns what the sources list now for a scope's tenant. The error is
// that of ctx.
func (b *Broker) Snapshot(ctx context.Context, scope Scope) (*Snapshot, error) {
	view, unavailable, err := b.view(ctx, scope)
	if err != nil {
		return nil, err
	}
	return &Snapshot{view, unavailable, func(tool *Tool) bool { return b.shows(scope, tool) }}, nil
}

// Version is the same only for snapshots whose tools read alike.
func (s *Snapshot) Version() string { return s.version }

// Shows reports whether the scope that the snapshot was made for may use a tool in
// its mode.
func (s *Snapshot) Shows(id string) bool {
	tool := s.find(id)
	return tool != nil && s.shows(tool)
}

// Namespaces are those of the tools, sorted, whatever of them the scope may use.
func (s *Snapshot) Namespaces() []string { return s.namespaces }

// Of are the descriptors of the tools of some namespaces that the scope may use,
// namespace by namespace, ordered by id. Schemas that are made on demand are not in
// them.
func (s *Snapshot) Of(namespaces []string) []Descriptor {
	var all []Descriptor
	for _, namespace := range namespaces {
		from, _ := slices.BinarySearchFunc(s.tools, namespace+".", func(t *Tool, id string) int { return strings.Compare(t.ID, id) })
		for _, tool := range s.tools[from:] {
			if tool.Namespace() != namespace {
				break
			}
			if s.shows(tool) {
				all = append(all, tool.Descriptor)
			}
		}
	}
	return all
}

// Len is the number of tools.
func (s *Snapshot) Len() int { return len(s.tools) }

// At is the descriptor of a tool, in the order of the ids. Schemas that are made
// on demand are not in it.
func (s *Snapshot) At(i int) Descriptor { return s.tools[i].Descriptor }

// Sketch is the descriptor of a tool as a search needs it: with its schemas, or with
// less detailed ones where these cost less to make ([Tool.Sketch]). The error says
// why the tool cannot be used.
func (s *Snapshot) Sketch(i int) (Descriptor, error) { return s.tools[i].sketched() }

// Complete is the descriptor of a tool with its schemas. The error says why the
// tool cannot be used.
func (s *Snapshot) Complete(i int) (Descriptor, error) {
	tool, err := complete(*s.tools[i])
	return tool.Descriptor, err
}

// Unavailable lists what cannot be read now, ordered by source. The tools that it
// listed before are still among the others.
func (s *Snapshot) Unavailable() []Unavailable { return s.unavailable }

// Asks reports whether a person has to agree to calls of a tool, as far as it can
// be told without their input, and why.
func (b *Broker) Asks(_ context.Context, _ Scope, d Descriptor) (asks bool, reason string) {
	consent := ConsentTo(d, Ruling{})
	return consent.NeedsApproval, consent.Reason
}
