package check

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/codemode/schema"
)

const (
	// maxSteps bounds the schemas and constants that the values of a snippet are
	// held against, maxCallSteps those of one call. What is beyond fits.
	maxSteps     = 200_000
	maxCallSteps = 20_000
	// maxPattern bounds a pattern that is tried, in bytes.
	maxPattern = 1 << 10
	// patternSteps is what reading a pattern counts for.
	patternSteps = 100
)

// matcher holds values against the schemas of a document.
type matcher struct {
	doc *schema.Document
	// steps are those that are left.
	steps int
	// patterns are those that were read; nil: it cannot be tried.
	patterns map[string]*regexp.Regexp
	// visiting are the visits under way: a schema that comes back to itself says
	// nothing new.
	visiting map[visit]bool
}

// visit is a schema that a value is held against.
type visit struct {
	schema *schema.Value
	value  *arg
}

func newMatcher(doc *schema.Document, steps int) *matcher {
	return &matcher{doc: doc, steps: steps, patterns: map[string]*regexp.Regexp{}, visiting: map[visit]bool{}}
}

// take counts steps, and says whether there are any left.
func (m *matcher) take(n int) bool {
	m.steps -= n
	return m.steps >= 0
}

// fault is a value that cannot fit.
type fault struct {
	at            *arg
	path          []string
	message, hint string
	// other says that the value is of another kind than the schema is for.
	other bool
	// wants are the types that the value should be of, if it is of none of them.
	wants []string
}

// match lists why a value cannot fit a schema. None: it may.
func (m *matcher) match(s *schema.Value, a *arg, path []string) []fault {
	here := visit{s, a}
	if !m.take(1) || a.anything() || a.absent || m.visiting[here] {
		return nil
	}
	m.visiting[here] = true
	defer delete(m.visiting, here)
	switch {
	case s.False():
		return []fault{{at: a, path: path, message: "is not allowed here"}}
	case !s.Is(schema.Object), s != m.doc.Root && s.Has("$schema"): // of another dialect
		return nil
	}
	var faults []fault
	if ref := s.Get("$ref"); ref.Is(schema.String) {
		target, err := m.doc.Resolve(s, ref.Text)
		if err == nil {
			faults = m.match(target, a, path)
		}
		if m.doc.RefAlone() {
			return faults
		}
	}
	if s.Get("nullable").True() && a.is("null") {
		return nil
	}
	if wrong := m.ofType(s, a, path); wrong != nil {
		return append(faults, *wrong)
	}
	if wrong := m.constant(s, a, path); wrong != nil {
		return append(faults, *wrong)
	}
	faults = append(faults, m.content(s, a, path)...)
	return append(faults, m.composed(s, a, path)...)
}

// content holds a value against the keywords for values of its type.
func (m *matcher) content(s *schema.Value, a *arg, path []string) []fault {
	if a.unknown {
		return nil
	}
	switch a.typ {
	case "object":
		return m.object(s, a, path)
	case "array":
		return m.array(s, a, path)
	case "string":
		return m.text(s, a, path)
	case "number":
		return m.number(s, a, path)
	}
	return nil
}

// composed holds a value against what a schema is composed of.
func (m *matcher) composed(s *schema.Value, a *arg, path []string) []fault {
	var faults []fault
	for _, part := range s.Get("allOf").Elements() {
		faults = append(faults, m.match(part, a, path)...)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if branches := s.Get(keyword).Elements(); len(branches) > 0 {
			faults = append(faults, m.alternatives(branches, a, path)...)
		}
	}
	return faults
}

// ofType says that a value is of none of the types that a schema names.
func (m *matcher) ofType(s *schema.Value, a *arg, path []string) *fault {
	named := s.Get("type")
	wants := named.Strings()
	if named.Is(schema.String) {
		wants = []string{named.Text}
	}
	for _, want := range wants {
		switch {
		case want == a.typ, want == "integer" && a.is("number") && (a.unknown || !fractional(a.text)):
			return nil
		case want != "integer" && !slices.Contains(jsonTypes, want):
			return nil // no type that is known
		}
	}
	if len(wants) == 0 {
		return nil
	}
	f := &fault{at: a, path: path, message: "is " + a.describe() + ", want " + orList(wants), other: true, wants: wants}
	switch {
	case a.is("number") && slices.Contains(wants, "integer"):
		f.message = "is a number with a fraction, want " + orList(wants)
	case a.is("string") && !a.unknown && (slices.Contains(wants, "number") || slices.Contains(wants, "integer")) && isNumber(a.text):
		f.hint = "write " + a.text + " without quotes"
	case slices.Contains(wants, "array") && !a.is("null"):
		f.hint = "put it into a list: [ ... ]"
	}
	return f
}

