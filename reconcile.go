package heddle

import (
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/lookup"
)

// Lookup says how to find out what became of the calls of a write by a tool that
// reads: the tools of [OpenAPI] and [MCP] have no [Reconcile] of their own.
type Lookup = lookup.Declaration

// LookUp adds a way of finding out what became of the calls of a write:
//
//	heddle.LookUp(heddle.Lookup{
//		Write:   "shop.orders.create",
//		Read:    "shop.orders.list",
//		Input:   map[string]string{"reference": "key"},
//		Applied: "size(output.items) > 0",
//		Result:  "output.items[0]",
//	})
//
// The expressions are CEL; see docs/effects.md. In heddle.yaml the same stands at the
// service or server, under reconcile.
func LookUp(l Lookup) Option {
	return optionFunc(func(p *parts) { p.declareLookup(l, inProgram("lookup", l.Write)) })
}

func (p *parts) declareLookup(d lookup.Declaration, at place) {
	compiled, err := lookup.Compile(d)
	_, twice := p.lookups[d.Write]
	if p.declare(declaration{write: d.Write, tool: d.Read, field: "read", operation: catalog.Read, at: at}, compiled, err, twice) {
		p.lookups[d.Write] = compiled
	}
}
