package signals

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/heddle-dev/heddle/signals/contract"
)

// timeline yields the pages of parts that a run itself holds.
func (r *Reader) timeline(ctx context.Context, run execution, after int64) iter.Seq2[contract.TimelinePage, error] {
	return func(yield func(contract.TimelinePage, error) bool) {
		for {
			page, err := query[contract.TimelinePage](ctx, r, run, contract.QueryTimeline, contract.TimelineQuery{After: after})
			if !yield(page, err) || err != nil || !page.More || page.Cursor <= after {
				return
			}
			after = page.Cursor
		}
	}
}

// parts yields the parts after a cursor as they are now, ordered by Seq, those of
// earlier runs included.
func (r *Reader) parts(ctx context.Context, run execution, after int64) iter.Seq2[contract.Part, error] {
	return func(yield func(contract.Part, error) bool) {
		// emit leaves out what is not newer than what was yielded before, so that
		// no reader sees an older revision after a newer one.
		emit := func(part contract.Part) bool {
			if part.Seq <= after {
				return true
			}
			after = part.Seq
			return yield(part, nil)
		}
		for page, err := range r.timeline(ctx, run, after) {
			if err != nil {
				yield(contract.Part{}, err)
				return
			}
			if page.Cursor < after {
				// The workflow was reset to an earlier event: what came after that is
				// another story now, and it begins anew.
				for part, err := range r.parts(ctx, run, 0) {
					if !yield(part, err) {
						return
					}
				}
				return
			}
			// A run holds a few parts that are older than all it answers for: they
			// were open when it began. They take their places among the earlier.
			for part, err := range r.earlierParts(ctx, run, page.Earlier, after) {
				if err != nil {
					yield(contract.Part{}, err)
					return
				}
				for len(page.Parts) > 0 && page.Parts[0].Seq < part.Seq {
					if !emit(page.Parts[0]) {
						return
					}
					page.Parts = page.Parts[1:]
				}
				if !emit(part) {
					return
				}
			}
			for _, part := range page.Parts {
				if !emit(part) {
					return
				}
			}
		}
	}
}

// earlierParts yields the parts after a cursor that are older than what a run
// answers for.
func (r *Reader) earlierParts(ctx context.Context, run execution, e contract.Earlier, after int64) iter.Seq2[contract.Part, error] {
	return func(yield func(contract.Part, error) bool) {
		if e.First <= after+1 {
			return
		}
		var parts iter.Seq2[contract.Part, error]
		switch {
		case r.archived(e):
			parts = r.archivedParts(ctx, *e.Archive, after)
		case e.PreviousRunID != "":
			parts = r.parts(ctx, run.before(e), after)
		default:
			yield(contract.Part{}, lost(e))
			return
		}
		for part, err := range parts {
			if err == nil && part.Seq >= e.First {
				return
			}
			if !yield(part, orLost(e, err)) || err != nil {
				return
			}
		}
	}
}

// archivedParts yields the archived parts after a cursor. It loads the newest
// chunks first and stops where the cursor lies.
func (r *Reader) archivedParts(ctx context.Context, ref contract.Ref, after int64) iter.Seq2[contract.Part, error] {
	return func(yield func(contract.Part, error) bool) {
		archive, err := load[contract.Archive](ctx, r.archive, ref)
		if err != nil {
			yield(contract.Part{}, err)
			return
		}
		var found []contract.Part
		for _, chunk := range slices.Backward(archive.Chunks) {
			body, err := load[contract.ChunkBody](ctx, r.archive, chunk.Ref)
			if err != nil {
				yield(contract.Part{}, err)
				return
			}
			newer := slices.DeleteFunc(slices.Clone(body.Parts), func(p contract.Part) bool { return p.Seq <= after })
			found = append(found, newer...)
			if len(newer) < len(body.Parts) {
				break
			}
		}
		slices.SortStableFunc(found, func(p, q contract.Part) int { return cmp.Compare(p.Seq, q.Seq) })
		for _, part := range found {
			if !yield(part, nil) {
				return
			}
		}
	}
}
