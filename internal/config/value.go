package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/heddle-dev/heddle/internal/typo"
)

// reader gathers problems and the places of fields while a document is read.
type reader struct {
	file     string
	env      Lookup
	problems Problems
	at       map[string]position
	// text is where texts begin in which a place will be named.
	text map[string]textStart
}

// value is a node of the document and the path that leads to it. Its methods
// read it as a type; what does not fit becomes a problem and the zero value.
type value struct {
	*reader
	node ast.Node
	path string
}

// problem records what is wrong with the value.
func (v value) problem(format string, args ...any) {
	at := v.at[v.path]
	v.problems = append(v.problems, Problem{
		File: v.file, Line: at.line, Column: at.column, Field: v.path, Message: fmt.Sprintf(format, args...),
	})
}

// below is a value that this one holds.
func (v value) below(path string, node ast.Node) value {
	v.at[path] = positionOf(node.GetToken())
	return value{reader: v.reader, node: node, path: path}
}

// join is the path of a field.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// kind names the type of the value for people.
func (v value) kind() string {
	switch v.node.(type) {
	case *ast.NullNode:
		return "nothing"
	case ast.MapNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode:
		return "a whole number"
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.AnchorNode, *ast.AliasNode:
		return "an anchor or an alias, which this file cannot have"
	default:
		return "a " + v.node.Type().String()
	}
}

func (v value) want(kind string) { v.problem("want %s, found %s", kind, v.kind()) }

// entries calls visit for each entry of a mapping, in the file's order.
func (v value) entries(visit func(name string, entry value)) {
	mapping, ok := v.node.(ast.MapNode)
	if !ok {
		v.want("a mapping")
		return
	}
	for it := mapping.MapRange(); it.Next(); {
		key := it.Key()
		name, ok := key.(*ast.StringNode)
		if !ok {
			v.below(join(v.path, key.String()), key).problem("want a name as key; put it in quotes")
			continue
		}
		// The place of an entry is that of its key: a value may be empty.
		entry := v.below(join(v.path, name.Value), it.Value())
		entry.at[entry.path] = positionOf(key.GetToken())
		visit(name.Value, entry)
	}
}

// field reads one field of a mapping.
type field struct {
	name     string
	required bool
	read     func(value)
}

// fields reads a mapping whose keys are known.
func (v value) fields(known ...field) {
	found := map[string]bool{}
	v.entries(func(name string, entry value) {
		i := slices.IndexFunc(known, func(f field) bool { return f.name == name })
		if i < 0 {
			entry.problem("unknown field; %s", suggest(name, known))
			return
		}
		found[name] = true
		known[i].read(entry)
	})
	if _, ok := v.node.(ast.MapNode); !ok {
		return
	}
	for _, f := range known {
		if f.required && !found[f.name] {
			v.problem("the field %s is missing", f.name)
		}
	}
}

// suggest names the field that was meant, or all there are.
func suggest(name string, known []field) string {
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.name
		if strings.EqualFold(strings.ReplaceAll(name, "-", "_"), f.name) || typo.Distance(name, f.name) <= 2 {
			return fmt.Sprintf("did you mean %s?", f.name)
		}
	}
	return "known are " + strings.Join(names, ", ")
}

// list calls visit for each element of a list.
func (v value) list(visit func(element value)) {
	sequence, ok := v.node.(*ast.SequenceNode)
	if !ok {
		v.want("a list")
		return
	}
	for i, node := range sequence.Values {
		element := v.below(fmt.Sprintf("%s[%d]", v.path, i), node)
		if mapping, ok := node.(ast.MapNode); ok { // its own token is the colon behind the first key
			if it := mapping.MapRange(); it.Next() {
				v.at[element.path] = positionOf(it.Key().GetToken())
			}
		}
		visit(element)
	}
}

// text reads non-empty text.
func (v value) text() string {
	var s string
	switch node := v.node.(type) {
	case *ast.StringNode:
		s = node.Value
	case *ast.LiteralNode:
		s = node.Value.Value
	default:
		v.want("text")
		return ""
	}
	if strings.TrimSpace(s) == "" {
		v.problem("is empty")
		return ""
	}
	if !utf8.ValidString(s) {
		v.problem("is not valid UTF-8")
		return ""
	}
	return s
}

// expanded reads text in which the environment may be named. It may come out
// empty where the environment says so.
func (v value) expanded() string {
	s, err := expand(v.text(), v.env)
	if err != nil {
		v.problem("%s", err)
		return ""
	}
	return s
}

// filled reads text as expanded does, and refuses it when it comes out empty.
func (v value) filled() string {
	before := len(v.problems)
	s := v.expanded()
	if s == "" && len(v.problems) == before {
		v.problem("is empty")
	}
	return s
}

// integer reads a whole number between 1 and most.
func (v value) integer(most int64) int64 {
	node, ok := v.node.(*ast.IntegerNode)
	if !ok {
		v.want("a whole number")
		return 0
	}
	// The parser holds what is not negative as uint64.
	if n, ok := node.Value.(uint64); ok && n >= 1 && n <= uint64(most) {
		return int64(n)
	}
	v.problem("%s is out of range, want 1 to %d", node.String(), most)
	return 0
}

// isMapping reports whether the value has fields.
func (v value) isMapping() bool {
	_, ok := v.node.(ast.MapNode)
	return ok
}

// duration reads a length of time such as 30s, at most most.
func (v value) duration(most time.Duration) time.Duration {
	text, ok := v.node.(*ast.StringNode)
	if !ok {
		v.want("a duration such as 30s or 1h30m")
		return 0
	}
	d, err := time.ParseDuration(text.Value)
	if err != nil {
		v.problem("%q is no duration; want one such as 30s or 1h30m", text.Value)
		return 0
	}
	if d <= 0 || d > most {
		v.problem("%s is out of range, want more than 0 and at most %s", d, most)
		return 0
	}
	return d
}

// maxDollars keeps an amount in millionths of a dollar far from overflow.
const maxDollars = 1_000_000

// dollars reads an amount in US dollars as millionths of one. Less than a
// millionth is refused rather than rounded to nothing.
func (v value) dollars() int64 {
	var amount float64
	switch node := v.node.(type) {
	case *ast.IntegerNode:
		switch n := node.Value.(type) {
		case uint64:
			amount = float64(n)
		case int64:
			amount = float64(n)
		}
	case *ast.FloatNode:
		amount = node.Value
	default:
		v.want("an amount in US dollars such as 0.50")
		return 0
	}
	micros := math.Round(amount * 1e6)
	if !(micros >= 1 && amount <= maxDollars) {
		v.problem("%v is out of range, want 0.000001 to %d US dollars", amount, maxDollars)
		return 0
	}
	return int64(micros)
}
