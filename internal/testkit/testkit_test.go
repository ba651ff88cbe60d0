package testkit

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

func TestMain(m *testing.M) { Main(m, echoWorker) }

// echoWorker stands for a worker: it says what it was given and waits for SIGTERM.
func echoWorker() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config, err := os.ReadFile(os.Args[2])
	fmt.Println("args", os.Args[1], "config", string(config), err)
	fmt.Println("queue", os.Getenv(TaskQueueEnv), "server", os.Getenv("TEMPORAL_ADDRESS"))
	fmt.Println(Ready)
	<-ctx.Done()
	fmt.Println("stopped gracefully")
}

func TestWorkerIsKilledAndStartedAgain(t *testing.T) {
	server := &Server{Address: "127.0.0.1:1"}
	w := StartWorker(t, Worker{Server: server, Files: map[string]string{"heddle.yaml": "task_queue: x"}})
	w.WaitOutput(t, "config task_queue: x")
	w.WaitOutput(t, "queue "+w.TaskQueue+" server 127.0.0.1:1")
	first := w.PID()
	w.Kill()
	if err := syscall.Kill(first, 0); err == nil {
		t.Errorf("process %d is still there after Kill", first)
	}
	w.Start(t)
	if w.PID() == first {
		t.Errorf("Start gave the process id of the killed worker, %d", first)
	}
	w.Stop(t)
	w.WaitOutput(t, "stopped gracefully")
}

func TestServerKeepsItsDatabaseOverAKill(t *testing.T) {
	server := StartServer(t)
	register(t, server, "kept")
	server.Kill()
	server.Restart(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_, err := server.Client(t).WorkflowService().DescribeNamespace(ctx,
		&workflowservice.DescribeNamespaceRequest{Namespace: "kept"})
	if err != nil {
		t.Errorf("the namespace registered before the kill: %v", err)
	}
}

func TestDevServerIsShared(t *testing.T) {
	if a, b := DevServer(t), DevServer(t); a != b {
		t.Errorf("two servers: %s and %s", a.Address, b.Address)
	}
}

func register(t *testing.T, server *Server, namespace string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_, err := server.Client(t).WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
}
