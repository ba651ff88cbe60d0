package heddle_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// accepted is what code mode and the way to tools have to stand: each fails what is
// done elsewhere. It names the tests that show it, by their folders.
var accepted = map[string][]string{
	"a snippet with generics": {"codemode/engine TestLanguage"},
	"Promise.all with one call that waits for approval, then a kill": {
		"test/durability TestAcceptanceOfSnippets", "test/durability TestKilledWorkerChangesNoSnippet",
	},
	"a race with a loser that is pending":         {"test/durability TestAcceptanceOfSnippets", "codemode TestRaceLeavesTheLoser"},
	"a denied call is caught":                     {"test/durability TestAcceptanceOfSnippets", "test/durability TestRandomKillsChangeNoSnippet"},
	"a result of 300 KB, then a slice of it":      {"test/durability TestAcceptanceOfSnippets", "codemode/engine TestLargeResultComesWithAnOutline"},
	"cycles, BigInt and bytes as a result":        {"codemode/engine TestAnythingIsAResult"},
	"a recursive schema, an array of a union":     {"codemode/typescript TestTypes", "codemode/typescript TestCompilerTakesEveryRendering"},
	"a parameter by reference on an OpenAPI path": {"providers/openapi TestCases"},
	"two names that are the same once made legal": {"providers/openapi TestNamesThatAreMadeToCollide", "catalog TestCollisionGoesToTheFirstSource"},
	"a tool of MCP without hints asks":            {"providers/mcp TestEffectsOfMCP", "catalog TestRemoteWordLowersNothing"},
	"a refresh that adds or changes a tool stays gated": {
		"providers/mcp TestCaseRugPull", "providers/mcp TestCaseListChangedMidRun", "catalog TestRefreshThatChangesATool",
	},
	"several renewals of a token at once, with rotation": {"internal/connections TestOneRefresh"},
	"a string of 1 << 30":                                {"codemode/engine TestAttacks"},
	"an endless loop":                                    {"codemode/engine TestAttacks", "codemode TestRecordedEndlessSnippetsEnd"},
	"a promise that never settles":                       {"codemode/engine TestAPromiseThatNothingCanSettleIsAnErrorAtOnce", "codemode TestRecordedPromiseThatNothingSettles"},
	"a write that is not awaited":                        {"test/durability TestAcceptanceOfSnippets", "codemode TestForgottenCallsAreCarriedOut"},
	"a crash between an effect and its record":           {"test/durability TestCaseWriteOutcomeUnknown", "test/durability TestLostWriteOfASnippetIsReconciled"},
	"a deadline during an approval":                      {"test/durability TestAcceptanceOfSnippets", "test/durability TestCaseWaitIsNotCounted"},
	"a policy that is tightened while it waits":          {"test/durability TestAcceptanceOfSnippets", "test/durability TestTightenedWhileAPersonIsAsked"},
}

// Whoever removes one of these tests has to say what shows the same.
func TestWhatIsAcceptedIsShown(t *testing.T) {
	known := map[string][]string{}
	for what, shown := range accepted {
		if len(shown) == 0 {
			t.Errorf("nothing shows: %s", what)
		}
		for _, test := range shown {
			dir, name, _ := strings.Cut(test, " ")
			if known[dir] == nil {
				known[dir] = testsIn(t, dir)
			}
			if !slices.Contains(known[dir], name) {
				t.Errorf("%s: there is no test %s in %s", what, name, dir)
			}
		}
	}
}

// testsIn are the names of the tests of a folder.
func testsIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil {
				names = append(names, function.Name.Name)
			}
		}
	}
	return names
}
