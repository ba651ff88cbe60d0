package typescript

import (
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

// maxTypeName bounds the name of a type, before what makes it unique.
const maxTypeName = 60

// Expression is how a snippet calls a tool: its namespace is a global, the rest
// are properties, as in orders.refund and notion["post-search"].
func Expression(id string) string {
	segments := segmentsOf(id)
	var b strings.Builder
	b.WriteString(Global(segments[0]))
	for _, segment := range segments[1:] {
		if isIdentifier(segment) {
			b.WriteString("." + segment)
		} else {
			b.WriteString("[" + quote(segment) + "]")
		}
	}
	return b.String()
}

// maxID bounds an id that is written, in bytes. The catalog's are shorter.
const maxID = 128

// segmentsOf splits an id. What no id in a catalog can hold becomes _.
func segmentsOf(id string) []string {
	id = strings.Map(func(r rune) rune {
		if isIdentifierPart(r) || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, clip(id, maxID))
	return strings.Split(id, ".")
}

// Global is the name of the global variable that holds a namespace's tools. It is
// the namespace, with _ for each character that an identifier cannot hold, and
// with _ at its end if JavaScript or the snippet API has another use for it.
func Global(namespace string) string {
	var b strings.Builder
	for i, r := range namespace {
		if !isIdentifierPart(r) || i == 0 && r >= '0' && r <= '9' {
			r = '_'
		}
		b.WriteRune(r)
	}
	name := b.String()
	if name == "" || words[name] || snippet.Reserved(name) {
		name += "_"
	}
	return name
}

// key writes a property's name: quoted unless it is an identifier. A method that
// is called new must not read as a constructor.
func key(name string) string {
	if isIdentifier(name) && name != "new" {
		return name
	}
	return quote(name)
}

// isIdentifier says whether s can stand bare as a property. Letters beyond ASCII
// cannot: which of them a compiler takes depends on its age.
func isIdentifier(s string) bool {
	for _, r := range s {
		if !isIdentifierPart(r) {
			return false
		}
	}
	return s != "" && (s[0] < '0' || s[0] > '9')
}

func isIdentifierPart(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '$'
}

// typeName makes the name of a type of any text: order-line is OrderLine.
func typeName(text string) string {
	var b strings.Builder
	upper := true
	for _, r := range text {
		switch {
		case !isIdentifierPart(r) || r == '_' || r == '$':
			upper = true
			continue
		case upper && r >= 'a' && r <= 'z':
			r -= 'a' - 'A'
		}
		upper = false
		if b.Len() < maxTypeName {
			b.WriteRune(r)
		}
	}
	name := b.String()
	switch {
	case name == "":
		return "Type"
	case name[0] >= '0' && name[0] <= '9':
		return "T" + name
	case libraryTypes[name] || snippet.Reserved(name):
		return name + "Type"
	}
	return name
}

// referenceName makes the name of the type at a place of a schema: of the last
// name on the way there, as order-line is at /$defs/order-line.
func referenceName(path []string) string {
	name, inItems := "", false
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case "properties", "patternProperties", "$defs", "definitions", "schemas", "dependentSchemas":
			if i++; i < len(path) {
				name, inItems = path[i], false
			}
		case "items", "additionalProperties", "additionalItems", "prefixItems":
			inItems = true
		}
	}
	if inItems {
		return typeName(name + " item")
	}
	return typeName(name)
}

// nameSet gives out names, each once.
type nameSet map[string]bool

// unique returns the first of the wanted names that is free, else the first with
// a number.
func (s nameSet) unique(wanted ...string) string {
	for _, name := range wanted {
		if !s[name] {
			s[name] = true
			return name
		}
	}
	for n := 2; ; n++ {
		name := fmt.Sprintf("%s%d", wanted[0], n)
		if !s[name] {
			s[name] = true
			return name
		}
	}
}

// words are the words of JavaScript and TypeScript that cannot name a variable.
var words = set(`
	arguments as async await break case catch class const continue debugger declare default delete do else enum eval
	export extends false finally for from function get if implements import in instanceof interface let module
	namespace new null of package private protected public return set static super switch this throw true try type
	typeof undefined var void while with yield`)

// libraryTypes are the types of TypeScript's library that are no values of a
// snippet. A declaration must not replace them.
var libraryTypes = set(`
	AsyncGenerator AsyncIterable AsyncIterator Awaited Capitalize Console Exclude Extract Generator InstanceType Iterable
	IterableIterator Lowercase NonNullable Omit Parameters Partial PromiseLike Readonly ReadonlyArray ReadonlyMap
	ReadonlySet Record Required ReturnType SharedArrayBuffer ThisType Uncapitalize Uppercase`)

func set(words string) map[string]bool {
	s := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		s[word] = true
	}
	return s
}
