package catalog

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

const (
	// maxViolations bounds the places that an error names.
	maxViolations = 10
	// maxViolation bounds the message of each, in bytes.
	maxViolation = 240
)

// violationsOf flattens the validator's tree into places and messages, ordered
// by place. The messages quote the schema and never the value: an output may
// hold what a log or a model should not see.
func violationsOf(err *jsonschema.ValidationError) []Violation {
	all := flatten(err)
	slices.SortFunc(all, compareViolations)
	all = slices.Compact(all)
	if len(all) > maxViolations {
		left := len(all) - maxViolations
		all = append(all[:maxViolations:maxViolations], Violation{Message: fmt.Sprintf("and %d more places do not fit", left)})
	}
	return all
}

func compareViolations(a, b Violation) int {
	if c := strings.Compare(a.Pointer, b.Pointer); c != 0 {
		return c
	}
	return strings.Compare(a.Message, b.Message)
}

func flatten(err *jsonschema.ValidationError) []Violation {
	at := err.InstanceLocation
	switch k := err.ErrorKind.(type) {
	case *kind.AnyOf:
		return alternatives(err)
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			return one(at, "fits more than one of the alternatives of which it must fit exactly one (numbers %d and %d)", k.Subschemas[0]+1, k.Subschemas[1]+1)
		}
		return alternatives(err)
	case *kind.Required:
		return each(at, k.Missing, "is required")
	case *kind.DependentRequired:
		return each(at, k.Missing, "is required beside "+quote(k.Prop))
	case *kind.Dependency:
		return each(at, k.Missing, "is required beside "+quote(k.Prop))
	case *kind.AdditionalProperties:
		return each(at, k.Properties, "is not a known property")
	case *kind.PropertyNames:
		return each(at, []string{k.Property}, "has a name that is not allowed")
	case *kind.Contains, *kind.MinContains, *kind.MaxContains, *kind.Not:
		return one(at, "%s", messageOf(err.ErrorKind))
	}
	if len(err.Causes) == 0 {
		return one(at, "%s", messageOf(err.ErrorKind))
	}
	var all []Violation
	for _, cause := range err.Causes {
		all = append(all, flatten(cause)...)
	}
	return all
}

// alternatives explains why a value fits none of several schemas. Where all
// but one are of another kind altogether (another type, another constant), the
// one is meant, and its faults are the news.
func alternatives(err *jsonschema.ValidationError) []Violation {
	at := err.InstanceLocation
	var meant, others []*jsonschema.ValidationError
	for _, branch := range err.Causes {
		if fault := otherKind(branch, at); fault != nil {
			others = append(others, fault)
		} else {
			meant = append(meant, branch)
		}
	}
	if len(meant) == 1 {
		return flatten(meant[0])
	}
	if len(meant) == 0 {
		meant = others
	}
	var reasons []string
	for _, branch := range meant {
		faults := flatten(branch)
		slices.SortFunc(faults, compareViolations)
		reason := strings.TrimPrefix(faults[0].Pointer, pointer(at)) + " " + faults[0].Message
		if reason = strings.TrimSpace(reason); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return one(at, "fits none of %d alternatives: %s", len(err.Causes), strings.Join(reasons, "; or "))
}

// otherKind finds the fault that makes a branch one for values of another kind:
// the type of the value itself, or a constant in one of its properties, as a
// discriminator is.
func otherKind(err *jsonschema.ValidationError, at []string) *jsonschema.ValidationError {
	switch err.ErrorKind.(type) {
	case *kind.Type:
		if len(err.InstanceLocation) == len(at) {
			return err
		}
	case *kind.Const, *kind.Enum:
		if len(err.InstanceLocation) <= len(at)+1 {
			return err
		}
	case *kind.AnyOf, *kind.OneOf:
		return nil
	}
	for _, cause := range err.Causes {
		if fault := otherKind(cause, at); fault != nil {
			return fault
		}
	}
	return nil
}

func one(at []string, format string, args ...any) []Violation {
	return []Violation{{Pointer: pointer(at), Message: cut(fmt.Sprintf(format, args...), maxViolation)}}
}

func each(at, names []string, message string) []Violation {
	var all []Violation
	for _, name := range names {
		all = append(all, one(append(slices.Clone(at), name), "%s", message)...)
	}
	return all
}

var english = message.NewPrinter(language.English)

func messageOf(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "is " + article(k.Got) + ", want " + strings.Join(nullLast(k.Want), " or ")
	case *kind.Enum:
		return "must be one of " + values(k.Want)
	case *kind.Const:
		return "must be " + values([]any{k.Want})
	case *kind.Format:
		return "is not of the format " + quote(k.Want)
	case *kind.Pattern:
		return "does not match the pattern " + quote(k.Want)
	case *kind.Minimum:
		return "must be at least " + decimal(k.Want)
	case *kind.Maximum:
		return "must be at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be greater than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimal(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + decimal(k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("has equal items at %d and %d, and all must differ", k.Duplicates[0], k.Duplicates[1])
	case *kind.AdditionalItems:
		return fmt.Sprintf("has %d items too many", k.Count)
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.Not:
		return "fits a schema that it must not fit"
	case *kind.RefCycle:
		return "cannot be checked: its schema refers to itself"
	}
	if limit, ok := size(k); ok {
		return limit
	}
	return k.LocalizedString(english)
}

