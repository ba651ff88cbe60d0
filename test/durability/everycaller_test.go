package durability

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// either is an agent with the exposure that is missing in the configuration.
const either = `
  either: {instructions: Do what the user says., model: play, exposure: auto, tools: [test.read, test.free, test.write]}
`

// frozen blocks all tools of the tests, whoever calls them.
const frozen = either + `policy:
  - {name: frozen, effect: block, tools: [test.*], reason: closed}
`

// everyCaller has each way to call a tool: the exposures of an agent, and the runs that
// a backend can ask for. Each gives the codes that its calls came to.
var everyCaller = map[string]func(*bed) []string{
	"exposure direct": func(b *bed) []string {
		b.wait(b.send("read:a read:b free:c write:d|say:done"))
		return b.codes(4)
	},
	"exposure auto": func(b *bed) []string {
		b.start.Agent = "either"
		b.wait(b.send("read:a free:c write:d|say:done"))
		return b.codes(3)
	},
	"exposure gateway": func(b *bed) []string {
		b.start.Agent = "broker"
		b.wait(b.send(`call:{"id":"test.read","input":{"name":"a"}} ` +
			`batch:{"calls":[{"id":"test.read","input":{"name":"b"}},{"id":"test.free","input":{"name":"c"}},{"id":"test.write","input":{"name":"c"}}]}|say:done`))
		return b.codes(4)
	},
	"exposure code": func(b *bed) []string {
		b.start.Agent = "coder"
		return b.caught(b.send(snippetOfCalls))
	},
	"run snippet": func(b *bed) []string { return b.caught(b.run(contract.RunSnippet, snippetOfCalls)) },
	"run dry_run": func(b *bed) []string { return b.caught(b.run(contract.RunDry, snippetOfCalls)) },
	"run snippet of a saved script": func(b *bed) []string {
		return []string{b.answer(b.script("both", `{"name":"a"}`)).Error.Code}
	},
	"run call": func(b *bed) (codes []string) {
		for _, tool := range []string{"test.read", "test.free", "test.write"} {
			submitted, err := b.CallTool(b.ctx(), b.start, signals.ToolCall{Tool: tool, Input: json.RawMessage(`{"name":"a"}`)})
			b.must(err)
			codes = append(codes, b.answer(submitted.Turn).Error.Code, b.problemOf(submitted.Turn+"-s1-c1").Code)
		}
		return codes
	},
	"run undo": func(b *bed) []string { return []string{b.wait(b.undo("t1")).Problem.Code} },
}

const snippetOfCalls = `
	const codes = [];
	for (const tool of ["test.read", "test.free", "test.write"]) {
		codes.push(await tools.call({ id: tool, input: { name: "x" } }).catch((e: any) => e.code));
	}
	const batch = await tools.batch([{ id: "test.read", input: { name: "x" } }, { id: "test.free", input: { name: "x" } }]);
	for (const one of batch as any[]) codes.push(one.error?.code);
	codes.push(await test.read({ name: "y" }).catch((e: any) => e.code));
	return codes;`

// codes are what the first n calls of a thread came to.
func (b *bed) codes(n int) (codes []string) {
	b.t.Helper()
	for i := range n {
		code := ""
		p := b.problemOf("t1-s1-c" + strconv.Itoa(i+1))
		if p != nil && (strings.Contains(p.Message, `"frozen"`) || strings.Contains(p.Message, ".total.")) {
			code = p.Code
		}
		codes = append(codes, code)
	}
	return codes
}

// caught are the codes that a snippet gives back.
func (b *bed) caught(turn string) (codes []string) {
	b.t.Helper()
	answer := b.answer(turn)
	if err := json.Unmarshal(answer.Result, &codes); err != nil || len(codes) != 6 {
		b.t.Fatalf("the snippet came to %s", asJSON(answer))
	}
	return codes
}

// A policy that blocks a tool stops each who would call it.
func TestPolicyBlocksEveryCaller(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	thread := b.start.Thread
	b.start.Thread = thread + "-run_undo"
	b.wait(b.send("put:a|say:done"))
	b.configure(config + frozen)
	for name, call := range everyCaller {
		t.Run(name, func(t *testing.T) {
			c := *b
			c.t, c.start.Agent, c.start.Thread = t, "tester", thread+"-"+strings.ReplaceAll(name, " ", "_")
			for i, code := range call(&c) {
				if code != catalog.CodePolicyBlocked {
					t.Errorf("call %d came to %q", i+1, code)
				}
			}
		})
	}
	if reads := lines(t, b.worker, "reads"); len(reads) != 0 || b.effects() != "a" {
		t.Errorf("reads %v, effects %q", reads, b.effects())
	}
}

// No way to call a tool is missing above: each run that the contract has, and each
// exposure. That these are all who have calls carried out, TestOneDispatchPath of the
// root package shows.
func TestEveryCallerIsThere(t *testing.T) {
	for _, exposure := range activities.Exposures {
		if everyCaller["exposure "+string(exposure)] == nil {
			t.Errorf("no case for the exposure %s", exposure)
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(testkit.Root(t), "signals/contract/submit.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Run" {
			run, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, run)
		}
		return true
	})
	if !slices.Contains(runs, string(contract.RunCall)) || len(runs) < 4 {
		t.Fatalf("found the runs %q", runs)
	}
	for _, run := range runs {
		if everyCaller["run "+run] == nil {
			t.Errorf("no case for the run %s", run)
		}
	}
}
