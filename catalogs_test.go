package heddle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/lookup"
)

// The tools that servers have published load, are found by their names and by what
// they say they do, and are rendered with all that their schemas name; where a
// rendering says less, it says so.
func TestPublishedCatalogs(t *testing.T) {
	root := os.Getenv("HEDDLE_SHARED")
	if root == "" {
		root = filepath.Join("..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(root, "mcp-catalogs", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("the shared test data is not here: set HEDDLE_SHARED to its folder")
	}
	all, degraded := 0, 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			n, d := publishedCatalog(t, file)
			all, degraded = all+n, degraded+d
		})
	}
	t.Logf("%d tools, %d with a reported degraded place", all, degraded)
}

type publishedTool struct {
	Execution struct {
		TaskSupport string `json:"taskSupport"`
	} `json:"execution"`
}

func publishedCatalog(t *testing.T, file string) (tools, degraded int) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var published struct {
		Tools []publishedTool `json:"tools"`
	}
	var raw struct {
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(text, &published); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	server := mcpServer(t, raw.Tools, nil)
	host := strings.TrimPrefix(server.URL, "http://")
	app := newApp(t, `
web: false
mcp: {far: {url: "`+server.URL+`", allow: ["`+host+`"]}}
agents: {a: {model: m, instructions: x, tools: ["far.*"]}}
`)
	scope := catalog.Scope{Tenant: "acme", Thread: "t", Agent: "a", Tools: []string{"far.*"}}
	wanted := 0
	for _, tool := range published.Tools { // what can only be called as a task is left out, and the log says so
		if tool.Execution.TaskSupport != "required" {
			wanted++
		}
	}
	descriptors, err := listed(t, app, scope, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if len(descriptors) != wanted {
		missing, _ := app.broker.Snapshot(t.Context(), scope)
		t.Fatalf("%d of %d tools are loaded; unavailable: %v", len(descriptors), wanted, missing.Unavailable())
	}
	l := lookup.New(app.broker)
	ask := func(how func(text string) (json.RawMessage, error), in any, into any) {
		t.Helper()
		input, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := how(string(input))
		if err == nil {
			err = json.Unmarshal(answer, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", input, err)
		}
	}
	search := func(text string) (json.RawMessage, error) { return l.Search(t.Context(), scope, json.RawMessage(text)) }
	describe := func(text string) (json.RawMessage, error) {
		return l.Describe(t.Context(), scope, json.RawMessage(text))
	}
	found := 0
	for _, d := range descriptors {
		var byName, byWords lookup.Found
		ask(search, map[string]any{"query": d.ID}, &byName)
		if len(byName.Items) == 0 || byName.Items[0].ID != d.ID {
			t.Errorf("%s is not the first that is found by its id", d.ID)
		}
		ask(search, map[string]any{"query": d.Description}, &byWords)
		for _, hit := range byWords.Items {
			if hit.ID == d.ID {
				found++
				break
			}
		}
		var described lookup.Description
		ask(describe, map[string]any{"id": d.ID}, &described)
		if len(described.Degraded) > 0 {
			degraded++
			continue
		}
		for _, schema := range []json.RawMessage{d.Input, d.Output} {
			for _, name := range propertyNames(t, schema) {
				if !strings.Contains(described.Declaration, name) {
					t.Errorf("%s: the declaration has not %q, and is not reported as degraded:\n%s", d.ID, name, described.Declaration)
				}
			}
		}
	}
	if found*10 < len(descriptors)*9 {
		t.Errorf("%d of %d tools are found by what they say they do", found, len(descriptors))
	}
	return len(descriptors), degraded
}

// propertyNames are the names of all properties that a schema speaks of.
func propertyNames(t *testing.T, schema json.RawMessage) (names []string) {
	t.Helper()
	if len(schema) == 0 {
		return nil
	}
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		t.Fatal(err)
	}
	followed := map[string]bool{}
	var walk func(node any)
	walk = func(node any) {
		switch node := node.(type) {
		case []any:
			for _, one := range node {
				walk(one)
			}
		case map[string]any:
			for keyword, one := range node {
				if ref, ok := one.(string); ok && keyword == "$ref" && !followed[ref] {
					followed[ref] = true
					target := any(root)
					for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
						at, _ := target.(map[string]any)
						target = at[step]
					}
					walk(target)
				}
				if properties, ok := one.(map[string]any); ok && keyword == "properties" {
					for name, property := range properties {
						quoted, _ := json.Marshal(name)
						names = append(names, strings.Trim(string(quoted), `"`))
						walk(property)
					}
				} else if keyword != "enum" && keyword != "const" && keyword != "default" && keyword != "examples" && keyword != "$defs" && keyword != "definitions" {
					walk(one)
				}
			}
		}
	}
	walk(root)
	return names
}
