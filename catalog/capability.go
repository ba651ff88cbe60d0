package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxCapability bounds a capability and a tag, in bytes.
	MaxCapability = 64
	// MaxLabels bounds how many capabilities a tool has, and how many tags.
	MaxLabels = 64
)

// CheckCapability says what is wrong with a capability or a tag: it is 1 to
// [MaxCapability] characters of A-Z a-z 0-9 . _ - : / (ASCII).
func CheckCapability(name string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case len(name) > MaxCapability:
		return fmt.Errorf("%s is %d bytes long, at most %d are allowed", quote(name), len(name), MaxCapability)
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-:/", r):
		default:
			return fmt.Errorf("%q is not allowed in %s; use letters, digits and . _ - : /", r, quote(name))
		}
	}
	return nil
}

// CheckPattern says what is wrong with a pattern over capabilities or tags: the
// name itself, a prefix and a star (workspace.*), or the star alone.
func CheckPattern(pattern string) error {
	prefix, star := strings.CutSuffix(pattern, "*")
	if star && prefix == "" {
		return nil
	}
	if err := CheckCapability(prefix); err != nil {
		return fmt.Errorf("pattern %w; want a name, a prefix such as workspace.* or *", err)
	}
	return nil
}

// MatchPattern reports whether a pattern of [CheckPattern]'s form matches a name.
func MatchPattern(pattern, name string) bool {
	prefix, star := strings.CutSuffix(pattern, "*")
	return pattern == name || star && strings.HasPrefix(name, prefix)
}

// Needs are the capabilities that a mode must allow: those of the tool, or, of a
// tool that names none, its namespace and operation, such as orders.write.
func (d Descriptor) Needs() []string {
	if len(d.Capabilities) > 0 {
		return d.Capabilities
	}
	return []string{d.Namespace() + "." + string(d.Operation)}
}

// Namespace is the part of the id before its first dot.
func (d Descriptor) Namespace() string {
	namespace, _, _ := strings.Cut(d.ID, ".")
	return namespace
}

func checkLabels(kind string, labels []string) error {
	if len(labels) > MaxLabels {
		return fmt.Errorf("has %d %ss, at most %d are allowed", len(labels), kind, MaxLabels)
	}
	for i, label := range labels {
		if err := CheckCapability(label); err != nil {
			return fmt.Errorf("%s %w", kind, err)
		}
		if slices.Contains(labels[:i], label) {
			return fmt.Errorf("%s %s is named twice", kind, quote(label))
		}
	}
	return nil
}
