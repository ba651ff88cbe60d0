package heddle

import (
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// handovers bounds what waits to be fetched. What an activity in another process
// takes is never fetched, and makes room for newer ones.
const handovers = 256

// handover saves a query: a workflow that schedules an activity leaves what the
// activity will read, and if that runs in this process it finds it here. A
// handover is fetched once; whoever finds none queries the workflow, so losing
// one is nothing.
type handover struct {
	interceptor.WorkerInterceptorBase
	left *lru.Cache[handoverKey, activities.Near]
}

// handoverKey names an activity by what it reads.
type handoverKey struct {
	run     activities.RunRef
	upto    int    // of a model turn
	message string // of the first of a turn
	call    string // the first of other activities
	segment int    // of a snippet
}

func ofModelTurn(run activities.RunRef, in activities.ModelTurnInput) handoverKey {
	return handoverKey{run: run, upto: in.Upto, message: in.Message}
}

func ofSegment(run activities.RunRef, in activities.SegmentInput) handoverKey {
	return handoverKey{run: run, call: in.Call, segment: in.Segment}
}

func newHandover() *handover {
	left, err := lru.New[handoverKey, activities.Near](handovers)
	if err != nil {
		panic(err) // the size is a constant greater than 0
	}
	return &handover{left: left}
}

// transcript fetches the messages that a model is to see, unless some are in an
// archive.
func (h *handover) transcript(run activities.RunRef, in activities.ModelTurnInput) ([]contract.Message, bool) {
	near, ok := h.fetch(ofModelTurn(run, in))
	if !ok || near.First > 0 || len(near.Messages) < in.Upto {
		return nil, false
	}
	return near.Messages[:in.Upto], true
}

// calls fetches open calls.
func (h *handover) calls(run activities.RunRef, ids []string) ([]contract.Call, bool) {
	near, ok := h.fetch(handoverKey{run: run, call: ids[0]})
	if !ok {
		return nil, false
	}
	calls := make([]contract.Call, 0, len(ids))
	for _, id := range ids {
		i := slices.IndexFunc(near.Calls, func(c contract.Call) bool { return c.ID == id })
		if i < 0 {
			return nil, false
		}
		calls = append(calls, near.Calls[i])
	}
	return calls, true
}

// execution fetches what a segment begins with.
func (h *handover) execution(run activities.RunRef, in activities.SegmentInput) (contract.ExecutionPage, bool) {
	near, ok := h.fetch(ofSegment(run, in))
	if !ok || near.Execution == nil || near.Execution.Next > 0 {
		return contract.ExecutionPage{}, false
	}
	return *near.Execution, true
}

func (h *handover) fetch(key handoverKey) (activities.Near, bool) {
	near, ok := h.left.Get(key)
	if ok {
		h.left.Remove(key)
	}
	return near, ok
}

// InterceptWorkflow watches what workflows schedule.
func (h *handover) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &handoverInbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, h}
}

type handoverInbound struct {
	interceptor.WorkflowInboundInterceptorBase
	h *handover
}

func (i *handoverInbound) Init(next interceptor.WorkflowOutboundInterceptor) error {
	return i.Next.Init(&handoverOutbound{interceptor.WorkflowOutboundInterceptorBase{Next: next}, i.h})
}

type handoverOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
	h *handover
}

func (o *handoverOutbound) ExecuteActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	if len(args) == 1 && !workflow.IsReplaying(ctx) {
		execution := workflow.GetInfo(ctx).WorkflowExecution
		run := activities.RunRef{WorkflowID: execution.ID, RunID: execution.RunID}
		switch in := args[0].(type) {
		case activities.ModelTurnInput:
			o.h.left.Add(ofModelTurn(run, in), in.Near)
		case activities.BatchReadInput:
			o.h.left.Add(handoverKey{run: run, call: in.Calls[0].ID}, in.Near)
		case activities.SegmentInput:
			o.h.left.Add(ofSegment(run, in), in.Near)
		case activities.WriteInput:
			o.h.left.Add(handoverKey{run: run, call: in.Call.ID}, in.Near)
		}
	}
	return o.Next.ExecuteActivity(ctx, activityType, args...)
}
