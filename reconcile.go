package heddle

import (
	"fmt"

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
	return optionFunc(func(p *parts) { p.lookups = append(p.lookups, l) })
}

// compileLookups are the lookups by the tools that write.
func (p *parts) compileLookups() map[string]catalog.Lookup {
	lookups := map[string]catalog.Lookup{}
	for _, d := range p.lookups {
		compiled, err := lookup.Compile(d)
		switch {
		case err != nil:
			p.problem(fmt.Errorf("lookup for tool %q: %w", d.Write, err))
		case lookups[d.Write] != nil:
			p.problem(fmt.Errorf("lookup for tool %q: there are two", d.Write))
		default:
			lookups[d.Write] = compiled
		}
	}
	return lookups
}
