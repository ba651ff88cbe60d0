package catalog

import (
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// matchTimeout bounds one match of a pattern that needs backtracking.
	matchTimeout = 100 * time.Millisecond
	// maxPattern bounds the length of a pattern, in bytes.
	maxPattern = 16 << 10
)

// compilePattern makes a pattern of a schema usable. JSON Schema means
// ECMAScript's regular expressions:
//
//   - A pattern that Go's regexp takes runs there, in time linear to the text.
//   - Any other (lookahead, lookbehind, back references, [^], \cA) runs in
//     regexp2 as ECMAScript, for at most [matchTimeout]; a text that takes longer
//     counts as one that does not match, so the value is refused.
//   - What neither takes is an error; see [dropPatterns] for what comes of it.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern is %d bytes long, at most %d are allowed", len(pattern), maxPattern)
	}
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, fmt.Errorf("%s is no regular expression: %w", quote(pattern), err)
	}
	re.MatchTimeout = matchTimeout
	return backtracking{re}, nil
}

type backtracking struct{ re *regexp2.Regexp }

func (b backtracking) String() string { return b.re.String() }

func (b backtracking) MatchString(s string) bool {
	matched, err := b.re.MatchString(s)
	if err != nil {
		slog.Warn("catalog: a pattern of a tool's schema took too long", "pattern", cut(b.re.String(), 200), "text_bytes", len(s))
	}
	return err == nil && matched
}

// dropPatterns takes out of a schema the patterns that no engine here takes, so
// that one of them costs its own check and not the whole tool. Where it is a
// pattern over property names, it cannot be told which properties it would have
// covered, so nothing is said of the others either.
func dropPatterns(node any) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			dropPatterns(item)
		}
	case map[string]any:
		if pattern, ok := node["pattern"].(string); ok && !usable(pattern) {
			delete(node, "pattern")
		}
		if named, ok := node["patternProperties"].(map[string]any); ok {
			for pattern := range named {
				if !usable(pattern) {
					delete(named, pattern)
					delete(node, "additionalProperties")
					delete(node, "unevaluatedProperties")
				}
			}
		}
		for keyword, part := range node {
			switch keyword {
			case "const", "enum", "default", "examples", "example": // values, not schemas
			default:
				dropPatterns(part)
			}
		}
	}
}

func usable(pattern string) bool {
	_, err := compilePattern(pattern)
	if err != nil {
		slog.Warn("catalog: a pattern of a tool's schema is not enforced", "pattern", cut(pattern, 200), "error", err)
	}
	return err == nil
}
