package heddle

import (
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/undo"
)

// DeclaredUndo says how the calls of a write are undone by another tool: the tools of
// [OpenAPI] and [MCP] have no [Undo] of their own.
type DeclaredUndo = undo.Declaration

// UndoBy adds a way of undoing the calls of a write:
//
//	heddle.UndoBy(heddle.DeclaredUndo{
//		Write: "shop.orders.create",
//		Tool:  "shop.orders.cancel",
//		Input: map[string]string{"id": "result.id"},
//	})
//
// The expressions are CEL; see docs/effects.md. In heddle.yaml the same stands at the
// service or server, under undo.
func UndoBy(d DeclaredUndo) Option {
	return optionFunc(func(p *parts) { p.declareUndo(d, inProgram("undo", d.Write)) })
}

func (p *parts) declareUndo(d undo.Declaration, at place) {
	compiled, err := undo.Compile(d)
	_, twice := p.undos[d.Write]
	if p.declare(declaration{write: d.Write, tool: d.Tool, field: "tool", operation: catalog.Write, at: at}, compiled, err, twice) {
		p.undos[d.Write] = compiled.Of
	}
}
