package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MaxDocument bounds a document, in bytes.
	MaxDocument = 1 << 20
	// MaxValues bounds the values in a document.
	MaxValues = 200_000
)

// Parse reads a document. Beside JSON that is malformed, it refuses a text of
// more than [MaxDocument] bytes or [MaxValues] values, and one that is nested
// deeper than encoding/json reads (10,000 levels). Invalid UTF-8 and half
// surrogate pairs become U+FFFD.
func Parse(text []byte) (*Document, error) {
	if len(text) > MaxDocument {
		return nil, fmt.Errorf("the schema is %d bytes long, at most %d are read", len(text), MaxDocument)
	}
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("the schema is not valid JSON: %w (at byte %d)", err, syntax.Offset)
		}
		return nil, fmt.Errorf("the schema is not valid JSON: %w", err)
	}
	r := reader{text: text}
	root := r.value(nil, "")
	if r.values > MaxValues {
		return nil, fmt.Errorf("the schema holds more than %d values", MaxValues)
	}
	d := &Document{
		Root:  root,
		Draft: draftOf(root),
		bases: map[*Value]*url.URL{root: nowhere},
		names: map[string]*Value{},
	}
	d.locate(root, root, aSchema)
	d.note(d.bases[root].String(), root)
	return d, nil
}

// reader reads a text that is known to be valid JSON, so it never has to ask
// what comes next. Past the bound on values it reads on and keeps nothing.
type reader struct {
	text   []byte
	pos    int
	values int
}

func (r *reader) value(parent *Value, token string) *Value {
	r.values++
	v := &Value{parent: parent, token: token}
	switch c := r.next(); c {
	case '{':
		r.object(v)
	case '[':
		r.array(v)
	case '"':
		v.Kind, v.Text = String, r.string()
	case 't':
		v.Kind, v.Bool = Bool, true
		r.pos += len("true")
	case 'f':
		v.Kind = Bool
		r.pos += len("false")
	case 'n':
		r.pos += len("null")
	default:
		v.Kind, v.Text = Number, r.number()
	}
	return v
}

// next skips white space and shows what follows.
func (r *reader) next() byte {
	for {
		switch c := r.text[r.pos]; c {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return c
		}
	}
}

func (r *reader) object(v *Value) {
	v.Kind = Object
	r.pos++ // {
	for {
		switch r.next() {
		case '}':
			r.pos++
			return
		case ',':
			r.pos++
			r.next()
		}
		name := r.string()
		r.next()
		r.pos++ // :
		member := r.value(v, name)
		if r.values <= MaxValues {
			v.set(name, member)
		}
	}
}

// set adds a member, or replaces that of the same name.
func (v *Value) set(name string, member *Value) {
	if len(v.Members) == indexed && v.index == nil {
		v.index = make(map[string]int, 2*indexed)
		for i, m := range v.Members {
			v.index[m.Name] = i
		}
	}
	if v.index != nil {
		if i, twice := v.index[name]; twice {
			v.Members[i].Value = member
			return
		}
		v.index[name] = len(v.Members)
	} else {
		for i := range v.Members {
			if v.Members[i].Name == name {
				v.Members[i].Value = member
				return
			}
		}
	}
	v.Members = append(v.Members, Member{name, member})
}

func (r *reader) array(v *Value) {
	v.Kind = Array
	r.pos++ // [
	for n := 0; ; n++ {
		switch r.next() {
		case ']':
			r.pos++
			return
		case ',':
			r.pos++
		}
		item := r.value(v, strconv.Itoa(n))
		if r.values <= MaxValues {
			v.Items = append(v.Items, item)
		}
	}
}

func (r *reader) string() string {
	start := r.pos
	for r.pos++; r.text[r.pos] != '"'; r.pos++ {
		if r.text[r.pos] == '\\' {
			r.pos++
		}
	}
	r.pos++
	quoted := r.text[start:r.pos]
	if bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted) {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic(fmt.Sprintf("schema: %v in a text that is valid JSON", err))
	}
	return s
}

func (r *reader) number() string {
	start := r.pos
	for r.pos < len(r.text) && strings.IndexByte("+-.eE0123456789", r.text[r.pos]) >= 0 {
		r.pos++
	}
	return string(r.text[start:r.pos])
}

// quoteJSON writes a string as JSON, without escapes that only HTML needs.
func quoteJSON(s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(fmt.Sprintf("schema: a string does not encode: %v", err))
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
