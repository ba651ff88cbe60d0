package heddle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shopSpec is a service with writes, and what undoes them.
const shopSpec = `
openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders:
    get:
      operationId: list
      parameters: [{name: reference, in: query, schema: {type: string}}]
      responses: {'200': {description: ok}}
    post:
      operationId: create
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {'201': {description: ok}}
  /orders/{id}:
    delete:
      operationId: cancel
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody:
        content:
          application/json:
            schema: {type: object, additionalProperties: false, required: [why], properties: {why: {enum: [undone, other]}}}
      responses: {'200': {description: ok}}
`

const shopUndo = `
web: false
openapi:
  shop:
    spec: shop.yaml
    server: https://shop.example
    reconcile:
      shop.create: {read: shop.list, input: {reference: key}, applied: size(output) > 0}
    undo:
      shop.create:
        tool: shop.cancel
        input:
          id: string(result.id)
          body: "{'why': 'undone'}"
agents: {a: {model: m, instructions: x, tools: ["shop.*"]}}
models: {m: {provider: scripted, script: script.yaml}}
`

// declared builds an application of a service and of a configuration file.
func declared(t *testing.T, text string, options ...Option) (*App, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"heddle.yaml": text, "shop.yaml": shopSpec, "script.yaml": "turns: [{steps: [{text: hi}]}]"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return New(append(options, ConfigFile(filepath.Join(dir, "heddle.yaml")))...)
}

