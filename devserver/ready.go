package main

import (
	"context"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const (
	readyTimeout  = 2 * time.Minute
	readyInterval = 20 * time.Millisecond
	// readyProbeID is a workflow that nobody starts.
	readyProbeID = "devserver-ready-probe"
)

// waitReady waits until a request for a workflow in each namespace gets its
// answer. The answer is "not found", but finding that out takes a frontend that
// knows the namespace and a history service that owns its shard, and that is what
// the first real request will need. The frontend's health check says less.
func waitReady(ctx context.Context, frontendAddr string, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	conn, err := grpc.NewClient("passthrough:///"+frontendAddr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("connect to the server: %w", err)
	}
	defer conn.Close()
	client := workflowservice.NewWorkflowServiceClient(conn)
	for _, namespace := range namespaces {
		for {
			_, err := client.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
				Namespace: namespace,
				Execution: &commonpb.WorkflowExecution{WorkflowId: readyProbeID},
			}, grpc.WaitForReady(true))
			if isWorkflowNotFound(err) {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("the server started but does not answer requests for namespace %q: %w", namespace, err)
			case <-time.After(readyInterval):
			}
		}
	}
	return nil
}

// isWorkflowNotFound reports whether the server has looked the workflow up. A
// namespace that the frontend does not know yet is another kind of "not found".
func isWorkflowNotFound(err error) bool {
	if err == nil {
		return true
	}
	_, ok := serviceerror.FromStatus(status.Convert(err)).(*serviceerror.NotFound)
	return ok
}
