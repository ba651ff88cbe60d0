package workflows_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

// paths are those that must have a golden history.
var paths = []string{
	"plain_answer", "batch_read", "approved_write", "denied_write", "expired_approval", "cancelled_turn",
	"continue_as_new_first", "continue_as_new_last",
}

// newReplayer is one for a machine that is busy, see [patient].
func newReplayer(t *testing.T) worker.WorkflowReplayer {
	t.Helper()
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	if err != nil {
		t.Fatal(err)
	}
	return replayer
}

// Threads that began long ago are replayed by the workflow as it is now. A change
// that breaks one of these histories breaks a thread of some user: put it behind
// workflow.GetVersion, and record the new path beside the old ones.
func TestReplayGoldenHistories(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		names[name] = true
		t.Run(name, func(t *testing.T) {
			replayer := newReplayer(t)
			threads := &workflows.Worker{} // knows no agent: a replay must not ask
			replayer.RegisterWorkflowWithOptions(threads.AgentThread, workflow.RegisterOptions{Name: contract.WorkflowType})
			replayer.RegisterWorkflowWithOptions(workflows.Lock, workflow.RegisterOptions{Name: contract.LockType})
			replayer.RegisterWorkflowWithOptions(workflows.TenantUsage, workflow.RegisterOptions{Name: contract.UsageType})
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(nil, file); err != nil {
				t.Error(err)
			}
		})
	}
	for _, path := range paths {
		if !names[path] {
			t.Errorf("there is no history of path %s", path)
		}
	}
}

// The replayer is known to be able to fail.
func TestReplayNoticesAnotherStory(t *testing.T) {
	file := filepath.Join("testdata", "histories", "approved_write.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "changed.json")
	other := strings.Replace(string(text), `"ModelTurn"`, `"BatchRead"`, 1)
	if err := os.WriteFile(changed, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	replayer := newReplayer(t)
	replayer.RegisterWorkflowWithOptions((&workflows.Worker{}).AgentThread, workflow.RegisterOptions{Name: contract.WorkflowType})
	if err := replayer.ReplayWorkflowHistoryFromJSONFile(nil, changed); err == nil {
		t.Error("a history of other activities replays")
	}
}
