package typescript

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// detail is how much is printed.
type detail struct {
	// decls bounds the declarations beside the root's.
	decls int
	// depth bounds how deep types are printed within each other.
	depth int
	// fields bounds the properties of an object, members those of a union.
	fields, members int
	// text bounds the text on a property, in bytes; 0: no text and no tags.
	text int
}

// shortLine is how long a type without comments may be to stand on one line.
const shortLine = 76

// printer prints types. Once it is past its limit it prints no more.
type printer struct {
	b []byte
	detail
	// limit bounds what is printed, in bytes.
	limit int
	// flat keeps all on one line, without comments to people.
	flat bool
	// standalone prints what a reference refers to in place of its name.
	standalone bool
	// refer is told of each declaration that is named, and says whether it will be
	// declared.
	refer  func(*decl) bool
	indent int
	// omitted counts what was left out.
	omitted int
}

func (p *printer) full() bool { return len(p.b) > p.limit }

func (p *printer) write(parts ...string) {
	for _, part := range parts {
		p.b = append(p.b, part...)
	}
}

// newline begins a line, or goes on with it.
func (p *printer) newline() {
	if p.flat {
		p.write(" ")
		return
	}
	p.b = bytes.TrimRight(p.b, " ")
	p.write("\n", strings.Repeat("  ", p.indent))
}

// typ prints a type that is nested so deep.
func (p *printer) typ(t *typ, depth int) {
	if p.full() {
		return
	}
	switch t.op {
	case opUnknown:
		p.write("unknown")
	case opNever:
		p.write("never")
	case opPrimitive:
		p.write(t.text)
	case opLiteral:
		p.literal(t)
	case opRef:
		p.ref(t.decl, depth)
	default:
		if depth > p.depth && !t.scalar() {
			p.elide(t)
			break
		}
		p.nested(t, depth)
	}
	if t.note != "" && !p.standalone {
		p.write(" /* ", t.note, " */")
	}
}

func (p *printer) nested(t *typ, depth int) {
	switch t.op {
	case opArray:
		p.element(t.parts[0], depth+1)
		p.write("[]")
	case opTuple:
		p.tuple(t, depth+1)
	case opObject:
		p.object(t.object, depth+1)
	case opUnion:
		p.union(t, depth+1)
	case opIntersection:
		for i, part := range t.parts {
			if i > 0 {
				p.write(" & ")
			}
			p.operand(part, depth+1)
		}
	}
}

// longLiteral is how long a literal may be on a line of its own kind of brevity.
const longLiteral = 48

func (p *printer) literal(t *typ) {
	if p.standalone && len(t.text) > longLiteral {
		p.typ(anyOfKind(t.kinds), p.depth)
		return
	}
	p.write(t.text)
}

func (p *printer) ref(d *decl, depth int) {
	switch {
	case p.standalone && depth > p.depth && !d.typ.scalar():
		p.elide(d.typ)
	case p.standalone:
		p.typ(d.typ, depth+1)
	case p.refer(d):
		p.write(d.name)
	default:
		p.omitted++
		p.write("unknown /* ", d.name, " is left out */")
	}
}

// elide prints the widest type of t's kind and that something is missing.
func (p *printer) elide(t *typ) {
	p.omitted++
	switch {
	case t.op == opObject && p.standalone:
		p.write("{/* … */}")
	case t.op == opObject:
		p.write("{ [key: string]: unknown } /* left out */")
	case (t.op == opArray || t.op == opTuple) && p.standalone:
		p.write("unknown[]")
	case t.op == opArray || t.op == opTuple:
		p.write("unknown[] /* left out */")
	case p.standalone:
		p.write("unknown")
	default:
		p.write("unknown /* left out */")
	}
}

// element prints the type of an array's elements, in brackets where it needs
// them.
func (p *printer) element(t *typ, depth int) {
	if p.loose(t, depth, opUnion, opIntersection) {
		p.write("(")
		p.typ(t, depth)
		p.write(")")
		return
	}
	p.typ(t, depth)
}

// operand prints a part of an intersection, or of a union on lines, in brackets
// where it needs them.
func (p *printer) operand(t *typ, depth int) {
	if p.loose(t, depth, opUnion) {
		p.write("(")
		p.typ(t, depth)
		p.write(")")
		return
	}
	p.typ(t, depth)
}

// loose says whether a type is printed as one of the ops.
func (p *printer) loose(t *typ, depth int, ops ...op) bool {
	for p.standalone && t.op == opRef {
		t = t.decl.typ
		depth++
	}
	if depth > p.depth && !t.scalar() {
		return false
	}
	return slices.Contains(ops, t.op)
}

func (p *printer) tuple(t *typ, depth int) {
	p.write("[")
	shown := min(len(t.parts), p.members)
	for i, part := range t.parts[:shown] {
		if i > 0 {
			p.write(", ")
		}
		if i < len(t.parts)-t.optional {
			p.typ(part, depth)
			continue
		}
		p.element(part, depth)
		p.write("?")
	}
	rest := t.rest
	if left := len(t.parts) - shown; left > 0 {
		p.omitted += left
		rest = unknown(fmt.Sprintf("%d more elements", left))
	}
	if rest != nil {
		if shown > 0 {
			p.write(", ")
		}
		p.write("...")
		p.element(rest, depth)
		p.write("[]")
	}
	p.write("]")
}

func (p *printer) union(t *typ, depth int) {
	shown := t.parts[:min(len(t.parts), p.members)]
	left := t.parts[len(shown):]
	more := ""
	if len(left) > 0 {
		p.omitted += len(left)
		more = widest(left) + fmt.Sprintf(" /* %d more */", len(left))
	}
	if p.flat || p.allFlat(shown, depth) {
		p.unionLine(shown, more, depth)
		return
	}
	p.indent++
	for _, member := range shown {
		p.newline()
		p.remark(member.docs)
		p.write("| ")
		p.operand(member, depth)
	}
	if more != "" {
		p.newline()
		p.write("| ", more)
	}
	p.indent--
}

// unionLine prints a union on a line. Members that look alike once they are
// shortened are printed once.
func (p *printer) unionLine(members []*typ, more string, depth int) {
	seen := map[string]bool{}
	for _, member := range members {
		start := len(p.b)
		p.typ(member, depth)
		text := string(p.b[start:])
		p.b = p.b[:start]
		if seen[text] || p.standalone && text == more {
			continue
		}
		if len(seen) > 0 {
			p.write(" | ")
		}
		seen[text] = true
		p.write(text)
	}
	if more != "" {
		p.write(" | ", more)
	}
}

// allFlat says whether all members of a union can share a line.
func (p *printer) allFlat(members []*typ, depth int) bool {
	for _, member := range members {
		switch member.op {
		case opUnknown, opNever, opPrimitive, opLiteral, opRef:
			if p.text > 0 && !member.docs.empty() {
				return false
			}
		default:
			if _, ok := p.oneLine(member, depth); !ok {
				return false
			}
		}
	}
	return true
}

// widest is the type of all values of the kinds of constants, or of any.
func widest(types []*typ) string {
	var names []string
	seen := kindsNone
	for _, t := range types {
		if t.op != opPrimitive && t.op != opLiteral || t.kinds&(kindArray|kindObject) != 0 {
			return "unknown"
		}
		if t.kinds&^seen != 0 {
			seen |= t.kinds
			names = append(names, strings.ReplaceAll(t.kinds.String(), " or ", " | "))
		}
	}
	return strings.Join(names, " | ")
}
