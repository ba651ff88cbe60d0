package heddle

import (
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

// Toolset is a group of tools that belong together and are added together: as an
// [Option] it adds them all, and one that is wrong makes [New] fail.
//
//	heddle.Toolset{
//		Name:   "orders",
//		Shared: []heddle.ToolOption{heddle.Tags("shop"), heddle.Secrets("shop.key"), heddle.Timeout(5 * time.Second)},
//		Tools: []heddle.Function{
//			heddle.Tool("find", "Finds the orders of a customer.", find),
//			heddle.Tool("refund", "Refunds an order.", refund, heddle.Write(), heddle.Approvers(2)),
//		},
//	}
//
// An agent takes the whole of it by its name: Tools: []string{"orders"}.
type Toolset struct {
	// Name is the namespace of the tools, one segment of an id: the tool find of orders
	// has the id orders.find. No other toolset of the application has it.
	Name string
	// Shared apply to each of the tools, before its own options: [Tags], [Capabilities]
	// and [Secrets] add up, and of all others, such as [Approval] or [Timeout], the
	// tool's own count where it has any.
	Shared []ToolOption
	// Tools are the tools, at least one. Their ids are without the namespace.
	Tools []Function
}

func (s Toolset) apply(p *parts) {
	bad := func(format string, args ...any) {
		p.problem(fmt.Errorf("toolset %q: "+format, append([]any{s.Name}, args...)...))
	}
	if err := catalog.CheckNamespace(s.Name); err != nil {
		bad("name: %w", err)
		return
	}
	if p.toolsets[s.Name] {
		bad("is added twice")
		return
	}
	if p.toolsets == nil {
		p.toolsets = map[string]bool{}
	}
	p.toolsets[s.Name] = true
	if len(s.Tools) == 0 {
		bad("has no tools")
	}
	for _, tool := range s.Tools {
		if strings.HasPrefix(tool.id, s.Name+".") {
			bad("tool %q: name it without the toolset's name, which goes before it", tool.id)
			continue
		}
		tool.add(p, s.Name+"."+tool.id, s.Shared)
	}
}
