package signals

import (
	"context"
	"errors"

	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/heddle-dev/heddle/signals/contract"
)

// query asks a run, which adds nothing to its history. It goes past the Temporal
// client's own retries, which wait for 400 ms and more where a busy thread is
// free again in 5.
func query[T any](ctx context.Context, r *Reader, e execution, name string, args ...any) (T, error) {
	var answer T
	convert := r.convert(e)
	input, err := convert.ToPayloads(args...)
	if err != nil {
		return answer, err
	}
	request := &workflowservice.QueryWorkflowRequest{
		Namespace: r.namespace, Execution: e.proto(),
		Query: &querypb.WorkflowQuery{QueryType: name, QueryArgs: input},
	}
	err = patiently(ctx, callTimeout, func(ctx context.Context) error {
		response, err := r.service.QueryWorkflow(ctx, request)
		if err != nil {
			return r.queryError(ctx, e, err)
		}
		return convert.FromPayloads(response.GetQueryResult(), &answer)
	})
	return answer, err
}

// queryError tells a thread that cannot answer yet from one that never will.
func (r *Reader) queryError(ctx context.Context, e execution, err error) error {
	var notReady *serviceerror.WorkflowNotReady
	if errors.As(err, &notReady) {
		if d, describeErr := r.describe(ctx, e); describeErr == nil && d.closed() {
			return refuse(contract.ErrThreadClosed, "the thread was closed before a worker had begun it")
		}
	}
	return typed(unknown(e, r.decoded(e, err)))
}

// decoded is the failure of a query in the words of whoever answered it, where those
// came encoded. Temporal's client does not decode them.
func (r *Reader) decoded(e execution, err error) error {
	var failed *serviceerror.QueryFailed
	if !errors.As(err, &failed) || failed.Failure.GetEncodedAttributes() == nil {
		return err
	}
	var words struct {
		Message string `json:"message"`
	}
	if err := r.convert(e).FromPayload(failed.Failure.GetEncodedAttributes(), &words); err != nil {
		return err
	}
	failure := proto.CloneOf(failed.Failure)
	failure.Message = words.Message
	return &serviceerror.QueryFailed{Message: words.Message, Failure: failure}
}

func (r *Reader) convert(e execution) converter.DataConverter {
	return converter.WithDataConverterSerializationContext(r.converter, converter.WorkflowSerializationContext{
		Namespace: r.namespace, WorkflowID: e.workflowID,
	})
}
