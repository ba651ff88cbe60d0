package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/codemode/schema"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// MaxFindings bounds the findings of a snippet. One more says how many there are.
const MaxFindings = 30

// Check finds what is wrong with the calls of a snippet, in the order of the
// source. At most [MaxFindings] are told; one without a tool says that there are
// more.
func Check(calls []Call, tools Catalog) []Finding {
	c := &checker{tools: tools, documents: map[string]*schema.Document{}, nodes: reader{left: MaxNodes}, steps: maxSteps}
	for _, call := range calls[:min(len(calls), MaxCalls)] {
		c.call(call)
	}
	found := c.findings
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Position.Column, b.Position.Column))
	})
	if more := len(found) - MaxFindings + c.untold; more > 0 {
		found = append(found[:MaxFindings:MaxFindings], Finding{
			Position: found[MaxFindings].Position, Message: fmt.Sprintf("and %d more findings", more),
		})
	}
	return found
}

// Input finds why an input cannot fit a schema, of which no more need be known than
// its node says.
func Input(schema json.RawMessage, input Node) []Finding {
	const tool = "tool"
	return Check([]Call{{Path: []string{"tools", "call"}, Args: []Node{literal(tool), input}}}, alone{tool: schema})
}

func literal(text string) Node {
	value, _ := json.Marshal(text)
	return Node{Kind: Literal, Value: value}
}

// alone is a catalog of a few tools.
type alone map[string]json.RawMessage

func (a alone) Lookup(id string) (json.RawMessage, bool) {
	schema, known := a[id]
	return schema, known
}

func (alone) Nearest(string) []string { return nil }

// maxPath bounds the names of a path that may be a tool's.
const maxPath = 32

// maxKept bounds the findings that are kept to be told in order.
const maxKept = 1_000

// checker checks the calls of one snippet.
type checker struct {
	tools Catalog
	nodes reader
	// documents are the schemas by the tool; nil: nothing can be said of it.
	documents map[string]*schema.Document
	// steps are those that are left to the matchers.
	steps    int
	findings []Finding
	// untold are the findings beyond maxKept.
	untold int
}

// call checks one call expression.
func (c *checker) call(call Call) {
	if len(call.Path) < 2 || len(call.Path) > maxPath {
		return
	}
	args := c.nodes.arguments(call.Args)
	if call.Path[0] != "tools" {
		c.method(call, args)
		return
	}
	switch {
	case len(call.Path) > 2:
	case call.Path[1] == "call":
		c.dropped(call, "tools.call")
		c.byID(call, args)
	case call.Path[1] == "batch":
		c.dropped(call, "tools.batch")
		c.batch(args)
	}
}

// method checks a call of a namespace's method.
func (c *checker) method(call Call, args []*arg) {
	id := strings.Join(call.Path, ".")
	if _, ok := c.tools.Lookup(id); !ok {
		if !c.ofJavaScript(call.Path) {
			c.unknownTool(call.Position, id)
		}
		return
	}
	c.dropped(call, id)
	if len(args) > 1 && !slices.ContainsFunc(args, (*arg).isSpread) {
		c.add(Finding{
			Position: args[1].at, Tool: id, Message: fmt.Sprintf("takes one argument, the input as an object, and is given %d", len(args)),
			Hint: "name the values: " + id + "({ name: value, ... })",
		})
		return
	}
	c.input(id, first(args), call.Position)
}

// byID checks tools.call({ id, input }) and tools.call(id, input).
func (c *checker) byID(call Call, args []*arg) {
	request := first(args)
	if request.is("string") && !request.unknown {
		input := &arg{absent: true}
		if len(args) > 1 {
			input = args[1]
		}
		c.byName(request, input, call.Position)
		return
	}
	c.request(request, call.Position)
}

