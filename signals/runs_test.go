package signals_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// A thread of several runs reads as one, by the archive and by asking its runs,
// from every cursor.
func TestThreadOfSeveralRuns(t *testing.T) {
	b := setUp(t)
	done := make(chan []contract.Part)
	go func() {
		waitUntilOpen(t, b)
		done <- watched(t, b.Client, b.ref(), 0, never)
	}()
	var want []string
	for i := range 3 {
		for j := range 2 {
			text := fmt.Sprintf("%d %d", i, j)
			word := "echo "
			if j == 1 {
				word = "roll "
			}
			if turn := b.say(t, word+text); turn.Answer != text {
				t.Errorf("turn %+v", turn)
			}
			want = append(want, word+text, text)
		}
	}
	b.closed(t)
	live := <-done

	archived := signals.NewClient(b.temporal, &signals.Options{Archive: blobs})
	all := watched(t, b.Client, b.ref(), 0, never)
	for name, c := range map[string]*signals.Client{"runs": b.Client, "archive": archived} {
		messages, err := c.Transcript(within(t), b.ref(), 0, 0)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, m := range messages {
			got = append(got, m.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: transcript %q, want %q", name, got, want)
		}
		for from := 0; from <= len(want); from += 3 {
			slice, err := c.Transcript(within(t), b.ref(), from, min(from+4, len(want)))
			if err != nil || len(slice) != min(4, len(want)-from) || len(slice) > 0 && slice[0].Index != from {
				t.Errorf("%s: transcript from %d: %v, %v", name, from, slice, err)
			}
		}
		for cursor := int64(0); cursor <= all[len(all)-1].Seq; cursor += 5 {
			got := watched(t, c, b.ref(), cursor, never)
			after := slices.IndexFunc(all, func(p contract.Part) bool { return p.Seq > cursor })
			if after < 0 {
				after = len(all)
			}
			if !slices.Equal(ids(got), ids(all[after:])) {
				t.Errorf("%s: watch from %d: %v, want %v", name, cursor, ids(got), ids(all[after:]))
			}
		}
	}
	// Who watched all along has seen at least the last revision of each.
	for _, part := range all {
		if !slices.ContainsFunc(live, func(p contract.Part) bool { return p.ID == part.ID && p.Seq == part.Seq }) {
			t.Errorf("the live watcher missed %s at %d", part.ID, part.Seq)
		}
	}
}

// What an earlier run held is gone when the server forgets the run, unless there
// is the archive.
func TestForgottenRun(t *testing.T) {
	b := setUp(t)
	first := currentRun(t, b)
	b.say(t, "roll away")
	b.say(t, "echo still here")
	after := intercept(b.temporal, func(query *workflowservice.QueryWorkflowRequest) error {
		if query.GetExecution().GetRunId() == first {
			return serviceerror.NewNotFound("workflow execution not found")
		}
		return nil
	})
	c := signals.NewClient(after, nil)
	_, err := c.Transcript(within(t), b.ref(), 0, 0)
	wantCode(t, err, contract.ErrForgotten)
	wantCode(t, lastError(c.Watch(within(t), b.ref(), 0)), contract.ErrForgotten)
	if messages, err := c.Transcript(within(t), b.ref(), 2, 0); err != nil || len(messages) != 2 {
		t.Errorf("transcript from 2: %v, %v", messages, err)
	}
	c = signals.NewClient(after, &signals.Options{Archive: blobs})
	if messages, err := c.Transcript(within(t), b.ref(), 0, 0); err != nil || len(messages) != 4 {
		t.Errorf("transcript with the archive: %v, %v", messages, err)
	}
}

// Messages that arrive while the thread continues as new find the next run.
func TestSendWhileRollingOver(t *testing.T) {
	b := setUp(t)
	b.send(t, "roll")
	var all sync.WaitGroup
	turns := make([]string, 8)
	for i := range turns {
		all.Go(func() {
			sent, err := b.Send(within(t), b.start, contract.Submission{ID: fmt.Sprint("m", i), Text: "roll"})
			if err != nil {
				t.Error(err)
			}
			turns[i] = sent.Turn
		})
	}
	all.Wait()
	slices.Sort(turns)
	if len(slices.Compact(turns)) != 8 {
		t.Errorf("turns %v, want each its own", turns)
	}
	if turn, err := b.Wait(within(t), b.ref(), "t9"); err != nil || turn.Status != contract.StatusCompleted {
		t.Errorf("last turn %+v, %v", turn, err)
	}
}
