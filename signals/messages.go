package signals

import (
	"context"
	"fmt"
	"iter"

	"github.com/heddle-dev/heddle/signals/contract"
)

// messages yields the messages from (inclusive) to to (exclusive; 0: the end as
// it is now), those of earlier runs included.
func (r *Reader) messages(ctx context.Context, run execution, from, to int) iter.Seq2[contract.Message, error] {
	return func(yield func(contract.Message, error) bool) {
		emit := func(m contract.Message) bool {
			if m.Index != from {
				yield(m, fmt.Errorf("message %d of %s: the thread answered with message %d", from, run.workflowID, m.Index))
				return false
			}
			from++
			return yield(m, nil)
		}
		for {
			page, err := query[contract.TranscriptPage](ctx, r, run, contract.QueryTranscript, contract.TranscriptQuery{From: from, To: to})
			if err != nil {
				yield(contract.Message{}, err)
				return
			}
			if to == 0 {
				to = page.Length
			}
			for m, err := range r.earlierMessages(ctx, run, page.Earlier, from, min(to, int(page.First))) {
				if err != nil {
					yield(m, err)
					return
				}
				if !emit(m) {
					return
				}
			}
			for _, m := range page.Messages {
				if m.Index >= to || !emit(m) {
					return
				}
			}
			if page.Next <= 0 || page.Next >= to {
				return
			}
		}
	}
}

// earlierMessages yields the messages from (inclusive) to to (exclusive), which
// lie in the runs before.
func (r *Reader) earlierMessages(ctx context.Context, run execution, e contract.Earlier, from, to int) iter.Seq2[contract.Message, error] {
	return func(yield func(contract.Message, error) bool) {
		if from >= to {
			return
		}
		var messages iter.Seq2[contract.Message, error]
		switch {
		case r.archived(e):
			messages = r.archivedMessages(ctx, *e.Archive, from, to)
		case e.PreviousRunID != "":
			messages = r.messages(ctx, run.before(e), from, to)
		default:
			yield(contract.Message{}, lost(e))
			return
		}
		for m, err := range messages {
			if !yield(m, orLost(e, err)) || err != nil {
				return
			}
		}
	}
}

func (r *Reader) archivedMessages(ctx context.Context, ref contract.Ref, from, to int) iter.Seq2[contract.Message, error] {
	return func(yield func(contract.Message, error) bool) {
		archive, err := load[contract.Archive](ctx, r.archive, ref)
		if err != nil {
			yield(contract.Message{}, err)
			return
		}
		for _, chunk := range archive.Chunks {
			if chunk.To <= from || chunk.From >= to {
				continue
			}
			body, err := load[contract.ChunkBody](ctx, r.archive, chunk.Ref)
			if err != nil {
				yield(contract.Message{}, err)
				return
			}
			for _, m := range body.Messages {
				if m.Index >= from && m.Index < to && !yield(m, nil) {
					return
				}
			}
		}
	}
}