// request checks an object { id, input }.
func (c *checker) request(request *arg, at snippet.Position) {
	switch {
	case request.anything():
		return
	case !request.is("object"):
		c.add(Finding{Position: at, Tool: "tools.call", Message: "takes an object { id, input }, and is given " + request.describe()})
		return
	case request.unknown:
		return
	}
	id, written := request.member("id")
	switch {
	case !written && request.open, written && id.anything():
	case !written || id.absent:
		c.add(Finding{Position: at, Tool: "tools.call", Message: "has no id: it says which tool to call", Hint: "tools.call({ id, input })"})
	case !id.is("string"):
		c.add(Finding{Position: id.at, Tool: "tools.call", Pointer: "/id", Message: "is " + id.describe() + ", want a string"})
	case !id.unknown:
		input, written := request.member("input")
		if !written {
			input = &arg{unknown: request.open, absent: !request.open}
		}
		c.byName(id, input, at)
	}
}

// byName checks a call of a tool whose id is written out.
func (c *checker) byName(id, input *arg, at snippet.Position) {
	if _, ok := c.tools.Lookup(id.text); !ok {
		c.unknownTool(id.at, id.text)
		return
	}
	c.input(id.text, input, at)
}

// batch checks tools.batch({ calls }) and tools.batch(calls).
func (c *checker) batch(args []*arg) {
	list := first(args)
	if list.is("object") && !list.unknown {
		list, _ = list.member("calls")
	}
	if list == nil || !list.is("array") || list.unknown {
		return
	}
	for _, member := range list.items {
		c.request(member, member.at)
	}
}

// dropped reports a call whose promise nothing takes.
func (c *checker) dropped(call Call, tool string) {
	if call.Dropped {
		c.add(Finding{
			Position: call.Position, Tool: tool, Message: "is not awaited: its result and its failure would be lost",
			Hint: "await it, or keep the promise and await it later",
		})
	}
}

func (c *checker) unknownTool(at snippet.Position, id string) {
	f := Finding{Position: at, Tool: shorten(id), Message: fmt.Sprintf("there is no tool %s", quote(id)), Hint: "tools.search finds tools"}
	if near := c.tools.Nearest(id); len(near) > 0 {
		f.Hint = "did you mean " + strings.Join(near[:min(len(near), 3)], " or ") + "?"
	}
	c.add(f)
}

// ofJavaScript says whether a path is no tool because it goes on where one ends,
// as in orders.refund.bind, or because all objects have such a method.
func (c *checker) ofJavaScript(path []string) bool {
	switch path[len(path)-1] {
	case "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf":
		return true
	}
	for n := len(path) - 1; n > 1; n-- {
		if _, ok := c.tools.Lookup(strings.Join(path[:n], ".")); ok {
			return true
		}
	}
	return false
}

func (c *checker) add(f Finding) {
	if len(c.findings) == maxKept {
		c.untold++
		return
	}
	c.findings = append(c.findings, f)
}

// input checks the input of a tool.
func (c *checker) input(tool string, input *arg, at snippet.Position) {
	if input.isSpread() {
		return
	}
	if input.absent || input.is("null") && !input.unknown {
		input = &arg{typ: "object", at: input.at} // as the snippet API takes it
	}
	if input.at.Line == 0 {
		input.at = at
	}
	doc := c.document(tool)
	if doc == nil {
		return
	}
	steps := min(c.steps, maxCallSteps)
	m := newMatcher(doc, steps)
	faults := m.match(doc.Root, input, nil)
	c.steps -= steps - max(m.steps, 0)
	if len(faults) == 0 && !input.anything() && !input.is("object") {
		faults = []fault{{at: input, message: "is " + input.describe() + ", want an object"}}
	}
	for _, f := range faults {
		c.add(Finding{Position: f.at.at, Tool: tool, Pointer: pointer(f.path), Message: shorten(f.message), Hint: shorten(f.hint)})
	}
}

// document is a tool's schema, read once.
func (c *checker) document(tool string) *schema.Document {
	doc, known := c.documents[tool]
	if !known {
		text, _ := c.tools.Lookup(tool)
		doc, _ = schema.Parse(text) // a schema that cannot be read says nothing
		c.documents[tool] = doc
	}
	return doc
}
