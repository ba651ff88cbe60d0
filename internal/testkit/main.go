package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// workerEnv marks a process of the test binary that is to be a worker.
const workerEnv = "HEDDLE_TESTKIT_WORKER"

// shared is what the tests of a process have in common; Main ends it.
var shared struct {
	sync.Mutex
	main   bool
	server *Server
	dir    string
	built  map[string]string
}

// Main runs the tests of a package and exits. In a process that [StartWorker]
// started it runs worker instead, which may be nil in a package that starts none.
func Main(m *testing.M, worker func()) {
	if os.Getenv(workerEnv) != "" {
		if worker == nil {
			fmt.Fprintln(os.Stderr, "testkit: this package gave testkit.Main no worker")
			os.Exit(2)
		}
		worker()
		os.Exit(0)
	}
	shared.main = true
	code := m.Run()
	if shared.server != nil {
		shared.server.Kill()
	}
	stopPostgres()
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// Build compiles a main package, such as ./cmd/starter from the module's root,
// once for all tests of the process, and returns the path of the binary.
func Build(t testing.TB, pkg string) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if path, ok := shared.built[pkg]; ok {
		return path
	}
	requireMain(t)
	if shared.dir == "" {
		dir, err := os.MkdirTemp("", "heddle-test-")
		if err != nil {
			t.Fatalf("testkit: %v", err)
		}
		shared.dir, shared.built = dir, map[string]string{}
	}
	path := filepath.Join(shared.dir, fmt.Sprintf("%d-%s", len(shared.built), filepath.Base(pkg)))
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Dir = Root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as those are that run snippets
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("testkit: go build %s: %v\n%s", pkg, err, out)
	}
	shared.built[pkg] = path
	return path
}

// Root is the folder of the module that is tested.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		t.Fatal("testkit: no go.mod above the package")
	}
}

// requireMain fails a test whose package would leave shared things behind.
func requireMain(t testing.TB) {
	t.Helper()
	if !shared.main {
		t.Fatal("testkit: the package needs func TestMain(m *testing.M) { testkit.Main(m, nil) }")
	}
}
