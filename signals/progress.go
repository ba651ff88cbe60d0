package signals

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	commonpb "go.temporal.io/api/common/v1"

	"github.com/heddle-dev/heddle/signals/contract"
)

// progressPace is how often who watches a thread looks how far its calls have come:
// as often as a worker tells.
const progressPace = 2 * time.Second

// running are the parts that somebody who watches has seen run, as they were last
// yielded.
type running map[string]contract.Part

// saw takes in a part that was yielded.
func (r running) saw(part contract.Part) {
	if part.Status != contract.PartRunning {
		delete(r, part.ID)
		return
	}
	switch part.Kind { //nolint:exhaustive // the others have no progress of an activity
	case contract.KindCall, contract.KindExecute, contract.KindBatch:
		r[part.ID] = part
	}
}

// news are the parts that have come further, ordered by Seq.
func (r running) news(progress map[string]contract.Progress) []contract.Part {
	var further []contract.Part
	for id, now := range progress {
		part, ok := r[id]
		if !ok || now == (contract.Progress{}) || part.Progress != nil && *part.Progress == now {
			continue
		}
		part.Progress = &now
		r[id] = part
		further = append(further, part)
	}
	slices.SortFunc(further, func(p, q contract.Part) int { return int(p.Seq - q.Seq) })
	return further
}

// progress reads what the activities that a run has under way have told last. It is
// nice to know: what cannot be read is left out.
func (r *Reader) progress(ctx context.Context, e execution) map[string]contract.Progress {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := r.service.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: r.namespace, Execution: e.proto(),
	})
	if err != nil {
		return nil
	}
	progress := map[string]contract.Progress{}
	convert := r.convert(e)
	for _, activity := range response.GetPendingActivities() {
		for _, payload := range activity.GetHeartbeatDetails().GetPayloads() {
			var beat contract.Beat
			one := &commonpb.Payloads{Payloads: []*commonpb.Payload{proto.CloneOf(payload)}}
			if convert.FromPayloads(one, &beat) == nil {
				maps.Copy(progress, beat.Progress)
			}
		}
	}
	return progress
}
