package sandbox

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// errNotJSON says that what should be JSON is not.
var errNotJSON = errors.New("not valid JSON")

// parse makes a value of JSON (RFC 8259), as JSON.parse does, for which goja's takes more
// than twice as long: results of calls are JSON, and may be long. What is not valid, or
// nested more than 10,000 levels deep, is not ok. A number that is too large is infinite,
// and half of a surrogate pair is U+FFFD.
func parse(rt *goja.Runtime, text string) (value goja.Value, ok bool) {
	if !json.Valid([]byte(text)) {
		return nil, false
	}
	p := jsonReader{rt: rt, text: text, names: map[string]string{}}
	return p.value(), true
}

// jsonReader reads a text that is known to be valid, and nested no deeper than
// [json.Valid] allows.
type jsonReader struct {
	rt   *goja.Runtime
	text string
	at   int
	// names are those of members, which repeat in lists of objects.
	names map[string]string
}

// next skips white space and returns what comes after it.
func (p *jsonReader) next() byte {
	for {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return c
		}
	}
}

func (p *jsonReader) value() goja.Value {
	switch p.next() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		return p.rt.ToValue(strings.Clone(p.str()))
	case 't':
		p.at += len("true")
		return p.rt.ToValue(true)
	case 'f':
		p.at += len("false")
		return p.rt.ToValue(false)
	case 'n':
		p.at += len("null")
		return goja.Null()
	default:
		return p.number()
	}
}

func (p *jsonReader) object() goja.Value {
	object := p.rt.NewObject()
	p.at++
	for p.next() != '}' {
		if p.text[p.at] == ',' {
			p.at++
			p.next()
		}
		name := p.name()
		p.next()
		p.at++ // the colon
		// Not by an assignment, which would look at what the snippet made of prototypes.
		must(object.DefineDataProperty(name, p.value(), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE))
	}
	p.at++
	return object
}

func (p *jsonReader) name() string {
	found := p.str()
	name, known := p.names[found]
	if !known {
		name = strings.Clone(found)
		p.names[name] = name
	}
	return name
}

func (p *jsonReader) array() goja.Value {
	var items []any
	p.at++
	for p.next() != ']' {
		if p.text[p.at] == ',' {
			p.at++
		}
		items = append(items, p.value())
	}
	p.at++
	return p.rt.NewArray(items...)
}

// str reads a string. It may be a part of the text, which whoever keeps it would keep
// as a whole.
func (p *jsonReader) str() string {
	begin := p.at
	plain := true
	for p.at++; p.text[p.at] != '"'; p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\':
			plain = false
			p.at++
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	p.at++
	if plain {
		return p.text[begin+1 : p.at-1]
	}
	var s string
	must(json.Unmarshal([]byte(p.text[begin:p.at]), &s))
	return s
}

// exactDigits is how many digits any number of them fits a float64 with.
const exactDigits = 15

func (p *jsonReader) number() goja.Value {
	begin := p.at
	whole := true
	for p.at < len(p.text) && strings.IndexByte("+-.0123456789Ee", p.text[p.at]) >= 0 {
		c := p.text[p.at]
		whole = whole && (c >= '0' && c <= '9' || p.at == begin)
		p.at++
	}
	digits := p.text[begin:p.at]
	if whole && len(digits) <= exactDigits && digits != "-0" {
		n, err := strconv.ParseInt(digits, 10, 64)
		must(err)
		return p.rt.ToValue(n)
	}
	// The only error is that the number is out of range: then it is infinite, or zero.
	f, _ := strconv.ParseFloat(digits, 64)
	if f == 0 && digits[0] == '-' {
		f = math.Copysign(0, -1)
	}
	return p.rt.ToValue(f)
}
