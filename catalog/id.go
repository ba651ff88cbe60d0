package catalog

import (
	"errors"
	"fmt"
	"strings"
)

// MaxID bounds a tool's id, in bytes.
const MaxID = 64

// CheckID says what is wrong with a tool's id. A legal one has two or more
// segments joined by dots, the namespace first; a segment begins with a letter
// and goes on with letters, digits, _ and - (ASCII). It has at most [MaxID]
// bytes.
func CheckID(id string) error {
	if id == "" {
		return errors.New("tool id is empty")
	}
	if len(id) > MaxID {
		return fmt.Errorf("tool id %s is %d bytes long, at most %d are allowed", quote(id), len(id), MaxID)
	}
	segments, err := checkSegments(id)
	if err != nil {
		return fmt.Errorf("tool id %s: %w", quote(id), err)
	}
	if segments < 2 {
		return fmt.Errorf("tool id %s has no namespace; write it as namespace.name", quote(id))
	}
	return nil
}

// CheckGlob says what is wrong with a glob over tool ids. There are three forms:
// an id; a prefix of whole segments and .* (orders.* matches orders.get and
// orders.items.list); and * alone, which matches every tool.
func CheckGlob(glob string) error {
	if glob == "*" {
		return nil
	}
	prefix, isPrefix := strings.CutSuffix(glob, ".*")
	if !isPrefix {
		if err := CheckID(glob); err != nil {
			return fmt.Errorf("glob over tools: %w; want an id, a prefix such as orders.* or *", err)
		}
		return nil
	}
	if len(prefix) > MaxID {
		return fmt.Errorf("glob over tools %s is longer than any tool id (%d bytes)", quote(glob), MaxID)
	}
	if _, err := checkSegments(prefix); err != nil {
		return fmt.Errorf("glob over tools %s: %w; want an id, a prefix such as orders.* or *", quote(glob), err)
	}
	return nil
}

// Globs are the globs over ids that the names of tools stand for: a name without a
// dot is a namespace, such as that of a toolset, and stands for all tools in it;
// others are globs themselves.
func Globs(names []string) []string {
	globs := make([]string, len(names))
	for i, name := range names {
		if globs[i] = name; CheckNamespace(name) == nil {
			globs[i] += ".*"
		}
	}
	return globs
}

// CheckNamespace says what is wrong with a namespace: it is one segment of an id.
func CheckNamespace(namespace string) error {
	if strings.Contains(namespace, ".") || CheckGlob(namespace+".*") != nil {
		return fmt.Errorf("%s is no namespace; want the part of an id before its first dot, such as orders", quote(namespace))
	}
	return nil
}

// checkSegments counts the segments of s, which must all be legal.
func checkSegments(s string) (int, error) {
	n := 0
	for segment := range strings.SplitSeq(s, ".") {
		if segment == "" {
			return 0, errors.New("a segment is empty")
		}
		for i, r := range segment {
			letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
			if i == 0 && !letter {
				return 0, fmt.Errorf("%q begins a segment; a segment begins with a letter", r)
			}
			if !letter && (r < '0' || r > '9') && r != '_' && r != '-' {
				return 0, fmt.Errorf("%q is not allowed; use letters, digits, _ and -", r)
			}
		}
		n++
	}
	return n, nil
}

// Allows reports whether the scope's globs match the id. A malformed glob
// matches nothing.
func (s Scope) Allows(id string) bool {
	for _, glob := range s.Tools {
		if matchGlob(glob, id) {
			return true
		}
	}
	return false
}

// reaches reports whether the scope may use tools of a namespace, if there are any.
func (s Scope) reaches(namespace string) bool {
	for _, glob := range s.Tools {
		if glob == "*" || namespaceOf(glob) == namespace {
			return true
		}
	}
	return false
}

func matchGlob(glob, id string) bool {
	if glob == "*" || glob == id {
		return true
	}
	prefix, ok := strings.CutSuffix(glob, "*")
	return ok && len(prefix) > 1 && strings.HasSuffix(prefix, ".") && len(id) > len(prefix) && strings.HasPrefix(id, prefix)
}

// quote makes a name from outside fit for a message: quoted and bounded.
func quote(name string) string { return fmt.Sprintf("%q", cut(name, 80)) }

// words parts the words of a name.
var words = strings.NewReplacer("_", " ", "-", " ")

// titleOf makes a title from an id: orders.issue_refund is orders: issue refund.
func titleOf(id string) string {
	i := strings.LastIndexByte(id, '.')
	if i < 0 {
		return id
	}
	return words.Replace(id[:i]) + ": " + words.Replace(id[i+1:])
}
