package typescript_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/schema/schematest"
	"github.com/heddle-dev/heddle/codemode/typescript"
)

// generated is how many schemas are made up for the compiler.
const generated = 400

// TestCompilerTakesEveryRendering gives the compiler what is rendered of real
// tools, of known troublemakers, of made-up schemas and of the behaviour tests'.
func TestCompilerTakesEveryRendering(t *testing.T) {
	var modules []module
	add := func(name string, tool typescript.Tool) {
		modules = append(modules, declared(name, tool.ID, typescript.Render(tool), ""))
	}
	for i, tool := range catalogTools(t) {
		add(fmt.Sprintf("catalog %d %s", i, tool.ID), tool)
	}
	for name, tool := range caseTools(t) {
		add("case "+name, tool)
	}
	for i := range generated {
		g := schematest.New(uint64(i))
		g.Hostile = i%2 == 1
		add(fmt.Sprintf("generated %d", i), typescript.Tool{
			ID: "made.up-" + fmt.Sprint(i), Description: "Made up.", Input: g.Schema(), Output: g.Schema(),
		})
	}
	modules = append(modules, fitting(t)...)
	for _, tt := range behaviours {
		modules = append(modules, tt.module(t))
	}
	compile(t, modules)
}

// fitting are programs in which values that fit made-up schemas must fit the
// types.
func fitting(t *testing.T) []module {
	t.Helper()
	const fit = "declare function fit<T>(): <V extends T>(value: V) => void;\n" // for which a value may have more properties
	var modules []module
	values := 0
	for i := range generated {
		g := schematest.New(uint64(i))
		g.Plain = true
		tool := typescript.Tool{ID: "made.up", Output: g.Schema()}
		program := fit
		for range 4 {
			value := g.Value(tool.Output)
			if violations, err := catalog.Validate(tool.Output, value); err == nil && len(violations) == 0 {
				program += fmt.Sprintf("fit<Awaited<ReturnType<typeof made.up>>>()(%s);\n", value)
				values++
			}
		}
		modules = append(modules, declared(fmt.Sprintf("fitting %d", i), tool.ID, typescript.Render(tool), program))
	}
	if values < generated/2 {
		t.Fatalf("only %d values fit their schemas: too few to show anything", values)
	}
	t.Logf("%d values fit their schemas", values)
	return modules
}

// shared returns files of the folder of shared test data: the one that
// HEDDLE_SHARED names, or ../shared beside the repository.
func shared(t testing.TB, pattern string) []string {
	t.Helper()
	root := os.Getenv("HEDDLE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil || len(files) == 0 {
		t.Skipf("no shared test data %s (%v); set HEDDLE_SHARED to its folder", pattern, err)
	}
	return files
}

// catalogTools are tools that MCP servers publish.
func catalogTools(t testing.TB) []typescript.Tool {
	t.Helper()
	files := shared(t, "mcp-catalogs/*.json")
	var tools []typescript.Tool
	for _, file := range files {
		var catalog struct {
			Tools []struct {
				Name, Description         string
				InputSchema, OutputSchema json.RawMessage
			}
		}
		readJSON(t, file, &catalog)
		for _, tool := range catalog.Tools {
			tools = append(tools, typescript.Tool{
				ID: "server." + tool.Name, Description: tool.Description, Input: tool.InputSchema, Output: tool.OutputSchema,
			})
		}
	}
	return tools
}

// caseTools makes a tool of every schema in the recorded cases, wherever it
// stands in them.
func caseTools(t testing.TB) map[string]typescript.Tool {
	t.Helper()
	var files []string
	for _, area := range []string{"js", "mcp", "ts"} {
		files = append(files, shared(t, "cases/inputs/"+area+"-*.json")...)
	}
	tools := map[string]typescript.Tool{}
	for _, file := range files {
		var content any
		readJSON(t, file, &content)
		for i, s := range schemasIn(content) {
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s %d", filepath.Base(file), i)
			tools[name] = typescript.Tool{ID: "case.run", Input: text, Output: text}
		}
	}
	return tools
}

// schemasIn finds what the cases call schemas.
func schemasIn(content any) []any {
	object, ok := content.(map[string]any)
	if !ok {
		return nil
	}
	if object["type"] != nil || object["properties"] != nil {
		return []any{object}
	}
	var found []any
	for _, key := range []string{"schema", "s", "inputSchema", "outputSchema"} {
		if s, ok := object[key]; ok {
			found = append(found, s)
		}
	}
	for _, key := range []string{"schemas", "descriptors", "tools"} {
		list, _ := object[key].([]any)
		for _, item := range list {
			found = append(found, schemasIn(item)...)
		}
	}
	if one, ok := object["descriptor"]; ok {
		found = append(found, schemasIn(one)...)
	}
	return found
}

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
