package heddle_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestMain(m *testing.M) {
	testkit.Main(m, func() { heddle.Main(heddle.Tool("test.gate", "Waits for a file.", gate)) })
}

// gate says that it was entered, and waits until it may leave.
func gate(ctx context.Context, _ struct{}) (string, error) {
	if err := os.WriteFile("entered", nil, 0o600); err != nil {
		return "", err
	}
	for ctx.Err() == nil {
		if _, err := os.Stat("leave"); err == nil {
			return "left", nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return "", ctx.Err()
}

var gateFiles = map[string]string{
	"heddle.yaml": `
task_queue: ${HEDDLE_TASK_QUEUE}
stop_timeout: 60s
models: {play: {provider: scripted, script: script.yaml}}
agents:
  a: {model: play, instructions: hi, tools: ["test.*"]}
`,
	"script.yaml": `
turns:
  - steps:
      - calls: [{tool: test.gate, input: {}}]
      - text: "${test.gate}"
`,
}

// TestAStoppedWorkerEndsWhatItDoes stops a worker in the middle of a call: the
// call is let to its end, and the next worker goes on from there.
func TestAStoppedWorkerEndsWhatItDoes(t *testing.T) {
	server := testkit.DevServer(t)
	worker := testkit.StartWorker(t, testkit.Worker{Server: server, Files: gateFiles})
	threads := signals.NewClient(server.Client(t), &signals.Options{TaskQueue: worker.TaskQueue})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	start := contract.Start{ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: testkit.Name(t)}, Agent: "a"}
	sent, err := threads.Send(ctx, start, contract.Submission{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	awaitFile(ctx, t, filepath.Join(worker.Dir, "entered"))

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		worker.Stop(t)
	}()
	worker.WaitOutput(t, "worker stopping")
	if err := os.WriteFile(filepath.Join(worker.Dir, "leave"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-stopped
	if !strings.Contains(worker.Output(), "worker stopped") {
		t.Error("the worker did not say that it has stopped")
	}

	if err := os.Remove(filepath.Join(worker.Dir, "entered")); err != nil {
		t.Fatal(err)
	}
	worker.Start(t)
	turn, err := threads.Wait(ctx, start.ThreadRef, sent.Turn)
	if err != nil || turn.Answer != "left" {
		t.Errorf("the turn ended with %q, %v; want the answer", turn.Answer, err)
	}
	if _, err := os.Stat(filepath.Join(worker.Dir, "entered")); err == nil {
		t.Error("the call was made again, though it had ended")
	}
}

func awaitFile(ctx context.Context, t *testing.T, path string) {
	t.Helper()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s: %v", path, ctx.Err())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// newNamespace registers a namespace without search attributes.
func newNamespace(t *testing.T, server *testkit.Server) (name string, c client.Client) {
	t.Helper()
	name, c = strings.ToLower(testkit.Name(t)), server.Client(t)
	_, err := c.WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	return name, c
}

// runIn runs an application in a namespace until it ends by itself or is ready.
func runIn(t *testing.T, server *testkit.Server, namespace string) error {
	t.Helper()
	t.Setenv("TEMPORAL_ADDRESS", server.Address)
	t.Setenv("TEMPORAL_NAMESPACE", namespace)
	logger, ready := testkit.Await(testkit.Ready)
	app, err := heddle.New(configFile(t, sound), heddle.Logger(logger))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	go func() {
		select {
		case <-ready:
			cancel()
		case <-ctx.Done():
		}
	}()
	return app.Run(ctx)
}

func TestRunRegistersTheSearchAttributes(t *testing.T) {
	server := testkit.DevServer(t)
	namespace, c := newNamespace(t, server)
	// The server's frontend learns of a new namespace with a delay.
	awaitNamespace(t, c, namespace)
	for range 2 { // the second time they are there
		if err := runIn(t, server, namespace); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := c.OperatorService().ListSearchAttributes(t.Context(),
		&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]enumspb.IndexedValueType{
		contract.AttributeTenant:  enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttributeAgent:   enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttributeStatus:  enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		contract.AttributePending: enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST,
	} {
		if got := listed.GetCustomAttributes()[name]; got != want {
			t.Errorf("search attribute %s is %s, want %s", name, got, want)
		}
	}
}

func TestRunRefusesASearchAttributeOfAnotherType(t *testing.T) {
	server := testkit.DevServer(t)
	namespace, c := newNamespace(t, server)
	awaitNamespace(t, c, namespace)
	_, err := c.OperatorService().AddSearchAttributes(t.Context(), &operatorservice.AddSearchAttributesRequest{
		Namespace:        namespace,
		SearchAttributes: map[string]enumspb.IndexedValueType{contract.AttributeStatus: enumspb.INDEXED_VALUE_TYPE_INT},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = runIn(t, server, namespace)
	if err == nil || !strings.Contains(err.Error(), contract.AttributeStatus) ||
		!strings.Contains(err.Error(), "temporal operator search-attribute remove --namespace "+namespace) {
		t.Errorf("Run: %v, want the attribute and the command that removes it", err)
	}
}

func TestRunRefusesANamespaceThatIsNotThere(t *testing.T) {
	err := runIn(t, testkit.DevServer(t), "nowhere")
	if err == nil || !strings.Contains(err.Error(), "temporal operator namespace create --namespace nowhere") {
		t.Errorf("Run: %v, want the command that creates it", err)
	}
}

func TestRunEndsWithItsContextAtOnce(t *testing.T) {
	t.Setenv("TEMPORAL_ADDRESS", testkit.DevServer(t).Address)
	app, err := heddle.New(configFile(t, sound))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := app.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
}

func awaitNamespace(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for {
		_, err := c.OperatorService().ListSearchAttributes(ctx,
			&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("namespace %s: %v", namespace, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
