package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

// Effect is what becomes of the calls that a rule takes.
type Effect string

// The effects.
const (
	// Allow lets the call pass this scope. Whether a person must agree is for the
	// tool to say, and for the other scopes.
	Allow Effect = "allow"
	// Ask makes a person agree to the call.
	Ask Effect = "ask"
	// Block refuses the call.
	Block Effect = "block"
)

// Bounds of a set of rules.
const (
	// MaxRules bounds the rules of one scope.
	MaxRules = 500
	// MaxWhen bounds a condition, in bytes.
	MaxWhen = 4 << 10
	// MaxReason bounds the reason of a rule, in bytes.
	MaxReason = 500
	// maxName bounds the name of a rule.
	maxName = 64
)

// Rule takes some calls and says what becomes of them. A field that is empty does
// not restrict; a rule takes a call that fits all that are not. Within a list, one
// entry that fits is enough.
type Rule struct {
	// Name is how people and errors speak of the rule, unique within its scope.
	// Empty: made from its number.
	Name   string
	Effect Effect
	// Tools are globs over ids ([catalog.CheckGlob]).
	Tools []string
	// Namespaces are the first parts of ids.
	Namespaces []string
	Operation  catalog.Operation
	// Capabilities and Tags are patterns ([catalog.CheckPattern]). The capabilities
	// of a tool are those of [catalog.Descriptor.Needs].
	Capabilities []string
	Tags         []string
	// Modes are names of modes.
	Modes []string
	// When is a condition in CEL; see the package's comment.
	When string
	// Reason is told to the model or to the person who is asked.
	Reason string
	// Approvers, of a rule that asks, is how many people must agree, each another
	// and none of them who asked. 0: one, whoever it is.
	Approvers int
	// WithoutApproval, of an application's rule that allows, lets a write run without
	// the approval that it needs by default.
	WithoutApproval bool
	// Place says where the rule stands, for people, such as heddle.yaml:12:5.
	Place string
}

// matchers are the parts of a rule that take calls by what the tool is.
func (r Rule) mismatch(q catalog.Question) string {
	d := q.Tool
	switch {
	case len(r.Tools) > 0 && !slices.ContainsFunc(r.Tools, func(glob string) bool { return matchGlob(glob, d.ID) }):
		return "the tool is none of " + list(r.Tools)
	case len(r.Namespaces) > 0 && !slices.Contains(r.Namespaces, d.Namespace()):
		return "the namespace is none of " + list(r.Namespaces)
	case r.Operation != "" && r.Operation != d.Operation:
		return "it is a " + string(d.Operation)
	case len(r.Capabilities) > 0 && !anyMatches(r.Capabilities, d.Needs()):
		return "the tool needs none of the capabilities " + list(r.Capabilities)
	case len(r.Tags) > 0 && !anyMatches(r.Tags, d.Tags):
		return "the tool has none of the tags " + list(r.Tags)
	case len(r.Modes) > 0 && !slices.Contains(r.Modes, q.Scope.Mode):
		return fmt.Sprintf("the mode %q is none of %s", q.Scope.Mode, list(r.Modes))
	}
	return ""
}

func matchGlob(glob, id string) bool { return catalog.Scope{Tools: []string{glob}}.Allows(id) }

func anyMatches(patterns, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return catalog.MatchPattern(pattern, name) })
	})
}

func list(names []string) string { return strings.Join(names, ", ") }

// strictness orders the effects.
func (e Effect) strictness() int { return slices.Index([]Effect{Allow, Ask, Block}, e) }
