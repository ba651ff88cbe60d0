package signals

import (
	"context"
	"errors"
	"slices"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Wait waits until a turn has ended and says how: its status, the agent's answer
// or what went wrong. A turn that is not the thread's is refused with
// [contract.ErrUnknownTurn]. Of a turn that ended long ago the answer is what the
// timeline has of it.
//
// Waiting adds no event to the thread's history.
func (c *Client) Wait(ctx context.Context, thread contract.ThreadRef, turn string) (contract.Turn, error) {
	var ended contract.Turn
	err := thread.Validate()
	if err == nil && turn == "" {
		err = errors.New("turn: is empty")
	}
	if err != nil {
		return ended, invalid(err)
	}
	how := waiting
	how.from = c.places.take(thread.WorkflowID(), turn)
	err = c.follow(ctx, thread, how, func(run execution) (bool, error) {
		state, err := query[contract.State](ctx, c.reader, run, contract.QueryState)
		if err != nil {
			return false, err
		}
		found, known := turnOf(state, turn)
		if !known {
			found, err = c.pastTurn(ctx, run, turn)
		}
		ended = found
		return found.Status.Ended(), err
	}, nil)
	if err == nil && !ended.Status.Ended() {
		err = refuse(contract.ErrThreadClosed, "the thread ended before turn %s did", turn)
	}
	return ended, in("wait for turn "+turn+" of", thread, err)
}

// turnOf finds a turn in what the state has.
func turnOf(state contract.State, id string) (contract.Turn, bool) {
	turns := append(slices.Clone(state.Queue), state.Recent...)
	if state.Turn != nil {
		turns = append(turns, *state.Turn)
	}
	i := slices.IndexFunc(turns, func(t contract.Turn) bool { return t.ID == id })
	if i < 0 {
		return contract.Turn{}, false
	}
	return turns[i], true
}

// pastTurn makes a turn of what the timeline tells, for one that the state has
// forgotten.
func (c *Client) pastTurn(ctx context.Context, run execution, id string) (contract.Turn, error) {
	turn := contract.Turn{ID: id}
	for part, err := range c.reader.parts(ctx, run, 0) {
		if err != nil {
			return turn, err
		}
		if part.Turn != id {
			continue
		}
		switch {
		case part.Kind == contract.KindModel:
			turn.Steps++
		case part.Kind == contract.KindMessage && part.Role == contract.RoleAssistant:
			turn.Answer, turn.AnswerIndex = part.Text, part.Message
		case part.Kind == contract.KindMilestone && part.ID == id && part.EndedAt != nil:
			return endedTurn(turn, part), nil
		}
	}
	return turn, refuse(contract.ErrUnknownTurn, "turn: the thread has no turn %q", id)
}

// endedTurn completes a past turn by the part that tells its end.
func endedTurn(turn contract.Turn, end contract.Part) contract.Turn {
	turn.Submission, turn.Problem = end.Submission, end.Problem
	turn.StartedAt, turn.EndedAt = &end.StartedAt, end.EndedAt
	if end.Usage != nil {
		turn.Usage = *end.Usage
	}
	switch end.Status {
	case contract.PartDone:
		turn.Status = contract.StatusCompleted
	case contract.PartCancelled:
		turn.Status = contract.StatusCancelled
	default:
		turn.Status = contract.StatusFailed
	}
	if turn.Status != contract.StatusCompleted {
		turn.Answer, turn.AnswerIndex = "", nil
	}
	return turn
}
