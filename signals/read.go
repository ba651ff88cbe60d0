package signals

import (
	"context"
	"iter"

	"github.com/heddle-dev/heddle/signals/contract"
)

// State says what the thread is doing now, or at last if it has ended.
func (c *Client) State(ctx context.Context, thread contract.ThreadRef) (contract.State, error) {
	if err := thread.Validate(); err != nil {
		return contract.State{}, invalid(err)
	}
	state, err := query[contract.State](ctx, c.reader, execution{workflowID: thread.WorkflowID()}, contract.QueryState)
	return state, in("read the state of", thread, c.unlessGone(ctx, thread, err))
}

// Transcript returns the messages from (inclusive) to to (exclusive; 0: to the
// end). Those of earlier runs are included; long ones are whole if the client has
// the archive.
func (c *Client) Transcript(ctx context.Context, thread contract.ThreadRef, from, to int) ([]contract.Message, error) {
	var messages []contract.Message
	for message, err := range c.Messages(ctx, thread, from, to) {
		if err != nil {
			return nil, err
		}
		messages = append(messages, message)
	}
	return messages, nil
}

// Messages is [Client.Transcript] one message at a time, for a thread that is
// longer than what one wants to hold in memory. An error is the last thing that
// it yields.
func (c *Client) Messages(ctx context.Context, thread contract.ThreadRef, from, to int) iter.Seq2[contract.Message, error] {
	return func(yield func(contract.Message, error) bool) {
		err := thread.Validate()
		if err == nil {
			err = contract.TranscriptQuery{From: from, To: to}.Validate()
		}
		if err != nil {
			yield(contract.Message{}, invalid(err))
			return
		}
		for message, err := range c.reader.messages(ctx, execution{workflowID: thread.WorkflowID()}, from, to) {
			if err == nil {
				message, err = c.reader.whole(ctx, message)
			}
			if !yield(message, in("read the transcript of", thread, err)) || err != nil {
				return
			}
		}
	}
}

// Watch yields the parts of the thread's timeline after a cursor, 0 for all, and
// goes on with each new or changed part as it comes. The Seq of a part is the
// cursor to go on from after it. A part that changed comes again under the same
// ID; of several changes at once only the last may be seen.
//
// It ends without an error when the thread was closed and everything has been
// yielded. An error is the last thing that it yields: the context's when that has
// ended, that of a workflow that failed, such as [contract.ErrUnknownAgent]. It
// goes on through restarts of the worker and the server.
//
// A call that runs for long may come once more as it was, with the same Seq and
// Revision and another Progress: what its worker has told the server of it, looked
// at every two seconds.
//
// If someone resets the workflow to an earlier event, and with it the sequence
// numbers, everything is yielded again from the first part on.
//
// Watching adds no event to the thread's history.
func (c *Client) Watch(ctx context.Context, thread contract.ThreadRef, cursor int64) iter.Seq2[contract.Part, error] {
	return func(yield func(contract.Part, error) bool) {
		err := thread.Validate()
		if err == nil {
			err = contract.TimelineQuery{After: cursor}.Validate()
		}
		if err != nil {
			yield(contract.Part{}, invalid(err))
			return
		}
		seen, stopped := running{}, false
		err = c.follow(ctx, thread, watching, func(run execution) (done bool, err error) {
			if stopped {
				return true, nil
			}
			for part, err := range c.reader.parts(ctx, run, cursor) {
				if err != nil {
					return false, err
				}
				cursor = part.Seq
				seen.saw(part)
				if !yield(part, nil) {
					return true, nil
				}
			}
			return false, nil
		}, func(ctx context.Context, run execution) (enough bool) {
			if len(seen) == 0 {
				return false
			}
			for _, part := range seen.news(c.reader.progress(ctx, run)) {
				if stopped = !yield(part, nil); stopped {
					return true
				}
			}
			return false
		})
		if err != nil && !stopped {
			yield(contract.Part{}, in("watch", thread, err))
		}
	}
}