// What is declared of tools and cannot be is refused at start, with the field.
func TestDeclarationsAreHeldAgainstTheCatalog(t *testing.T) {
	if _, err := declared(t, shopUndo); err != nil {
		t.Fatal(err)
	}
	const undo = "openapi.shop.undo.shop.create"
	for name, test := range map[string]struct{ old, new, want string }{
		"unknown undo":       {"tool: shop.cancel", "tool: shop.cancle", undo + ".tool: there is no tool shop.cancle; did you mean shop.cancel"},
		"unknown write":      {"      shop.create:\n        tool", "      shop.creat:\n        tool", "openapi.shop.undo.shop.creat: there is no tool shop.creat"},
		"undo that reads":    {"tool: shop.cancel", "tool: shop.list", undo + ".tool: shop.list is a read, want a write"},
		"undo of a read":     {"      shop.create:\n        tool", "      shop.list:\n        tool", "openapi.shop.undo.shop.list: shop.list is a read, want a write"},
		"of another source":  {"tool: shop.cancel", "tool: far.cancel", undo + ".tool: want a tool of the same source, such as shop.delete"},
		"does not compile":   {"string(result.id)", "result.(", undo + ": input.id: 1:"},
		"unknown variable":   {"string(result.id)", "output.id", undo + ": input.id: 1:1: undeclared reference"},
		"unknown member":     {"id: string", "di: string", undo + ".input.di: is not a known property"},
		"missing member":     {"          id: string(result.id)\n", "", undo + ".input: id is required"},
		"another type":       {"string(result.id)", "result.id == 7", undo + ".input.id: is a boolean, want a string"},
		"a constant":         {"'undone'", "'mistaken'", undo + ".input.body: /why "},
		"missing inside":     {"{'why': 'undone'}", "{'because': result.why}", undo + ".input.body: /why is required"},
		"unknown inside":     {"{'why': 'undone'}", "{'why': 'undone', 'how': result.how}", undo + ".input.body: /how is not a known property"},
		"unknown read":       {"read: shop.list", "read: shop.find", "openapi.shop.reconcile.shop.create.read: there is no tool shop.find"},
		"read that writes":   {"read: shop.list", "read: shop.cancel", "openapi.shop.reconcile.shop.create.read: shop.cancel is a write, want a read"},
		"read that does not": {"reference: key", "reference: '7'", "openapi.shop.reconcile.shop.create.input.reference: is a number, want a string"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(shopUndo, test.old, test.new, 1)
			if text == shopUndo {
				t.Fatal("nothing is changed")
			}
			_, err := declared(t, text)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "heddle.yaml:") {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	for name, text := range map[string]string{
		"an optional member": strings.Replace(shopUndo, "string(result.id)", "result.?id", 1),
		"of whatever type":   strings.Replace(shopUndo, "string(result.id)", "result.id", 1),
		"in part optional":   strings.Replace(shopUndo, "{'why': 'undone'}", "{'why': 'undone', ?'how': result.?how}", 1),
	} {
		if _, err := declared(t, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUndoBy(t *testing.T) {
	text := shopUndo[:strings.Index(shopUndo, "    reconcile:")] + shopUndo[strings.Index(shopUndo, "agents:"):]
	fits := DeclaredUndo{Write: "shop.create", Tool: "shop.cancel", Input: map[string]string{"id": "result.id"}}
	if _, err := declared(t, text, UndoBy(fits)); err != nil {
		t.Error(err)
	}
	unknown, unfit, broken := fits, fits, fits
	unknown.Tool = "shop.no"
	unfit.Input = map[string]string{"id": "7"}
	broken.Input = map[string]string{"id": "result.("}
	for want, option := range map[string]Option{
		`undo of tool "shop.create": tool: there is no tool shop.no`:              UndoBy(unknown),
		`undo of tool "shop.create": input.id: is a number, want a string`:        UndoBy(unfit),
		`undo of tool "shop.create": input.id: 1:`:                                UndoBy(broken),
		`lookup of tool "shop.create": read: shop.cancel is a write, want a read`: LookUp(Lookup{Write: "shop.create", Read: "shop.cancel", Input: map[string]string{"id": "key"}, Applied: "true"}),
	} {
		if _, err := declared(t, text, option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := declared(t, text, UndoBy(fits), UndoBy(fits)); err == nil || !strings.Contains(err.Error(), "there are two") {
		t.Errorf("error %v of two undos of one tool", err)
	}
	if _, err := declared(t, shopUndo, UndoBy(fits)); err == nil || !strings.Contains(err.Error(), "openapi.shop.undo.shop.create: there are two") {
		t.Errorf("error %v of an undo in program and file", err)
	}
}

// The tools of a server are asked for when the worker starts: what cannot be is refused
// then, and a server that does not answer keeps nothing from starting.
func TestDeclarationsAboutServers(t *testing.T) {
	server := mcpServer(t, json.RawMessage(`[
		{"name":"add","inputSchema":{"type":"object"}},
		{"name":"drop","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}},
		{"name":"find","inputSchema":{"type":"object"}}
	]`), nil)
	text := `
web: false
mcp:
  far:
    url: ` + server.URL + `
    allow: ["` + strings.TrimPrefix(server.URL, "http://") + `"]
    tools: {find: read}
    undo: {far.add: {tool: far.drop, input: {id: result.id}}}
agents: {a: {model: m, instructions: x, tools: ["far.*"]}}
`
	if err := newApp(t, text).checkElsewhere(t.Context()); err != nil {
		t.Error(err)
	}
	for _, test := range []struct{ old, new, want string }{
		{"tool: far.drop", "tool: far.dorp", "mcp.far.undo.far.add.tool: there is no tool far.dorp"},
		{"tool: far.drop", "tool: far.find", "mcp.far.undo.far.add.tool: far.find is a read, want a write"},
		{"far.add: {", "far.ad: {", "mcp.far.undo.far.ad: there is no tool far.ad"},
		{"id: result.id", "id: input.name + ''", "mcp.far.undo.far.add.input.id: is a string, want an integer"},
	} {
		err := newApp(t, strings.Replace(text, test.old, test.new, 1)).checkElsewhere(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "heddle.yaml:") {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
	server.Close()
	if err := newApp(t, text).checkElsewhere(t.Context()); err != nil {
		t.Errorf("error %v of a server that is not there", err)
	}
}
