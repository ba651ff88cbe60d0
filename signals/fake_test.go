package signals_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/signals/contract"
)

// fakeThread is a thread that speaks the contract and has no agent: what it does
// is told by the words of a message. It continues as new on demand, which a real
// one does after thousands of events only.
//
//	echo ...   answers with the message
//	ask ...    asks for approval and answers with the verdict
//	hang       waits until it is cancelled
//	roll ...   answers, then continues as new
//	long N     answers with N bytes, by reference
type fakeThread struct {
	start contract.Start
	info  *workflow.Info
	fakeCarried
	parts    []contract.Part
	messages []contract.Message
	turn     *contract.Turn
	pending  *contract.Approval
	decision *contract.Decision
	cancel   bool
	closing  bool
	rolling  bool
	drain    func()
}

type fakeInput struct {
	contract.Start
	Carried *fakeCarried `json:"carried,omitempty"`
}

// fakeCarried is what a run leaves to the next.
type fakeCarried struct {
	Runs, Turns  int
	Seq          int64
	Length       int
	Queue        []contract.Submission
	Recent       []contract.Turn
	Seen         map[string]string // submission id -> text
	FirstSeq     int64
	FirstMessage int
	Archive      *contract.Ref
	Parts        []contract.Part // the last two that have ended, and the open ones
}

// fakeQueue is how many messages a fake thread lets wait.
const fakeQueue = 10

// blobs is the store that the fake threads and the tests share.
var blobs = &store{values: map[string][]byte{}}

type store struct {
	sync.Mutex
	values map[string][]byte
}

func (s *store) put(value []byte) contract.Ref {
	sum := sha256.Sum256(value)
	ref := contract.Ref{Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(value))}
	s.Lock()
	defer s.Unlock()
	s.values[ref.Digest] = value
	return ref
}

func (s *store) Get(_ context.Context, ref contract.Ref) ([]byte, error) {
	s.Lock()
	defer s.Unlock()
	value, ok := s.values[ref.Digest]
	if !ok {
		return nil, errors.New("no such blob")
	}
	return value, nil
}

// startFake runs a worker for fake threads on the queue until stop is called, or
// the test ends.
func startFake(t *testing.T, temporalClient client.Client, queue string) (stop func()) {
	t.Helper()
	// On a machine that is busy a workflow that gets no processor for a second is no deadlock.
	w := worker.New(temporalClient, queue, worker.Options{DeadlockDetectionTimeout: time.Minute})
	w.RegisterWorkflowWithOptions(runFake, workflow.RegisterOptions{Name: contract.WorkflowType})
	if err := w.Start(); err != nil {
		t.Fatalf("start the worker: %v", err)
	}
	stop = sync.OnceFunc(w.Stop)
	t.Cleanup(stop)
	return stop
}

func runFake(ctx workflow.Context, in fakeInput) error {
	f := &fakeThread{start: in.Start, info: workflow.GetInfo(ctx)}
	f.Seen = map[string]string{}
	if in.Carried != nil {
		f.fakeCarried = *in.Carried
	}
	f.Runs++
	f.parts = f.Parts
	if f.Runs == 1 {
		f.put(ctx, contract.Part{ID: "open", Kind: contract.KindMilestone, Status: contract.PartRunning, Title: "Stays open"})
	}
	if in.Agent == "nobody" {
		return temporal.NewNonRetryableApplicationError("agent: the worker has no agent \"nobody\"", contract.ErrUnknownAgent, nil)
	}
	f.listen(ctx)
	for {
		_ = workflow.Await(ctx, func() bool { return len(f.Queue) > 0 || f.closing })
		if f.closing {
			_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
			return nil
		}
		submission := f.Queue[0]
		f.Queue = f.Queue[1:]
		if roll := f.run(ctx, submission); roll {
			// A while in which updates are told to come again.
			f.rolling = true
			_ = workflow.Sleep(ctx, 50e6)
			return f.roll(ctx)
		}
	}
}

