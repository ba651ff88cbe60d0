package typescript

import (
	"encoding/json"
)

const (
	// MaxSource bounds [Declaration.Source], in bytes.
	MaxSource = 64 << 10
	// MaxSignature bounds [Declaration.Signature], in bytes.
	MaxSignature = 360
	// maxDescription bounds a tool's description, in bytes.
	maxDescription = 4 << 10
	// maxSide bounds the types of the input, and those of the output.
	maxSide = 28 << 10
)

// Tool is what is rendered of a tool.
type Tool struct {
	// ID is the namespace, dots, and the name, such as orders.refund.
	ID string
	// Description is what the tool does, in plain text.
	Description string
	// Input is the JSON Schema of the input.
	Input json.RawMessage
	// Output is the JSON Schema of the output. Empty: anything.
	Output json.RawMessage
}

// Declaration is a tool in TypeScript.
type Declaration struct {
	// Source declares the tool's types and the tool, in at most [MaxSource] bytes.
	Source string
	// Signature is the tool on one line of at most [MaxSignature] bytes: its
	// [Expression], its input and its output. What is left out is marked by a
	// comment, as in { order: string; /* 3 more */ }.
	Signature string
	// Degraded lists where a type says less than its schema. At most
	// [MaxDegraded] places are named.
	Degraded []Degraded
}

// Degraded is a place of a schema that its type says less of.
type Degraded struct {
	// Schema is "input" or "output".
	Schema string `json:"schema"`
	// Pointer is the place in the schema, a JSON pointer; the root's is empty.
	Pointer string `json:"pointer"`
	// Reason says what is not expressed.
	Reason string `json:"reason"`
}

// Render declares a tool. It takes whatever a schema holds: what cannot be read
// is rendered as unknown and said in Degraded.
func Render(tool Tool) Declaration {
	in, out := build(tool.Input, input), build(tool.Output, output)
	nameAll(typeName(tool.ID), in, out)
	takes := declare(in, nil)
	gives := declare(out, takes.declared)
	return Declaration{
		Source:    takes.text + gives.text + function(tool, in, takes.typ, gives.typ),
		Signature: signature(tool.ID, in, out),
		Degraded:  append(in.degraded(), out.degraded()...),
	}
}

// function declares the tool itself.
func function(tool Tool, in *types, takes, gives string) string {
	segments := segmentsOf(tool.ID)
	text := docs{text: comment(tool.Description, maxDescription)}
	shape := "(input" + optional(in) + ": " + takes + "): Promise<" + gives + ">;"
	p := printer{detail: detail{text: maxDescription}, limit: MaxSource}
	if len(segments) == 1 {
		p.doc(text)
		p.write("declare function ", Global(segments[0]), shape, "\n")
		return string(p.b)
	}
	p.write("declare const ", Global(segments[0]), ": ")
	for _, segment := range segments[1 : len(segments)-1] {
		p.open()
		p.write(key(segment), ": ")
	}
	p.open()
	p.doc(text)
	p.write(key(segments[len(segments)-1]), shape)
	for p.indent > 0 {
		p.indent--
		p.newline()
		p.write("};")
	}
	p.write("\n")
	return string(p.b)
}

func (p *printer) open() {
	p.write("{")
	p.indent++
	p.newline()
}

// optional marks an input that may be left out: no input is an empty object.
func optional(in *types) string {
	if in.takesNothing(in.root().typ) {
		return "?"
	}
	return ""
}
