package typescript

import (
	"strings"

	"github.com/heddle-dev/heddle/codemode/schema"
)

const (
	// maxLiteral bounds a constant that is written as a type, in bytes.
	maxLiteral = 1 << 10
	// maxLiteralDepth bounds how deep a constant may be nested.
	maxLiteralDepth = 8
	// maxDigits bounds the digits of a number that is written as a type.
	maxDigits = 25
)

// literal is the type of one JSON value, or of its kind where the value cannot be
// written.
func literal(v *schema.Value) *typ {
	var b strings.Builder
	if !writeLiteral(&b, v, 0) || b.Len() > maxLiteral {
		t := anyOfKind(kindOf(v))
		t.note = "one value, too large to be written"
		if v.Kind == schema.Number {
			t.note = "only " + remark(clip(v.Text, maxTag), maxTag)
		}
		return t
	}
	return &typ{op: opLiteral, text: b.String(), kinds: kindOf(v)}
}

func writeLiteral(b *strings.Builder, v *schema.Value, depth int) bool {
	if depth > maxLiteralDepth || b.Len() > maxLiteral {
		return false
	}
	switch v.Kind {
	case schema.Null:
		b.WriteString("null")
	case schema.Bool:
		text, _ := v.JSON(8)
		b.WriteString(text)
	case schema.Number:
		b.WriteString(v.Text)
		return len(v.Text) <= maxDigits && !inexact(v) && !strings.ContainsAny(v.Text, "eE")
	case schema.String:
		b.WriteString(quote(v.Text))
	case schema.Array:
		b.WriteByte('[')
		for i, item := range v.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			if !writeLiteral(b, item, depth+1) {
				return false
			}
		}
		b.WriteByte(']')
	case schema.Object:
		return writeLiteralObject(b, v, depth)
	}
	return true
}

func writeLiteralObject(b *strings.Builder, v *schema.Value, depth int) bool {
	if len(v.Members) == 0 {
		b.WriteString("{ [key: string]: never }")
		return true
	}
	b.WriteString("{ ")
	for i, m := range v.Members {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(key(m.Name) + ": ")
		if !writeLiteral(b, m.Value, depth+1) {
			return false
		}
	}
	b.WriteString(" }")
	return true
}

// anyOfKind is the type of all values of one kind.
func anyOfKind(k kinds) *typ {
	switch k {
	case kindString:
		return primitive("string", k)
	case kindNumber:
		return primitive("number", k)
	case kindBoolean:
		return primitive("boolean", k)
	case kindNull:
		return primitive("null", k)
	case kindArray:
		return &typ{op: opArray, parts: []*typ{unknown("")}}
	default:
		return &typ{op: opObject, object: &object{}}
	}
}