// size words the limits on how many there may be of something.
func size(k jsonschema.ErrorKind) (string, bool) {
	say := func(got, want int, bound, what string) (string, bool) {
		return fmt.Sprintf("has %d %s, want at %s %d", got, what, bound, want), true
	}
	switch k := k.(type) {
	case *kind.MinLength:
		return say(k.Got, k.Want, "least", "characters")
	case *kind.MaxLength:
		return say(k.Got, k.Want, "most", "characters")
	case *kind.MinItems:
		return say(k.Got, k.Want, "least", "items")
	case *kind.MaxItems:
		return say(k.Got, k.Want, "most", "items")
	case *kind.MinProperties:
		return say(k.Got, k.Want, "least", "properties")
	case *kind.MaxProperties:
		return say(k.Got, k.Want, "most", "properties")
	case *kind.Contains:
		return "has no item of the kind that is wanted", true
	case *kind.MinContains:
		return say(len(k.Got), k.Want, "least", "items of the kind that is wanted")
	case *kind.MaxContains:
		return say(len(k.Got), k.Want, "most", "items of the kind that is wanted")
	}
	return "", false
}

// nullLast orders types as people name them.
func nullLast(types []string) []string {
	return slices.SortedStableFunc(slices.Values(types), func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == "null":
			return 1
		case b == "null":
			return -1
		}
		return 0
	})
}

func article(jsonType string) string {
	switch jsonType {
	case "null", "":
		return jsonType
	case "integer", "array", "object":
		return "an " + jsonType
	}
	return "a " + jsonType
}

// values lists what a schema allows, as JSON, within bounds.
func values(list []any) string {
	var b strings.Builder
	for i, v := range list {
		text, err := encode(v)
		if err != nil {
			continue
		}
		if b.Len() > maxViolation/2 {
			fmt.Fprintf(&b, " and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(cut(string(text), 60))
	}
	return b.String()
}

// decimal writes a bound as people do: 0.01 and not 1/100.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return cut(r.Num().String(), 40)
	}
	if f, exact := r.Float64(); exact || f != 0 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return r.RatString()
}

// summary puts violations into one line.
func summary(violations []Violation) string {
	const shown = 3
	var b strings.Builder
	for i, v := range violations {
		if i == shown {
			fmt.Fprintf(&b, "; and more")
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		if v.Pointer != "" {
			b.WriteString(v.Pointer + " ")
		}
		b.WriteString(v.Message)
	}
	return b.String()
}
