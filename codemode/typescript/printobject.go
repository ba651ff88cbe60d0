package typescript

import (
	"fmt"
	"slices"
	"strings"
)

// object prints a type literal.
func (p *printer) object(o *object, depth int) {
	if !p.flat {
		t := &typ{op: opObject, object: o}
		if line, ok := p.oneLine(t, depth-1); ok {
			p.write(line)
			return
		}
	}
	p.body(o, depth)
}

// body prints the braces and what is between them.
func (p *printer) body(o *object, depth int) {
	shown, left := p.shown(o)
	p.write("{")
	p.indent++
	first := true
	next := func() {
		if p.flat && !first {
			p.write(";")
		}
		first = false
		p.newline()
	}
	for _, f := range shown {
		if p.full() {
			break
		}
		next()
		p.field(f, depth)
	}
	if left > 0 {
		p.omitted += left
		next()
		p.write(fmt.Sprintf("/* %d more */", left))
		if !p.standalone {
			p.newline()
			p.write("[key: string]: unknown")
			p.end()
		}
	} else if len(o.keys) > 0 || len(o.fields) == 0 {
		next()
		p.keys(o, depth)
	}
	p.indent--
	p.newline()
	p.write("}")
}

// end ends a property that stands on a line of its own.
func (p *printer) end() {
	if !p.flat {
		p.write(";")
	}
}

// longName is how long a property's name may be where all must fit on a line.
const longName = 60

// shown are the properties that are printed, in the author's order, and how many
// are not. Required ones are preferred.
func (p *printer) shown(o *object) (shown []*field, left int) {
	room := p.fields
	for _, f := range o.fields {
		if !f.optional {
			room--
		}
	}
	required := 0
	for _, f := range o.fields {
		switch {
		case p.standalone && len(f.name) > longName, len(f.name) > maxLiteral:
		case !f.optional && required < p.fields:
			required++
			shown = append(shown, f)
		case f.optional && room > 0:
			room--
			shown = append(shown, f)
		}
	}
	return shown, len(o.fields) - len(shown)
}

func (p *printer) field(f *field, depth int) {
	p.doc(fieldDocs(f.typ))
	p.write(key(f.name))
	if f.optional {
		p.write("?")
	}
	p.write(": ")
	p.typ(f.typ, depth)
	p.end()
}

// fieldDocs is what is said of a property, and of the elements that it lists.
func fieldDocs(t *typ) docs {
	d := t.docs
	if t.op != opArray || t.parts[0].docs.empty() {
		return d
	}
	element := t.parts[0].docs
	each := strings.TrimSpace(strings.Join(append([]string{element.text}, element.tags...), " "))
	if d.text != "" {
		d.text += "\n"
	}
	d.text += "Each: " + strings.ReplaceAll(each, "\n", " ")
	return d
}

// longKeys is how long the type of keys may be that includes those of all
// properties, as TypeScript demands.
const longKeys = 120

// keys prints an index signature. TypeScript wants the type of each property to
// be within it, so the type is made as wide as that takes, and a comment says
// what it is of the keys alone.
func (p *printer) keys(o *object, depth int) {
	if len(o.keys) == 0 {
		switch {
		case o.closed:
			p.write("[key: string]: never")
		default:
			p.write("[key: string]: unknown")
		}
		p.end()
		return
	}
	parts, comment := p.keyTypes(o.keys, depth)
	exact := strings.Join(parts, " | ")
	wide := p.wideEnough(parts, o.fields, depth)
	if !p.flat && (wide != exact || comment != "") {
		if comment == "" {
			comment = "Other keys: " + exact + "."
		}
		p.doc(docs{text: strings.ReplaceAll(comment, "*/", `*\/`)})
	}
	p.write("[key: string]: ", wide)
	p.end()
}

// keyTypes are the types of the keys that are not named, and what is to be said
// of the patterns that they match.
func (p *printer) keyTypes(keys []keyType, depth int) (parts []string, comment string) {
	var lines []string
	for _, k := range keys {
		text := p.lineOf(k.typ, depth)
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
		switch {
		case k.pattern != "":
			lines = append(lines, "Keys like "+remark(k.pattern, maxTag)+": "+text+".")
		case len(keys) > 1:
			lines = append(lines, "Other keys: "+text+".")
		}
	}
	if slices.ContainsFunc(parts, isUnknown) {
		parts = []string{"unknown"}
	}
	return parts, strings.Join(lines, "\n")
}

func isUnknown(text string) bool { return text == "unknown" || strings.HasPrefix(text, "unknown /*") }

// wideEnough is the type of keys together with those of all properties.
func (p *printer) wideEnough(parts []string, fields []*field, depth int) string {
	exact := len(strings.Join(parts, " | "))
	optional := false
	for _, f := range fields {
		if text := p.lineOf(f.typ, depth); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
		optional = optional || f.optional
		if len(parts) > p.members {
			return "unknown"
		}
	}
	if slices.ContainsFunc(parts, isUnknown) {
		return "unknown"
	}
	if optional {
		parts = append(parts, "undefined")
	}
	if wide := strings.Join(parts, " | "); len(wide) <= max(longKeys, exact) {
		return wide
	}
	return "unknown"
}

// lineOf is a type on one line, or unknown if that is too long.
func (p *printer) lineOf(t *typ, depth int) string {
	if text, ok := p.oneLine(t, depth); ok {
		return text
	}
	line := p.line(t, depth, longKeys)
	if line.full() {
		return "unknown"
	}
	p.omitted += line.omitted
	return string(line.b)
}
