package typescript

import "strings"

// details are tried in turn, until what is printed is short enough.
var details = []detail{
	{decls: 400, depth: 24, fields: 1000, members: 256, text: maxDoc},
	{decls: 200, depth: 12, fields: 300, members: 100, text: 400},
	{decls: 100, depth: 6, fields: 100, members: 40, text: 120},
	{decls: 40, depth: 4, fields: 60, members: 16},
	{decls: 10, depth: 2, fields: 40, members: 8},
	{decls: 3, depth: 1, fields: 20, members: 4},
}

// shortType is how long the type of an input or output may be to stand in the
// function's signature, without a name.
const shortType = 60

// declared are the types of one side as they are printed.
type declared struct {
	// text is the declarations.
	text string
	// typ is the type of the whole: its name, or itself if it is short.
	typ string
	// declared are the declarations that text holds.
	declared map[*decl]bool
}

// declare prints a side's types with as much detail as fits. Those of the other
// side that are declared already need not be again.
func declare(t *types, earlier map[*decl]bool) declared {
	if t.side == input && empty(t.root().typ) {
		return declared{typ: "{}"}
	}
	for i, d := range details {
		all, omitted, ok := t.print(d, earlier)
		if !ok {
			continue
		}
		if i > 0 || omitted > 0 {
			t.degrade(nil, "", "is too large: what is left out is marked in the types")
		}
		return all
	}
	t.degrade(nil, "", "is too large to be expressed")
	return declared{typ: "unknown /* too large */"}
}

// empty says whether a type is an object of which nothing is said, as tools have
// it that take nothing.
func empty(of *typ) bool {
	return of.op == opObject && len(of.object.fields)+len(of.object.keys) == 0 && !of.object.closed
}

// nameless says whether the whole is better not named: it is no object with
// properties, nothing refers to it, and it has nothing to say to people.
func (t *types) nameless() bool {
	root := t.root()
	if root.referred || !root.typ.docs.empty() || documented(root.typ, true) {
		return false
	}
	return root.typ.op != opObject || len(root.typ.object.fields) == 0
}

// print prints the type of the whole and the declarations that it needs, the
// nearest first. It is not ok if they are too long.
func (t *types) print(d detail, earlier map[*decl]bool) (all declared, omitted int, ok bool) {
	var queue []*decl
	all.declared = map[*decl]bool{}
	p := &printer{detail: d, limit: maxSide}
	p.refer = func(next *decl) bool {
		if all.declared[next] || next.same != nil && earlier[next.same] {
			return true
		}
		if len(queue) > d.decls {
			return false
		}
		queue = append(queue, next)
		all.declared[next] = true
		return true
	}
	root := t.root()
	if line := p.line(root.typ, 0, shortType); t.nameless() && !line.full() && line.omitted == 0 {
		all.typ = string(line.b)
	} else {
		queue, all.declared = []*decl{root}, map[*decl]bool{root: true}
		all.typ = root.name
	}
	for i := 0; i < len(queue); i++ {
		p.declaration(queue[i])
		if p.full() {
			return declared{}, 0, false
		}
	}
	all.text = string(p.b)
	return all, p.omitted, true
}

// declaration prints a named type.
func (p *printer) declaration(d *decl) {
	p.doc(d.typ.docs)
	if d.typ.op == opObject && d.typ.note == "" {
		p.write("interface ", d.name, " ")
		p.body(d.typ.object, 1)
	} else {
		p.write("type ", d.name, " = ")
		p.typ(d.typ, 0)
		p.write(";")
	}
	p.write("\n\n")
}

// briefs are the details of a signature, tried in turn.
var briefs = []detail{
	{depth: 4, fields: 30, members: 12},
	{depth: 3, fields: 16, members: 8},
	{depth: 2, fields: 12, members: 6},
	{depth: 1, fields: 10, members: 4},
	{depth: 1, fields: 6, members: 3},
	{depth: 0, fields: 5, members: 2},
	{depth: 0, fields: 3, members: 1},
	{depth: -1},
}

// fairOutput is how much of a signature the output gets before the input.
const fairOutput = 120

// signature prints a tool on one line.
func signature(id string, in, out *types) string {
	expression := Expression(id)
	mark := optional(in)
	room := MaxSignature - len(expression+"(input"+mark+": ): Promise<>")
	gives := brief(out, fairOutput)
	takes := brief(in, room-len(gives))
	gives = brief(out, room-len(takes))
	return strings.Join([]string{expression, "(input", mark, ": ", takes, "): Promise<", gives, ">"}, "")
}

// brief is the fullest printing of a side's type that is no longer than room.
func brief(t *types, room int) string {
	if t.side == input && empty(t.root().typ) {
		return "{}"
	}
	for _, d := range briefs {
		p := printer{detail: d, limit: room, flat: true, standalone: true}
		p.typ(t.root().typ, 0)
		if !p.full() {
			return string(p.b)
		}
	}
	return "unknown"
}
