package heddle_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// callers are the only places that have a call carried out, and what stands behind
// each. TestPolicyBlocksEveryCaller in test/durability proves that a policy stops each
// way that leads there: the exposures of agents, and the runs that a backend asks for.
var callers = map[string]string{
	"activities/batchread.go": "reads that a model or a backend asks for, as functions or through the gateway",
	"activities/write.go":     "writes, of a model, through the gateway too, of a snippet, of a backend, and undos",
	"activities/dispatch.go":  "the way from both to the broker",
	"codemode/serve.go":       "reads of a snippet",
}

// runners are the files of the broker that run a call which it has checked: the way of
// all calls, and the look-up of what became of a write, which TestPolicyBlocksLookups
// in catalog shows to be stopped by a policy too.
var runners = []string{"catalog/broker.go", "catalog/meter.go", "catalog/reconcile.go"}

// A tool's function is called in one place, and a call is dispatched in few.
func TestOneDispatchPath(t *testing.T) {
	dispatching, calling, running := []string{}, []string{}, []string{}
	for _, pkg := range listPackages(t, "./...") {
		dir := strings.TrimPrefix(strings.TrimPrefix(pkg.ImportPath, modulePath), "/")
		if dir == "bench" || strings.HasPrefix(dir, "test/") || dir == "catalog/catalogtest" {
			continue // they measure and test the broker itself
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			if callsMethod(t, file, "Dispatch", "DispatchRead", "dispatch") {
				dispatching = append(dispatching, file)
			}
			if dir == "catalog" && runsCall(t, file) {
				running = append(running, file)
			}
			if callsTool(t, file) {
				calling = append(calling, file)
			}
		}
	}
	want := make([]string, 0, len(callers))
	for file := range callers {
		want = append(want, file)
	}
	slices.Sort(want)
	slices.Sort(dispatching)
	if diff := cmp.Diff(want, dispatching); diff != "" {
		t.Errorf("who has calls carried out (-known +found); add it to TestPolicyBlocksEveryCaller too:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"catalog/run.go"}, calling); diff != "" {
		t.Errorf("who calls a tool's function (-known +found):\n%s", diff)
	}
	if diff := cmp.Diff(runners, running); diff != "" {
		t.Errorf("who has a checked call run (-known +found):\n%s", diff)
	}
}

func inspect(t *testing.T, file string, visit func(*ast.CallExpr, *ast.SelectorExpr)) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
				visit(call, selector)
			}
		}
		return true
	})
}

// callsMethod reports whether a file calls a method of one of the names.
func callsMethod(t *testing.T, file string, names ...string) (found bool) {
	inspect(t, file, func(_ *ast.CallExpr, method *ast.SelectorExpr) {
		found = found || slices.Contains(names, method.Sel.Name)
	})
	return found
}

// runsCall reports whether a file calls the method run of a call, which takes four
// arguments, or that of a broker, which has the call counted and takes five.
func runsCall(t *testing.T, file string) (found bool) {
	inspect(t, file, func(call *ast.CallExpr, method *ast.SelectorExpr) {
		found = found || method.Sel.Name == "run" && (len(call.Args) == 4 || len(call.Args) == 5)
	})
	return found
}

// callsTool reports whether a file calls a function named Call with a catalog.Call.
func callsTool(t *testing.T, file string) (found bool) {
	inspect(t, file, func(call *ast.CallExpr, method *ast.SelectorExpr) {
		if method.Sel.Name != "Call" || len(call.Args) != 2 {
			return
		}
		literal, ok := call.Args[1].(*ast.CompositeLit)
		if !ok {
			return
		}
		switch kind := literal.Type.(type) {
		case *ast.Ident:
			found = found || kind.Name == "Call"
		case *ast.SelectorExpr:
			found = found || kind.Sel.Name == "Call"
		}
	})
	return found
}
