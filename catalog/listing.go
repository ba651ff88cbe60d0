package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// maxListed bounds the tools that one source may list.
const maxListed = 20_000

// listing is what a source listed, as far as it can be used. It never changes.
type listing struct {
	// serial differs from that of every other listing; content is the same for
	// listings that read alike.
	serial  uint64
	content string
	// raw is what the source returned: the same again is the same listing.
	raw []Tool
	// tools are ordered by id.
	tools []*Tool
	// faults are what was left out, and why.
	faults []error
	parts  []Unavailable
	// made are those of the tools that were called.
	made makings
}

var serials atomic.Uint64

// newListing takes what a source returned. A tool that cannot be used is left out,
// and of those with one id the first counts.
func newListing(s *source, raw []Tool, parts []Unavailable) *listing {
	l := &listing{serial: serials.Add(1), raw: raw, parts: parts}
	if len(raw) > maxListed {
		l.faults = append(l.faults, fmt.Errorf("it lists %d tools, and those after %d are left out", len(raw), maxListed))
		raw = raw[:maxListed]
	}
	places := make(map[string]string, len(raw))
	for i := range raw {
		tool := &raw[i]
		place := s.place(tool)
		if err := checkTool(*tool); err != nil {
			l.faults = append(l.faults, fmt.Errorf("%s: %w", place, err))
			continue
		}
		if s.remote != nil && tool.Namespace() != s.remote.Namespace() {
			l.faults = append(l.faults, fmt.Errorf("%s: tool %s is not of the namespace %s", place, tool.ID, quote(s.remote.Namespace())))
			continue
		}
		if first, twice := places[tool.ID]; twice {
			l.faults = append(l.faults, usedTwice(tool.ID, first, place))
			continue
		}
		places[tool.ID] = place
		l.tools = append(l.tools, tool)
	}
	slices.SortFunc(l.tools, func(a, b *Tool) int { return strings.Compare(a.ID, b.ID) })
	l.content = l.digest()
	return l
}

func usedTwice(id, first, second string) error {
	return fmt.Errorf("tool id %s is used twice: at %s and at %s", quote(id), first, second)
}

// digest covers what may be shown of the tools. Schemas that are made on demand
// are not known, so two listings with such are never alike.
func (l *listing) digest() string {
	hash := sha256.New()
	onDemand := false
	for _, tool := range l.tools {
		onDemand = onDemand || tool.Schemas != nil
		write := func(text []byte) {
			var size [8]byte
			binary.BigEndian.PutUint64(size[:], uint64(len(text)))
			hash.Write(size[:])
			hash.Write(text)
		}
		write(tool.Input)
		write(tool.Output)
		rest := tool.Descriptor
		rest.Input, rest.Output = nil, nil
		if text, err := json.Marshal(rest); err == nil { // else it is not looked at again
			write(text)
		}
	}
	if onDemand {
		fmt.Fprint(hash, l.serial)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// find is the tool of an id, or nil. A nil listing has none.
func (l *listing) find(id string) *Tool {
	if l == nil {
		return nil
	}
	return findTool(l.tools, id)
}

// findTool looks among tools that are ordered by id.
func findTool(tools []*Tool, id string) *Tool {
	i, found := slices.BinarySearchFunc(tools, id, func(t *Tool, id string) int { return strings.Compare(t.ID, id) })
	if !found {
		return nil
	}
	return tools[i]
}

// same reports whether a source returned the very list that it did before.
func (l *listing) same(raw []Tool) bool {
	return l != nil && len(l.raw) == len(raw) && (len(raw) == 0 || &l.raw[0] == &raw[0])
}