// constant says that a value is none of those that a schema allows.
func (m *matcher) constant(s *schema.Value, a *arg, path []string) *fault {
	var values []*schema.Value
	if v := s.Get("enum"); v.Is(schema.Array) {
		values = v.Items
	}
	if v := s.Get("const"); v != nil && m.doc.Draft != schema.Draft4 {
		values = []*schema.Value{v}
	}
	if len(values) == 0 || !m.take(len(values)) || slices.ContainsFunc(values, func(v *schema.Value) bool { return mayEqual(a, v) }) {
		return nil
	}
	f := &fault{at: a, path: path, message: "must be " + oneOf(values), other: true}
	if a.is("string") && !a.unknown {
		var names []string
		for _, v := range values {
			if v.Kind == schema.String {
				names = append(names, v.Text)
			}
		}
		if near := nearest(a.text, names); near != "" {
			f.hint = "did you mean " + quote(near) + "?"
		}
	}
	return f
}

// text holds a string against a schema.
func (m *matcher) text(s *schema.Value, a *arg, path []string) []fault {
	var faults []fault
	length := big.NewRat(int64(utf8.RuneCountInString(a.text)), 1)
	if limit, over := below(s.Get("minLength"), length); over {
		faults = append(faults, fault{at: a, path: path, message: fmt.Sprintf("has %s characters, want at least %s", length.RatString(), limit)})
	}
	if limit, over := above(s.Get("maxLength"), length); over {
		faults = append(faults, fault{at: a, path: path, message: fmt.Sprintf("has %s characters, want at most %s", length.RatString(), limit)})
	}
	if pattern := s.Get("pattern").Str(); pattern != "" {
		if matches, sure := m.matchPattern(pattern, a.text); sure && !matches {
			faults = append(faults, fault{at: a, path: path, message: "does not match the pattern " + quote(pattern)})
		}
	}
	return faults
}

// matchPattern says whether a text matches a pattern, if that is sure: patterns
// that are beyond Go's are not tried.
func (m *matcher) matchPattern(pattern, text string) (matches, sure bool) {
	re, known := m.patterns[pattern]
	if !known && len(pattern) <= maxPattern && m.take(patternSteps) {
		re, _ = regexp.Compile(pattern)
		m.patterns[pattern] = re
	}
	if re == nil || !m.take(1) {
		return false, false
	}
	return re.MatchString(text), true
}

// number holds a number against a schema.
func (m *matcher) number(s *schema.Value, a *arg, path []string) []fault {
	value := rational(a.text)
	if value == nil {
		return nil
	}
	var faults []fault
	add := func(format, limit string) {
		faults = append(faults, fault{at: a, path: path, message: fmt.Sprintf(format, limit)})
	}
	if limit, under := below(s.Get("minimum"), value); under {
		add("must be at least %s", limit)
	}
	if limit, over := above(s.Get("maximum"), value); over {
		add("must be at most %s", limit)
	}
	if bound := limitOf(s.Get("exclusiveMinimum")); bound != nil && value.Cmp(bound) <= 0 {
		add("must be greater than %s", s.Get("exclusiveMinimum").Text)
	}
	if bound := limitOf(s.Get("exclusiveMaximum")); bound != nil && value.Cmp(bound) >= 0 {
		add("must be less than %s", s.Get("exclusiveMaximum").Text)
	}
	if unit := limitOf(s.Get("multipleOf")); unit != nil && unit.Sign() > 0 && !new(big.Rat).Quo(value, unit).IsInt() {
		add("must be a multiple of %s", s.Get("multipleOf").Text)
	}
	return faults
}

// alternatives says why a value fits none of several schemas. Where all but one
// are for values of another kind, that one is meant.
func (m *matcher) alternatives(branches []*schema.Value, a *arg, path []string) []fault {
	var meant, others [][]fault
	for _, branch := range branches {
		faults := m.match(branch, a, path)
		if len(faults) == 0 {
			return nil
		}
		if slices.ContainsFunc(faults, func(f fault) bool { return f.otherKind(len(path)) }) {
			others = append(others, faults)
		} else {
			meant = append(meant, faults)
		}
	}
	switch {
	case len(meant) == 1:
		return meant[0]
	case len(meant) == 0:
		meant = others
	}
	if f := sameComplaint(meant, a, path); f != nil {
		return []fault{*f}
	}
	var reasons []string
	for _, faults := range meant {
		if reason := strings.TrimSpace(pointer(faults[0].path[len(path):]) + " " + faults[0].message); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return []fault{{at: a, path: path, message: fmt.Sprintf("fits none of %d alternatives: %s", len(branches), strings.Join(reasons, "; or "))}}
}

// otherKind says whether a fault makes an alternative at a depth one for values of
// another kind: the type of the value itself, or a constant, also one in a
// property, as a discriminator is.
func (f *fault) otherKind(depth int) bool {
	switch len(f.path) - depth {
	case 0:
		return f.other
	case 1:
		return f.other && f.wants == nil
	}
	return false
}

// sameComplaint is one fault for alternatives that all want another type.
func sameComplaint(all [][]fault, a *arg, path []string) *fault {
	var wants []string
	for _, faults := range all {
		if faults[0].wants == nil || len(faults[0].path) != len(path) {
			return nil
		}
		for _, want := range faults[0].wants {
			if !slices.Contains(wants, want) {
				wants = append(wants, want)
			}
		}
	}
	f := all[0][0]
	f.wants, f.message = wants, "is "+a.describe()+", want "+orList(wants)
	return &f
}
