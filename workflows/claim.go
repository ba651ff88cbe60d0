package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// claimOpen is how long a claim waits for an outcome before it is closed: longer
// than anyone waits for a person to find out.
const claimOpen = 90 * 24 * time.Hour

// Claim is the claim of a write. It is started with a delay, by the end of which
// it has been told how the write ended, as a rule: its first task is then its
// last.
func Claim(ctx workflow.Context) (activities.CallResult, error) {
	outcomes := workflow.GetSignalChannel(ctx, contract.SignalOutcome)
	var result activities.CallResult
	if told, _ := outcomes.ReceiveWithTimeout(ctx, claimOpen, &result); !told {
		result.Problem = &contract.Problem{
			Code:    contract.CodeOutcomeUnknown,
			Message: "nobody recorded an outcome of the write",
		}
	}
	return result, nil
}
