package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/signals/contract"
)

// maxChunk bounds, in bytes, the messages of an archived chunk.
const maxChunk = 1 << 20

// Archive stores what the current run of a thread holds, so that the next run
// can begin without it. It reads the thread by query: the words that it archives
// enter history no second time.
func (a *Activities) Archive(ctx context.Context, in ArchiveInput) (ArchiveResult, error) {
	defer heartbeat(ctx, func() []any { return nil })()
	run := runOf(ctx)
	messages, err := a.Threads.Messages(ctx, run, in.From, in.To)
	if err != nil {
		return ArchiveResult{}, unavailable(ErrTypeThread, "read the run's messages", err)
	}
	parts, err := a.Threads.Parts(ctx, run)
	if err != nil {
		return ArchiveResult{}, unavailable(ErrTypeThread, "read the run's timeline", err)
	}
	archive, err := a.archiveBefore(ctx, in.Archive)
	if err != nil {
		return ArchiveResult{}, err
	}
	cursor := in.After
	parts = slices.DeleteFunc(parts, func(p contract.Part) bool { return p.Seq <= in.After })
	for _, part := range parts {
		cursor = max(cursor, part.Seq)
	}
	for _, body := range chunks(messages, parts) {
		ref, err := a.putJSON(ctx, body)
		if err != nil {
			return ArchiveResult{}, err
		}
		chunk := contract.Chunk{From: in.From, To: in.From + len(body.Messages), Ref: ref}
		archive.Chunks = append(archive.Chunks, chunk)
		in.From = chunk.To
	}
	ref, err := a.putJSON(ctx, archive)
	return ArchiveResult{Archive: ref, Cursor: cursor}, err
}

func (a *Activities) archiveBefore(ctx context.Context, ref *contract.Ref) (contract.Archive, error) {
	var archive contract.Archive
	if ref == nil {
		return archive, nil
	}
	body, err := a.Blobs.Get(ctx, *ref)
	if err != nil {
		return archive, unavailable(ErrTypeBlobs, "read the thread's archive", err)
	}
	if err := json.Unmarshal(body, &archive); err != nil {
		return archive, unavailable(ErrTypeBlobs, "decode the thread's archive", err)
	}
	return archive, nil
}

// StoreQueue stores the long texts among the submissions that wait, so that the
// next run can be given references to them.
func (a *Activities) StoreQueue(ctx context.Context) (StoreQueueResult, error) {
	defer heartbeat(ctx, func() []any { return nil })()
	queue, err := a.Threads.Queue(ctx, runOf(ctx))
	if err != nil {
		return StoreQueueResult{}, unavailable(ErrTypeThread, "read the thread's queue", err)
	}
	result := StoreQueueResult{Refs: map[string]contract.Ref{}}
	for _, submission := range queue {
		if len(submission.Text) <= MaxCarriedText {
			continue
		}
		ref, err := a.Blobs.Put(ctx, []byte(submission.Text))
		if err != nil {
			return StoreQueueResult{}, unavailable(ErrTypeBlobs, "store submission "+submission.ID, err)
		}
		result.Refs[submission.ID] = ref
	}
	return result, nil
}

func (a *Activities) putJSON(ctx context.Context, value any) (contract.Ref, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return contract.Ref{}, fmt.Errorf("encode the archive: %w", err)
	}
	ref, err := a.Blobs.Put(ctx, body)
	if err != nil {
		return contract.Ref{}, unavailable(ErrTypeBlobs, "store the archive", err)
	}
	return ref, nil
}

// chunks cuts what a run holds into pieces of about maxChunk bytes, parts and
// messages each in their order.
func chunks(messages []contract.Message, parts []contract.Part) []contract.ChunkBody {
	bodies := []contract.ChunkBody{{}}
	size := 0
	// next returns the piece that takes so many bytes more.
	next := func(length int) *contract.ChunkBody {
		last := &bodies[len(bodies)-1]
		if size+length > maxChunk && len(last.Messages)+len(last.Parts) > 0 {
			bodies = append(bodies, contract.ChunkBody{})
			last, size = &bodies[len(bodies)-1], 0
		}
		size += length
		return last
	}
	for _, m := range messages {
		length := len(m.Text)
		for _, call := range m.Calls {
			length += len(call.Input)
		}
		last := next(length)
		last.Messages = append(last.Messages, m)
	}
	for _, p := range parts {
		const fields = 500
		length := fields + len(p.Text)
		if p.Approval != nil {
			length += len(p.Approval.Preview)
		}
		last := next(length)
		last.Parts = append(last.Parts, p)
	}
	return bodies
}
