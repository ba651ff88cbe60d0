package typescript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/codemode/typescript"
	"github.com/heddle-dev/heddle/providers/openapi"
)

// publishedList names the specifications that services have published, one a
// line, with the counts of what is made of them.
const publishedList = "../../providers/openapi/testdata/published.golden"

// TestCompilerTakesPublishedServices gives the compiler every tool of every
// published specification.
func TestCompilerTakesPublishedServices(t *testing.T) {
	requireCompiler(t)
	list, err := os.ReadFile(publishedList)
	if err != nil {
		t.Fatal(err)
	}
	var modules []module
	tools := 0
	for line := range strings.Lines(string(list)) {
		file, counts, _ := strings.Cut(strings.TrimSpace(line), "\t")
		published := publishedTools(t, file)
		if want := strings.Split(counts, "\t")[1]; fmt.Sprint(len(published)) != want {
			t.Errorf("%s: %d tools can be described, want %s", file, len(published), want)
		}
		tools += len(published)
		modules = append(modules, servicesOf(file, published)...)
	}
	t.Logf("%d tools of published specifications", tools)
	compile(t, modules)
}

// publishedTools are the tools of one specification, as their source lists them.
func publishedTools(t *testing.T, file string) []typescript.Tool {
	t.Helper()
	path := shared(t, "openapi/"+file)[0]
	location := openapi.Location{File: path}
	if _, below, nested := strings.Cut(file, "/"); nested {
		location.Root = strings.TrimSuffix(path, filepath.FromSlash("/"+below))
	}
	source, err := openapi.New(openapi.Options{Namespace: "svc", Spec: location})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(source.Close)
	listed, err := source.Tools(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var tools []typescript.Tool
	for _, tool := range listed {
		complete, err := tool.Complete()
		if err != nil {
			continue // the report says so, and the counts are compared
		}
		tools = append(tools, typescript.Tool{
			ID: complete.ID, Description: complete.Description, Input: complete.Input, Output: complete.Output,
		})
	}
	return tools
}

// servicesOf puts the tools of a specification into modules, each tool in a
// namespace of its own: a module for each would be thousands.
func servicesOf(file string, tools []typescript.Tool) []module {
	const each = 50
	var modules []module
	for i, tool := range tools {
		if i%each == 0 {
			modules = append(modules, module{name: fmt.Sprintf("%s from %d", file, i)})
		}
		one := declared("", tool.ID, typescript.Render(tool), "")
		last := &modules[len(modules)-1]
		last.text += fmt.Sprintf("namespace tool%d {\n%s}\n", i, one.text)
	}
	return modules
}
