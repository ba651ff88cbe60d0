package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m, nil) }

func TestBackendInNode(t *testing.T) {
	requireNode(t)
	server := testkit.DevServer(t)
	worker := testkit.StartWorker(t, testkit.Worker{
		Server: server,
		Binary: testkit.Build(t, "./examples/support/worker"),
		Files:  exampleFiles(t, "heddle.yaml", "support.yaml", "instructions.md"),
	})
	cmd := exec.CommandContext(t.Context(), "node", "--test", "--test-timeout=300000")
	cmd.Env = append(os.Environ(),
		"TEMPORAL_ADDRESS="+server.Address,
		"TEMPORAL_NAMESPACE=default",
		"HEDDLE_TASK_QUEUE="+worker.TaskQueue,
		"HEDDLE_AGENT=support",
		"HEDDLE_TENANT=acme",
	)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("node --test: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// requireNode skips the test without Node and its packages, unless npm runs it.
func requireNode(t *testing.T) {
	t.Helper()
	absent := t.Skipf
	if os.Getenv("HEDDLE_TEST_NODE") == "required" {
		absent = t.Fatalf
	}
	if _, err := exec.LookPath("node"); err != nil {
		absent("needs Node 20: %v", err)
	}
	if _, err := os.Stat("node_modules"); err != nil {
		absent("run npm ci in test/node first; make test-node does: %v", err)
	}
}

// exampleFiles reads files of the support example.
func exampleFiles(t *testing.T, names ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(testkit.Root(t), "examples/support", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
	return files
}