// run takes one turn to its end.
func (f *fakeThread) run(ctx workflow.Context, s contract.Submission) (roll bool) {
	now := workflow.Now(ctx)
	id := fmt.Sprintf("t%d", f.Turns-len(f.Queue))
	f.turn = &contract.Turn{ID: id, Submission: s.ID, Status: contract.StatusRunning, StartedAt: &now}
	f.put(ctx, contract.Part{ID: id, Kind: contract.KindMilestone, Status: contract.PartRunning, Turn: id, Submission: s.ID, Title: "Turn " + id})
	f.say(ctx, contract.RoleUser, s.Text)

	word, rest, _ := strings.Cut(s.Text, " ")
	answer, status := rest, contract.StatusCompleted
	switch word {
	case "ask":
		answer = f.ask(ctx, id)
	case "hang":
		_ = workflow.Await(ctx, func() bool { return f.cancel || f.closing })
		f.cancel, status = false, contract.StatusCancelled
	}
	if status == contract.StatusCompleted {
		index := f.Length
		f.turn.Steps, f.turn.Answer, f.turn.AnswerIndex = 1, answer, &index
		f.put(ctx, contract.Part{ID: id + "-s1", Kind: contract.KindModel, Status: contract.PartDone, Turn: id, EndedAt: f.turn.StartedAt})
		f.say(ctx, contract.RoleAssistant, answer)
	}
	end := workflow.Now(ctx)
	f.turn.Status, f.turn.EndedAt = status, &end
	partStatus := contract.PartDone
	if status == contract.StatusCancelled {
		partStatus = contract.PartCancelled
		f.turn.Problem = &contract.Problem{Code: contract.CodeCancelled, Message: "cancelled"}
	}
	f.revise(ctx, id, func(p *contract.Part) { p.Status, p.EndedAt, p.Problem = partStatus, &end, f.turn.Problem })
	f.Recent = append(f.Recent, *f.turn)
	f.Recent = f.Recent[max(0, len(f.Recent)-contract.RecentTurns):]
	f.turn = nil
	return word == "roll"
}

func (f *fakeThread) ask(ctx workflow.Context, turn string) string {
	id := turn + "-a"
	f.decision = nil
	f.pending = &contract.Approval{ID: id, Turn: turn, Tool: "orders.refund", Digest: "sha256:" + id}
	f.put(ctx, contract.Part{ID: id, Kind: contract.KindApproval, Status: contract.PartWaiting, Turn: turn, Approval: f.pending})
	_ = workflow.Await(ctx, func() bool { return f.decision != nil || f.closing })
	f.pending = nil
	if f.decision == nil {
		return "withdrawn"
	}
	status := contract.PartDone
	if f.decision.Verdict == contract.Deny {
		status = contract.PartDenied
	}
	end := workflow.Now(ctx)
	f.revise(ctx, id, func(p *contract.Part) { p.Status, p.EndedAt, p.Decision = status, &end, f.decision })
	return string(f.decision.Verdict) + " " + f.decision.Comment
}

// put adds a part, revise changes one.
func (f *fakeThread) put(ctx workflow.Context, p contract.Part) {
	p.StartedAt, p.Visibility = workflow.Now(ctx), contract.VisibleUser
	f.parts = append(f.parts, p)
	f.revise(ctx, p.ID, func(*contract.Part) {})
}

func (f *fakeThread) revise(_ workflow.Context, id string, change func(*contract.Part)) {
	for i := range f.parts {
		if f.parts[i].ID == id {
			f.Seq++
			p := f.parts[i]
			change(&p)
			p.Seq, p.Revision = f.Seq, p.Revision+1
			f.parts = append(append(f.parts[:i:i], f.parts[i+1:]...), p)
			return
		}
	}
}

