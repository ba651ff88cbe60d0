package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/catalog"
)

// Fault is why a rule cannot be used.
type Fault struct {
	Scope Scope
	// Agent is whose rule it is, in the scope [Agent].
	Agent string
	// Index is the rule's place in its scope, from 0.
	Index int
	// Field is the name that the field has in heddle.yaml; for an entry of a list
	// with its index, such as tools[1]. Empty: the rule as a whole.
	Field string
	// Line and Column say where in a condition the fault lies, from 1; else 0.
	Line, Column int
	// Place is that of the rule.
	Place   string
	Message string
}

// Error says place: rule: field: message.
func (f *Fault) Error() string {
	var b strings.Builder
	if f.Place != "" {
		b.WriteString(f.Place + ": ")
	}
	fmt.Fprintf(&b, "policy rule %d of %s", f.Index+1, f.Scope.of(f.Agent))
	if f.Field != "" {
		b.WriteString(": " + f.Field)
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	return b.String() + ": " + f.Message
}

// checker gathers the faults of one rule.
type checker struct {
	rule   Rule
	report func(field, format string, args ...any)
}

func (c checker) check(modes []string) {
	r := c.rule
	if r.Effect != Allow && r.Effect != Ask && r.Effect != Block {
		c.report("effect", "want %s, %s or %s, found %q", Allow, Ask, Block, string(r.Effect))
	}
	if len(r.Name) > maxName || !utf8.ValidString(r.Name) {
		c.report("name", "want at most %d bytes of UTF-8", maxName)
	}
	if len(r.Reason) > MaxReason || !utf8.ValidString(r.Reason) {
		c.report("reason", "want at most %d bytes of UTF-8", MaxReason)
	}
	if r.Operation != "" && r.Operation != catalog.Read && r.Operation != catalog.Write {
		c.report("operation", "want %s or %s, found %q", catalog.Read, catalog.Write, string(r.Operation))
	}
	if r.Approvers < 0 || r.Approvers > catalog.MaxApprovers {
		c.report("approvers", "%d is out of range, want 1 to %d", r.Approvers, catalog.MaxApprovers)
	}
	if r.Approvers > 0 && r.Effect != Ask {
		c.report("approvers", "only a rule that asks has approvers")
	}
	c.each("tools", r.Tools, catalog.CheckGlob)
	c.each("namespaces", r.Namespaces, catalog.CheckNamespace)
	c.each("capabilities", r.Capabilities, catalog.CheckPattern)
	c.each("tags", r.Tags, catalog.CheckPattern)
	c.each("modes", r.Modes, func(mode string) error {
		if !slices.Contains(modes, mode) {
			return fmt.Errorf("can never match: there is no mode %q; there are %s", mode, list(modes))
		}
		return nil
	})
	c.namespacesAndTools()
}

func (c checker) each(field string, entries []string, check func(string) error) {
	for i, entry := range entries {
		if err := check(entry); err != nil {
			c.report(fmt.Sprintf("%s[%d]", field, i), "%s", err)
		}
	}
}

// namespacesAndTools reports a rule whose tools lie in none of its namespaces.
func (c checker) namespacesAndTools() {
	r := c.rule
	if len(r.Namespaces) == 0 || len(r.Tools) == 0 {
		return
	}
	meet := slices.ContainsFunc(r.Tools, func(glob string) bool {
		namespace, _, _ := strings.Cut(glob, ".")
		return glob == "*" || slices.Contains(r.Namespaces, namespace)
	})
	if !meet {
		c.report("tools", "can never match: none of the tools is in the namespaces %s", list(r.Namespaces))
	}
}

// covers reports whether a rule takes every call that another takes.
func (r Rule) covers(o Rule) bool {
	return (r.When == "" || r.When == o.When) &&
		(r.Operation == "" || r.Operation == o.Operation) &&
		coversAll(r.Tools, o.Tools, coversGlob) &&
		coversNamespaces(r.Namespaces, o) &&
		coversAll(r.Capabilities, o.Capabilities, coversPattern) &&
		coversAll(r.Tags, o.Tags, coversPattern) &&
		coversAll(r.Modes, o.Modes, func(a, b string) bool { return a == b })
}

// coversAll reports whether each entry of theirs lies within one of ours. No
// entries are everything.
func coversAll(ours, theirs []string, within func(ours, theirs string) bool) bool {
	if len(ours) == 0 {
		return true
	}
	if len(theirs) == 0 {
		return slices.Contains(ours, "*")
	}
	return !slices.ContainsFunc(theirs, func(their string) bool {
		return !slices.ContainsFunc(ours, func(our string) bool { return within(our, their) })
	})
}

func coversGlob(ours, theirs string) bool {
	if ours == "*" || ours == theirs {
		return true
	}
	prefix, isPrefix := strings.CutSuffix(ours, "*")
	return isPrefix && strings.HasPrefix(theirs, prefix)
}

func coversPattern(ours, theirs string) bool {
	prefix, isPrefix := strings.CutSuffix(ours, "*")
	return ours == theirs || isPrefix && strings.HasPrefix(theirs, prefix)
}

func coversNamespaces(ours []string, o Rule) bool {
	if len(ours) == 0 || len(o.Namespaces) > 0 && coversAll(ours, o.Namespaces, func(a, b string) bool { return a == b }) {
		return true
	}
	return len(o.Tools) > 0 && !slices.ContainsFunc(o.Tools, func(glob string) bool {
		namespace, _, _ := strings.Cut(glob, ".")
		return !slices.Contains(ours, namespace)
	})
}
