package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Snapshot is what the sources list at one moment. It never changes and is safe
// for concurrent use.
//
// It holds all tools, whatever a scope may use: what is made of it, such as an
// index, can be shared. [Scope.Allows] says what may be shown.
type Snapshot struct {
	version     string
	tools       []listed
	unavailable []Unavailable
}

// Unavailable is a part of the catalog that cannot be read now.
type Unavailable struct {
	// Source is the source's name, which is the namespace of its tools if they lie
	// elsewhere.
	Source string `json:"source"`
	// Reason says why, for people and models.
	Reason string `json:"reason"`
}

// Snapshot returns what the sources list now for a scope's tenant. The error is
// that of ctx.
func (b *Broker) Snapshot(ctx context.Context, scope Scope) (*Snapshot, error) {
	all := scope
	all.Tools = []string{"*"}
	tools, err := b.visible(ctx, all)
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	for _, l := range tools {
		fmt.Fprintf(hash, "%q%q%q%q\n", l.tool.ID, l.tool.Title, l.tool.Description, l.tool.Input)
	}
	return &Snapshot{version: hex.EncodeToString(hash.Sum(nil)), tools: tools}, nil
}

// Version is the same for snapshots of the same tools, and differs from that of
// any others.
func (s *Snapshot) Version() string { return s.version }

// Len is the number of tools.
func (s *Snapshot) Len() int { return len(s.tools) }

// At is the descriptor of a tool, in the order of the ids. Schemas that are made
// on demand are not in it.
func (s *Snapshot) At(i int) Descriptor { return s.tools[i].tool.Descriptor }

// Sketch is the descriptor of a tool as a search needs it: with its schemas, or with
// less detailed ones where these cost less to make ([Tool.Sketch]). The error says
// why the tool cannot be used.
func (s *Snapshot) Sketch(i int) (Descriptor, error) { return s.tools[i].tool.sketched() }

// Complete is the descriptor of a tool with its schemas. The error says why the
// tool cannot be used.
func (s *Snapshot) Complete(i int) (Descriptor, error) {
	tool, err := complete(s.tools[i].tool)
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
