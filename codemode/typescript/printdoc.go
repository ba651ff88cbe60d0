package typescript

import "strings"

// oneLine prints a type on a line, if it is short and loses nothing by it.
func (p *printer) oneLine(t *typ, depth int) (string, bool) {
	if p.text > 0 && documented(t, true) {
		return "", false
	}
	line := p.line(t, depth, shortLine)
	if line.full() || line.omitted > 0 {
		return "", false
	}
	return string(line.b), true
}

// line prints a type on a line of at most limit bytes.
func (p *printer) line(t *typ, depth, limit int) *printer {
	line := &printer{detail: p.detail, limit: limit, flat: true, standalone: p.standalone, refer: p.refer}
	line.typ(t, depth)
	return line
}

// documented says whether anything within a type has something to say to people;
// at the top it is said elsewhere.
func documented(t *typ, top bool) bool {
	if !top && !t.docs.empty() {
		return true
	}
	for _, part := range t.parts {
		if documented(part, false) {
			return true
		}
	}
	if t.rest != nil && documented(t.rest, false) {
		return true
	}
	if t.object == nil {
		return false
	}
	for _, f := range t.object.fields {
		if documented(f.typ, false) {
			return true
		}
	}
	for _, k := range t.object.keys {
		if documented(k.typ, false) {
			return true
		}
	}
	return false
}

// maxRemark bounds a comment on a member of a union, in bytes.
const maxRemark = 160

// doc prints a comment on what follows, on lines of its own.
func (p *printer) doc(d docs) {
	if p.flat || p.text == 0 || d.empty() {
		return
	}
	text := cut(d.text, p.text)
	tags := strings.Join(d.tags, " ")
	if !strings.Contains(text, "\n") {
		p.write("/** ", strings.TrimSpace(text+" "+tags), " */")
		p.newline()
		return
	}
	p.write("/**")
	for line := range strings.SplitSeq(text, "\n") {
		p.docLine(line)
	}
	if tags != "" {
		p.docLine(tags)
	}
	p.newline()
	p.write(" */")
	p.newline()
}

func (p *printer) docLine(line string) {
	if line == "" {
		p.newline()
		p.write(" *")
		return
	}
	p.newline()
	p.write(" * ", line)
}

// remark prints a comment on a member of a union, above it.
func (p *printer) remark(d docs) {
	if p.text == 0 || d.text == "" {
		return
	}
	p.write("/** ", cut(strings.ReplaceAll(d.text, "\n", " "), min(p.text, maxRemark)), " */")
	p.newline()
}