func (f *fakeThread) say(ctx workflow.Context, role contract.Role, text string) {
	index := f.Length
	f.Length++
	m := contract.Message{Index: index, Role: role, Turn: f.turn.ID, Text: text, At: workflow.Now(ctx)}
	var length int
	if _, err := fmt.Sscanf(text, "long %d", &length); err == nil {
		ref := blobs.put([]byte(strings.Repeat("x", length)))
		m.Text, m.Body = "xxx", &ref
		m.Calls = []contract.Call{{ID: "c1", Tool: "orders.get", Body: &ref}}
	}
	f.messages = append(f.messages, m)
	end := workflow.Now(ctx)
	f.put(ctx, contract.Part{
		ID: fmt.Sprintf("m%d", index), Kind: contract.KindMessage, Status: contract.PartDone, Turn: f.turn.ID,
		Role: role, Message: &index, Text: text, EndedAt: &end,
	})
}

// roll archives the run and continues as new.
func (f *fakeThread) roll(ctx workflow.Context) error {
	_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
	if f.drain(); f.closing {
		return nil
	}
	var archive contract.Archive
	if f.Archive != nil {
		body, _ := blobs.Get(context.Background(), *f.Archive)
		_ = json.Unmarshal(body, &archive)
	}
	var open, ended []contract.Part
	for _, p := range f.parts {
		if p.EndedAt == nil {
			open = append(open, p)
		} else {
			ended = append(ended, p)
		}
	}
	chunk, _ := json.Marshal(contract.ChunkBody{Messages: f.messages, Parts: ended})
	archive.Chunks = append(archive.Chunks, contract.Chunk{From: f.FirstMessage, To: f.Length, Ref: blobs.put(chunk)})
	body, _ := json.Marshal(archive)
	ref := blobs.put(body)
	// This run still answers for what it holds.
	next := f.fakeCarried
	tail := ended[len(ended)-2:]
	next.Archive, next.FirstMessage, next.FirstSeq, next.Parts = &ref, f.Length, tail[0].Seq, append(open, tail...)
	return workflow.NewContinueAsNewError(ctx, contract.WorkflowType, fakeInput{Start: f.start, Carried: &next})
}

// listen takes what is sent to the thread and answers queries.
func (f *fakeThread) listen(ctx workflow.Context) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	must(workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateSubmit, func(_ workflow.Context, s contract.Submission) (contract.Submitted, error) {
		f.Turns++
		f.Seen[s.ID] = s.Text
		f.Queue = append(f.Queue, s)
		return contract.Submitted{Turn: fmt.Sprintf("t%d", f.Turns)}, nil
	}, workflow.UpdateHandlerOptions{Validator: f.checkSubmission}))
	must(workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateDecide, func(_ workflow.Context, d contract.Decision) (contract.Decided, error) {
		f.decision = &d
		return contract.Decided{Approval: d.Approval, Verdict: d.Verdict}, nil
	}, workflow.UpdateHandlerOptions{Validator: f.checkDecision}))
	must(workflow.SetQueryHandler(ctx, contract.QueryState, func() (contract.State, error) { return f.state(), nil }))
	must(workflow.SetQueryHandler(ctx, contract.QueryTimeline, f.timeline))
	must(workflow.SetQueryHandler(ctx, contract.QueryTranscript, f.transcript))
	must(workflow.SetQueryHandler(ctx, contract.QueryCalls, func(q contract.CallsQuery) (contract.CallsPage, error) {
		// One call per answer, and call c3 is not open.
		return contract.CallsPage{Calls: []contract.Call{{ID: strings.Replace(q.IDs[0], "c3", "c0", 1), Tool: "orders.get"}}}, nil
	}))
	must(workflow.SetQueryHandler(ctx, contract.QueryQueue, func() (contract.QueuePage, error) {
		return contract.QueuePage{Submissions: f.Queue}, nil
	}))
	selector := workflow.NewSelector(ctx)
	selector.AddReceive(workflow.GetSignalChannel(ctx, contract.SignalApproval), func(c workflow.ReceiveChannel, _ bool) {
		var d contract.Decision
		if c.ReceiveAsync(&d) && f.checkDecision(d) == nil {
			f.decision = &d
		}
	})
	selector.AddReceive(workflow.GetSignalChannel(ctx, contract.SignalCancelTurn), func(c workflow.ReceiveChannel, _ bool) {
		f.cancel = c.ReceiveAsync(&contract.CancelTurn{}) || f.cancel
	})
	selector.AddReceive(workflow.GetSignalChannel(ctx, contract.SignalClose), func(c workflow.ReceiveChannel, _ bool) {
		f.closing = c.ReceiveAsync(&contract.Close{}) || f.closing
	})
	f.drain = func() {
		for selector.HasPending() {
			selector.Select(ctx)
		}
	}
	// A Select that is blocked holds what comes until its coroutine runs, and drain
	// would not see it. So it is only called when it does not block.
	workflow.Go(ctx, func(ctx workflow.Context) {
		for workflow.Await(ctx, func() bool { return selector.HasPending() }) == nil {
			selector.Select(ctx)
		}
	})
}

