package signals

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/heddle-dev/heddle/signals/contract"
)

// archived reports whether what is older than a run can be read from the
// archive; else the run before is asked.
func (r *Reader) archived(e contract.Earlier) bool { return r.archive != nil && e.Archive != nil }

// before is the run before.
func (e execution) before(earlier contract.Earlier) execution {
	return execution{workflowID: e.workflowID, runID: earlier.PreviousRunID}
}

// lost is the error of a reader who can reach neither the archive nor the run
// before.
func lost(e contract.Earlier) error {
	return refuse(contract.ErrForgotten, "what is older than %d lies in an earlier run of the thread (%s), which the "+
		"server no longer keeps; only the workers' archive has it", e.First, e.PreviousRunID)
}

// orLost makes of the error that the run before is gone what that means.
func orLost(e contract.Earlier, err error) error {
	if hasCode(err, contract.ErrUnknownThread) {
		return lost(e)
	}
	return err
}

// load reads a JSON value from the archive.
func load[T any](ctx context.Context, archive Archive, ref contract.Ref) (T, error) {
	var value T
	body, err := archive.Get(ctx, ref)
	if err != nil {
		return value, fmt.Errorf("read %s from the archive: %w", ref.Digest, err)
	}
	if err := json.Unmarshal(body, &value); err != nil {
		return value, fmt.Errorf("decode %s from the archive: %w", ref.Digest, err)
	}
	return value, nil
}

// whole puts back what a message refers to.
func (r *Reader) whole(ctx context.Context, m contract.Message) (contract.Message, error) {
	if r.archive == nil {
		return m, nil
	}
	if m.Body != nil {
		body, err := r.archive.Get(ctx, *m.Body)
		if err != nil {
			return m, fmt.Errorf("read the text of message %d from the archive: %w", m.Index, err)
		}
		m.Text, m.Body = string(body), nil
	}
	calls := make([]contract.Call, len(m.Calls))
	for i, call := range m.Calls {
		if call.Body != nil {
			body, err := r.archive.Get(ctx, *call.Body)
			if err != nil {
				return m, fmt.Errorf("read the input of call %s from the archive: %w", call.ID, err)
			}
			call.Input, call.Body = body, nil
		}
		calls[i] = call
	}
	if len(calls) > 0 {
		m.Calls = calls
	}
	return m, nil
}
