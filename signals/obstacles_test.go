package signals_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// unreachable is a client of a server that does not exist.
func unreachable(t *testing.T) client.Client {
	t.Helper()
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// intercept puts itself before the queries of a client: an error takes the place
// of the answer.
func intercept(c client.Client, before func(*workflowservice.QueryWorkflowRequest) error) client.Client {
	return &interceptedClient{c, &interceptedService{WorkflowServiceClient: c.WorkflowService(), query: before}}
}

// interceptHistory puts itself around what a client reads of histories.
func interceptHistory(c client.Client, around historyHook) client.Client {
	return &interceptedClient{c, &interceptedService{WorkflowServiceClient: c.WorkflowService(), history: around}}
}

type (
	historyCall = func() (*workflowservice.GetWorkflowExecutionHistoryResponse, error)
	historyHook = func(*workflowservice.GetWorkflowExecutionHistoryRequest, historyCall) (*workflowservice.GetWorkflowExecutionHistoryResponse, error)
)

type interceptedClient struct {
	client.Client
	service workflowservice.WorkflowServiceClient
}

func (c *interceptedClient) WorkflowService() workflowservice.WorkflowServiceClient { return c.service }

type interceptedService struct {
	workflowservice.WorkflowServiceClient
	query    func(*workflowservice.QueryWorkflowRequest) error
	history  historyHook
	describe func()
}

func (s *interceptedService) DescribeWorkflowExecution(
	ctx context.Context, in *workflowservice.DescribeWorkflowExecutionRequest, opts ...grpc.CallOption,
) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if s.describe != nil {
		s.describe()
	}
	return s.WorkflowServiceClient.DescribeWorkflowExecution(ctx, in, opts...)
}

func (s *interceptedService) QueryWorkflow(
	ctx context.Context, in *workflowservice.QueryWorkflowRequest, opts ...grpc.CallOption,
) (*workflowservice.QueryWorkflowResponse, error) {
	if s.query != nil {
		if err := s.query(in); err != nil {
			return nil, err
		}
	}
	return s.WorkflowServiceClient.QueryWorkflow(ctx, in, opts...)
}

func (s *interceptedService) GetWorkflowExecutionHistory(
	ctx context.Context, in *workflowservice.GetWorkflowExecutionHistoryRequest, opts ...grpc.CallOption,
) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	call := func() (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
		return s.WorkflowServiceClient.GetWorkflowExecutionHistory(ctx, in, opts...)
	}
	if s.history == nil {
		return call()
	}
	return s.history(in, call)
}

func TestReadsGoOnThroughObstacles(t *testing.T) {
	b := setUp(t)
	b.say(t, "echo")
	obstacles := []error{
		serviceerror.NewResourceExhausted(0, "consistent query buffer is full"),
		serviceerror.NewWorkflowNotReady("workflow task is not scheduled yet"),
		serviceerror.NewFailedPrecondition("no poller seen for task queue recently, worker may be down"),
		serviceerror.NewUnavailable("buffered query cleared, please retry"),
		serviceerror.NewDeadlineExceeded("no worker took it"),
	}
	left := obstacles
	c := signals.NewClient(intercept(b.temporal, func(*workflowservice.QueryWorkflowRequest) error {
		if len(left) == 0 {
			return nil
		}
		err := left[0]
		left = left[1:]
		return err
	}), nil)
	begun := time.Now()
	if _, err := c.State(within(t), b.ref()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); len(left) > 0 || took > 4*time.Minute {
		t.Errorf("%d obstacles left, took %s", len(left), took)
	}
}

// expiring is a context whose deadline passes when a test says so.
type expiring struct {
	context.Context
	over chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.over }

func (e expiring) Err() error {
	select {
	case <-e.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestReadsTellTheLastObstacle(t *testing.T) {
	b := setUp(t)
	b.say(t, "echo")
	ctx := expiring{context.Background(), make(chan struct{})}
	queries := 0
	c := signals.NewClient(intercept(b.temporal, func(*workflowservice.QueryWorkflowRequest) error {
		if queries++; queries == 3 {
			close(ctx.over)
		}
		return serviceerror.NewUnavailable("the server is being painted")
	}), nil)
	_, err := c.State(ctx, b.ref())
	var obstacle *serviceerror.Unavailable
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &obstacle) {
		t.Errorf("State = %v, want the deadline and the obstacle", err)
	}
}

func TestReadsEndAtAnErrorThatStays(t *testing.T) {
	b := setUp(t)
	b.say(t, "echo")
	c := signals.NewClient(intercept(b.temporal, func(*workflowservice.QueryWorkflowRequest) error {
		return serviceerror.NewPermissionDenied("not yours", "")
	}), nil)
	_, err := c.State(within(t), b.ref())
	var denied *serviceerror.PermissionDenied
	if !errors.As(err, &denied) {
		t.Errorf("State = %v, want the refusal", err)
	}
	if _, err := c.Wait(within(t), b.ref(), "t1"); !errors.As(err, &denied) {
		t.Errorf("Wait = %v, want the refusal", err)
	}
	// A decision does not depend on what can be read.
	if err := c.Approve(within(t), b.ref(), contract.Decision{Approval: "a", Digest: "d"}); err != nil {
		t.Errorf("Approve = %v", err)
	}
}