func (f *fakeThread) checkSubmission(s contract.Submission) error {
	refuse := func(code string) error { return temporal.NewApplicationError("refused: "+code, code) }
	text, seen := f.Seen[s.ID]
	switch {
	case f.rolling:
		return refuse(contract.ErrRollingOver)
	case seen && text != s.Text:
		return refuse(contract.ErrSubmissionConflict)
	case len(f.Queue) >= fakeQueue:
		return refuse(contract.ErrQueueFull)
	}
	return nil
}

func (f *fakeThread) checkDecision(d contract.Decision) error {
	switch {
	case f.rolling:
		return temporal.NewApplicationError("come again", contract.ErrRollingOver)
	case f.pending == nil || f.pending.ID != d.Approval:
		return temporal.NewApplicationError("no approval "+d.Approval, contract.ErrUnknownApproval)
	case f.pending.Digest != d.Digest:
		return temporal.NewApplicationError("other digest", contract.ErrDigestMismatch)
	}
	return nil
}

func (f *fakeThread) state() contract.State {
	s := contract.State{
		Start: f.start, Status: contract.StatusIdle, Turn: f.turn, Recent: f.Recent, Messages: f.Length,
		Cursor: f.Seq, FirstRunID: f.info.FirstRunID, Runs: f.Runs,
	}
	for i, q := range f.Queue {
		s.Queue = append(s.Queue, contract.Turn{
			ID: fmt.Sprintf("t%d", f.Turns-len(f.Queue)+i+1), Submission: q.ID, Status: contract.StatusQueued,
		})
	}
	if f.pending != nil {
		s.Pending = []contract.Approval{*f.pending}
	}
	return s
}

func (f *fakeThread) earlier(first int64) contract.Earlier {
	return contract.Earlier{First: first, PreviousRunID: f.info.ContinuedExecutionRunID, Archive: f.Archive}
}

// timeline and transcript answer with small pages, so that readers have to turn
// them.
func (f *fakeThread) timeline(q contract.TimelineQuery) (contract.TimelinePage, error) {
	page := contract.TimelinePage{Cursor: f.Seq, Status: f.state().Status, Earlier: f.earlier(f.FirstSeq)}
	for _, p := range f.parts {
		if p.Seq <= q.After {
			continue
		}
		if len(page.Parts) == 3 {
			page.More, page.Cursor = true, page.Parts[2].Seq
			break
		}
		page.Parts = append(page.Parts, p)
	}
	return page, nil
}

func (f *fakeThread) transcript(q contract.TranscriptQuery) (contract.TranscriptPage, error) {
	page := contract.TranscriptPage{Length: f.Length, Earlier: f.earlier(int64(f.FirstMessage))}
	for _, m := range f.messages {
		if m.Index < q.From || q.To > 0 && m.Index >= q.To {
			continue
		}
		if len(page.Messages) == 3 {
			page.Next = m.Index
			break
		}
		page.Messages = append(page.Messages, m)
	}
	return page, nil
}
