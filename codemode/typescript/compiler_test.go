package typescript_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/codemode/typescript"
)

// compilerFolder holds the TypeScript compiler, once npm ci has run there.
const compilerFolder = "testdata/node"

// compilerOptions are the strictest there are: what they take, all take.
const compilerOptions = `{
  "compilerOptions": {
    "strict": true,
    "exactOptionalPropertyTypes": true,
    "noUncheckedIndexedAccess": true,
    "noEmit": true,
    "skipLibCheck": false,
    "target": "es2022",
    "module": "es2022",
    "moduleDetection": "force",
    "types": []
  },
  "include": ["*.ts"]
}`

// module is a file for the compiler.
type module struct {
	name string
	text string
}

// declared is the module of a declaration: both its renderings, and a program
// that uses them.
func declared(name, id string, d typescript.Declaration, program string) module {
	signature := strings.TrimPrefix(d.Signature, typescript.Expression(id))
	return module{name, d.Source + "declare function signature" + signature + ";\n" + program}
}

var diagnostic = regexp.MustCompile(`m(\d+)\.ts\(\d+,\d+\): .*`)

// compile runs the TypeScript compiler once over all modules, and tests each.
func compile(t *testing.T, modules []module) {
	t.Helper()
	compiler := requireCompiler(t)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("tsconfig.json", compilerOptions)
	for i, m := range modules {
		write(fmt.Sprintf("m%d.ts", i), m.text)
	}
	out, err := exec.CommandContext(t.Context(), "node", compiler, "--project", dir, "--pretty", "false").Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	faults := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		if match := diagnostic.FindStringSubmatch(line); match != nil {
			faults[match[1]] = append(faults[match[1]], match[0]+"\n")
		} else if !strings.HasPrefix(line, " ") { // a second line explains the first
			t.Fatalf("the compiler says %s", out)
		}
	}
	if err != nil && len(faults) == 0 {
		t.Fatalf("the compiler ended with %v: %s%s", err, out, exit.Stderr)
	}
	for i, m := range modules {
		t.Run(m.name, func(t *testing.T) {
			if lines := faults[fmt.Sprint(i)]; len(lines) > 0 {
				t.Errorf("the compiler refuses it:\n%s\n%s", strings.Join(lines, ""), numbered(m.text))
			}
		})
	}
	t.Logf("the compiler took %d modules", len(modules)-len(faults))
}

// requireCompiler finds the compiler, or skips the test where it was not
// installed.
func requireCompiler(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(compilerFolder, "node_modules/typescript/bin/tsc"))
	if err != nil {
		t.Fatal(err)
	}
	absent := t.Skipf
	if os.Getenv("CI") == "true" {
		absent = t.Fatalf
	}
	if _, err := exec.LookPath("node"); err != nil {
		absent("needs Node 20: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		absent("run npm ci in codemode/typescript/%s first: %v", compilerFolder, err)
	}
	return path
}

func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.SplitN(text, "\n", 400) {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, line)
	}
	return b.String()
}
