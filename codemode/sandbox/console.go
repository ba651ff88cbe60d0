package sandbox

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

const (
	// maxLine is the longest line of console output, in bytes.
	maxLine = 8 << 10
	// minLine is how much of a line is worth keeping.
	minLine = 80
	// lineCost is what a line counts besides its text.
	lineCost = 16
)

// console keeps what the snippet logs, up to a limit.
type console struct {
	limit, used int
	lines       []snippet.Line
	dropped     int
}

func (c *console) add(level, text string) {
	room := maxLine
	if c.limit > 0 {
		room = min(room, c.limit-c.used-lineCost)
	}
	if c.dropped > 0 || room < min(len(text), minLine) {
		c.dropped++
		return
	}
	if len(text) > room {
		text = strings.ToValidUTF8(text[:room], "") + "…"
	}
	c.used += len(text) + lineCost
	c.lines = append(c.lines, snippet.Line{Level: level, Text: text})
}

// full reports whether another line would be dropped, so that it need not be
// written at all.
func (c *console) full() bool { return c.dropped > 0 }

// hostLog writes a line: level, values.
func (x *execution) hostLog(call goja.FunctionCall) goja.Value {
	if x.console.full() || len(call.Arguments) == 0 {
		x.console.dropped++
		return goja.Undefined()
	}
	x.console.add(call.Arguments[0].String(), x.format(call.Arguments[1:]))
	return goja.Undefined()
}

// format joins values as console.log does: strings as they are, everything else
// inspected, and the directives of a first string replaced.
func (x *execution) format(values []goja.Value) string {
	var text strings.Builder
	if len(values) > 1 {
		if template, ok := values[0].(goja.String); ok && strings.Contains(template.String(), "%") {
			var filled string
			filled, values = x.fillIn(template.String(), values[1:])
			text.WriteString(filled)
			if len(values) > 0 {
				text.WriteByte(' ')
			}
		}
	}
	for i, value := range values {
		if text.Len() > maxLine {
			break
		}
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(x.show(value))
	}
	return text.String()
}

// show is a value on its own: a string as it is.
func (x *execution) show(value goja.Value) string {
	if s, ok := value.(goja.String); ok {
		return s.String()
	}
	return x.inspect(value)
}

// fillIn replaces %s, %d and the like. It returns the values left over.
func (x *execution) fillIn(template string, values []goja.Value) (string, []goja.Value) {
	var text strings.Builder
	for {
		before, after, found := strings.Cut(template, "%")
		text.WriteString(before)
		if !found || after == "" {
			if found {
				text.WriteByte('%')
			}
			return text.String(), values
		}
		template = after[1:]
		switch directive := after[0]; {
		case directive == '%':
			text.WriteByte('%')
		case strings.IndexByte("sdifjoOc", directive) < 0 || len(values) == 0:
			text.WriteByte('%')
			text.WriteByte(directive)
		default:
			if directive != 'c' { // styles have no place here
				text.WriteString(x.show(values[0]))
			}
			values = values[1:]
		}
	}
}
