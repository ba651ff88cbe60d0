package schema

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is what a JSON value is.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is a JSON value in a document. The methods take nil for a value that is
// not there.
type Value struct {
	Kind Kind
	// Bool is the value of a Bool.
	Bool bool
	// Text is the content of a String, and a Number as it was written.
	Text string
	// Items are the elements of an Array.
	Items []*Value
	// Members are those of an Object in the order of the document. Names are
	// unique: of a name that was written twice the last value counts.
	Members []Member

	parent *Value
	// token is the last part of the value's pointer.
	token string
	// resource is the schema with an address of its own that the value belongs to.
	resource *Value
	// index finds members of large objects.
	index map[string]int
}

// Member is a member of an object.
type Member struct {
	Name  string
	Value *Value
}

// indexed is how many members an object has before an index is worth it.
const indexed = 12

// Get is the member of an object with a name, or nil.
func (v *Value) Get(name string) *Value {
	if v == nil {
		return nil
	}
	if v.index != nil {
		if i, ok := v.index[name]; ok {
			return v.Members[i].Value
		}
		return nil
	}
	for _, m := range v.Members {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// Has says whether an object has a member with the name.
func (v *Value) Has(name string) bool { return v.Get(name) != nil }

// Is says whether the value is there and of a kind.
func (v *Value) Is(k Kind) bool { return v != nil && v.Kind == k }

// Str is the content of a string, and empty for anything else.
func (v *Value) Str() string {
	if !v.Is(String) {
		return ""
	}
	return v.Text
}

// True says whether the value is the boolean true.
func (v *Value) True() bool { return v.Is(Bool) && v.Bool }

// False says whether the value is the boolean false.
func (v *Value) False() bool { return v.Is(Bool) && !v.Bool }

// Schema says whether the value can be a schema: an object or a boolean.
func (v *Value) Schema() bool { return v.Is(Object) || v.Is(Bool) }

// Elements are the elements of an array, none for anything else.
func (v *Value) Elements() []*Value {
	if !v.Is(Array) {
		return nil
	}
	return v.Items
}

// Fields are the members of an object, none for anything else.
func (v *Value) Fields() []Member {
	if !v.Is(Object) {
		return nil
	}
	return v.Members
}

// Strings are the strings among the elements of an array.
func (v *Value) Strings() []string {
	var list []string
	for _, item := range v.Elements() {
		if item.Kind == String {
			list = append(list, item.Text)
		}
	}
	return list
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer is the value's place in its document, a JSON pointer (RFC 6901); the
// root's is empty.
func (v *Value) Pointer() string {
	var b strings.Builder
	for _, token := range v.Path() {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(token))
	}
	return b.String()
}

// Path is the pointer's parts.
func (v *Value) Path() []string {
	var path []string
	for ; v != nil && v.parent != nil; v = v.parent {
		path = append(path, v.token)
	}
	slices.Reverse(path)
	return path
}

// JSON writes the value without white space. A text longer than limit bytes is
// cut where the limit is passed, and whole is false then.
func (v *Value) JSON(limit int) (text string, whole bool) {
	b := appendJSON(nil, v, limit)
	if len(b) > limit {
		return strings.ToValidUTF8(string(b[:limit]), ""), false
	}
	return string(b), true
}

func appendJSON(b []byte, v *Value, limit int) []byte {
	switch v.Kind {
	case Null:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, v.Bool)
	case Number:
		return append(b, v.Text...)
	case String:
		return appendString(b, v.Text, limit)
	case Array:
		return appendList(b, '[', ']', len(v.Items), limit, func(b []byte, i int) []byte {
			return appendJSON(b, v.Items[i], limit)
		})
	default:
		return appendList(b, '{', '}', len(v.Members), limit, func(b []byte, i int) []byte {
			b = append(appendString(b, v.Members[i].Name, limit), ':')
			return appendJSON(b, v.Members[i].Value, limit)
		})
	}
}

// appendList stops once it is past the limit: the rest would be cut off.
func appendList(b []byte, open, end byte, n, limit int, element func([]byte, int) []byte) []byte {
	b = append(b, open)
	for i := 0; i < n && len(b) <= limit; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = element(b, i)
	}
	return append(b, end)
}

func appendString(b []byte, s string, limit int) []byte {
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
		b = append(b, quoteJSON(s)...)
		return append(b[:len(b)-1], "……"...) // longer than the limit, so that it is cut
	}
	return append(b, quoteJSON(s)...)
}
