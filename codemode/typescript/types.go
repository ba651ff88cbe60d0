package typescript

import (
	"slices"

	"github.com/heddle-dev/heddle/codemode/schema"
)

// typ is a type. Each is used in one place, so that it can be changed there.
type typ struct {
	op op
	// text is a primitive's or a literal's, as TypeScript.
	text string
	// kinds are the kinds of value of a primitive or a literal.
	kinds kinds
	// parts are the members of a union or an intersection, the first elements of a
	// tuple, or the one element of an array.
	parts []*typ
	// optional is how many of a tuple's first elements, at their end, may be absent.
	optional int
	// rest is what a tuple's further elements are; nil: there are none.
	rest *typ
	// object is an object's.
	object *object
	// decl is what a reference refers to.
	decl *decl
	// note says what is wrong or left out; it becomes a comment.
	note string
	// docs is what the schema says to people.
	docs docs
	// source is the schema, for pointers; nil for a type made of several.
	source *schema.Value
}

type op uint8

const (
	opUnknown op = iota
	opNever
	opPrimitive
	opLiteral
	opArray
	opTuple
	opObject
	opUnion
	opIntersection
	opRef
)

// object is the type of a JSON object.
type object struct {
	fields []*field
	// keys are the types of all other keys; nil: nothing is said of them.
	keys []keyType
	// closed says that there are no other keys.
	closed bool
}

// field is a named property.
type field struct {
	name     string
	typ      *typ
	optional bool
}

// keyType is the type of the keys that match a pattern, or of all that match no
// other if the pattern is empty.
type keyType struct {
	pattern string
	typ     *typ
}

// decl is a named type.
type decl struct {
	// wanted is the name it should have, name what it got.
	wanted, name string
	typ          *typ
	source       *schema.Value
	// same is the input's declaration that says the same as this one of the output.
	same *decl
	// referred says that something refers to it.
	referred bool
	// kinds are the kinds of the type, once they are known.
	kinds      kinds
	kindsKnown bool
	// size is what [types.size] says of the type, 0 before it is known.
	size int
}

// scalar says whether a type is made of primitives and constants alone.
func (t *typ) scalar() bool {
	switch t.op {
	case opPrimitive, opLiteral:
		return true
	case opUnion:
		return !slices.ContainsFunc(t.parts, func(part *typ) bool { return !part.scalar() })
	}
	return false
}

func unknown(note string) *typ { return &typ{op: opUnknown, note: note} }

func primitive(text string, k kinds) *typ { return &typ{op: opPrimitive, text: text, kinds: k} }

// kinds is a set of kinds of JSON value.
type kinds uint8

const (
	kindString kinds = 1 << iota
	kindNumber
	kindBoolean
	kindNull
	kindArray
	kindObject
	kindsNone kinds = 0
	kindsAll        = kindString | kindNumber | kindBoolean | kindNull | kindArray | kindObject
)

// kindsByName are the kinds of the types of JSON Schema.
var kindsByName = map[string]kinds{
	"string": kindString, "number": kindNumber, "integer": kindNumber, "boolean": kindBoolean,
	"null": kindNull, "array": kindArray, "object": kindObject,
}

func kindOf(v *schema.Value) kinds {
	switch v.Kind {
	case schema.String:
		return kindString
	case schema.Number:
		return kindNumber
	case schema.Bool:
		return kindBoolean
	case schema.Array:
		return kindArray
	case schema.Object:
		return kindObject
	default:
		return kindNull
	}
}
