package connect

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
)

// patience is a server that finds out how long it may take to answer.
type patience struct {
	workflowservice.UnimplementedWorkflowServiceServer
	left []time.Duration
}

func (p *patience) ask(ctx context.Context) {
	end, _ := ctx.Deadline()
	p.left = append(p.left, time.Until(end))
}

func (p *patience) GetSystemInfo(ctx context.Context, _ *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	p.ask(ctx)
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (p *patience) DescribeNamespace(ctx context.Context, _ *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	p.ask(ctx)
	return &workflowservice.DescribeNamespaceResponse{}, nil
}

// A server that stands still for some seconds is waited for.
func TestDialIsPatient(t *testing.T) {
	p, server := &patience{}, grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, p)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	c, err := Dial(t.Context(), client.Options{HostPort: listener.Addr().String(), Namespace: "default"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if len(p.left) < 2 {
		t.Errorf("the server was asked %d times", len(p.left))
	}
	for _, left := range p.left {
		if left < timeout/2 {
			t.Errorf("the server was given %s to answer", left)
		}
	}
}
