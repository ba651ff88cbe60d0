package mcp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

// Access is what an agent may do with a tool.
type Access string

// The kinds of access.
const (
	// AccessHidden: the tool is not offered.
	AccessHidden Access = "hidden"
	// AccessRead: the tool reads, whatever the server says of it.
	AccessRead Access = "read"
	// AccessWrite: the tool writes, and needs approval as writes do.
	AccessWrite Access = "write"
	// AccessAsk: the tool writes, and a person must agree to each call.
	AccessAsk Access = "ask"
)

// Permission says what may be done with the tools that a pattern matches. Of several
// that match a tool the most specific holds: its exact name, else the longest
// pattern, else the strictest.
type Permission struct {
	// Tool is the server's name of a tool, in which * stands for any text.
	Tool string
	// Access is what may be done with it.
	Access Access
}

// strictness orders access from the least strict.
var strictness = []Access{AccessRead, AccessWrite, AccessAsk, AccessHidden}

// CheckPermission says what is wrong with a permission.
func CheckPermission(p Permission) error {
	if p.Tool == "" {
		return fmt.Errorf("permission: names no tool")
	}
	if !slices.Contains(strictness, p.Access) {
		return fmt.Errorf("permission for %s: %q is no access; want hidden, read, write or ask", quote(p.Tool), p.Access)
	}
	return nil
}

func (p Permission) matches(name string) bool {
	if !strings.Contains(p.Tool, "*") {
		return p.Tool == name
	}
	parts := strings.Split(p.Tool, "*")
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return len(rest) >= len(last) && strings.HasSuffix(rest, last)
}

// permissions are those of one server.
type permissions []Permission

// of returns the access to a tool, if any permission matches it.
func (all permissions) of(name string) (Access, bool) {
	best := -1
	for i, p := range all {
		if p.matches(name) && (best < 0 || p.beats(all[best])) {
			best = i
		}
	}
	if best < 0 {
		return "", false
	}
	return all[best].Access, true
}

func (p Permission) beats(other Permission) bool {
	exact := func(p Permission) int { return min(strings.Count(p.Tool, "*"), 1) }
	return cmp.Or(
		cmp.Compare(exact(other), exact(p)),
		cmp.Compare(len(p.Tool), len(other.Tool)),
		cmp.Compare(slices.Index(strictness, p.Access), slices.Index(strictness, other.Access)),
	) > 0
}

// unknown returns a permission that matches none of the names: a slip of the pen, or
// a tool that the server has renamed and that would now be open to all.
func (all permissions) unknown(names []string) (Permission, bool) {
	for _, p := range all {
		if p.Tool != "*" && !slices.ContainsFunc(names, p.matches) {
			return p, true
		}
	}
	return Permission{}, false
}

// apply sets what a descriptor says of the effects of a tool. The server alone can
// make nothing a read.
func (all permissions) apply(d *catalog.Descriptor, name string, reads bool) (hidden bool) {
	d.Operation = catalog.Write
	if reads {
		d.Operation = catalog.Read
	}
	switch access, _ := all.of(name); access {
	case AccessHidden:
		return true
	case AccessRead:
		d.Operation = catalog.Read
	case AccessWrite:
		d.Operation = catalog.Write
	case AccessAsk:
		d.Operation, d.Approval = catalog.Write, catalog.ApprovalAlways
	}
	return false
}
