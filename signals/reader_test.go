package signals_test

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestReader(t *testing.T) {
	b := setUp(t)
	b.say(t, "echo 1")
	b.say(t, "roll")
	b.send(t, "hang")
	b.send(t, "echo 2")
	run := currentRun(t, b)
	id := b.ref().WorkflowID()
	r := signals.NewReader(b.temporal, &signals.Options{Archive: blobs})

	messages, err := r.Messages(within(t), id, run, 1, 5)
	if err != nil || len(messages) != 4 || messages[0].Index != 1 || messages[3].Text != "hang" {
		t.Errorf("messages %v, %v", messages, err)
	}
	if messages, err = r.Messages(within(t), id, run, 3, 3); err != nil || messages != nil {
		t.Errorf("no messages: %v, %v", messages, err)
	}
	if _, err := r.Messages(within(t), id, run, 0, 99); err == nil || !strings.Contains(err.Error(), "no more than 5") {
		t.Errorf("too many messages: %v", err)
	}
	parts, err := r.Parts(within(t), id, run)
	if err != nil || len(parts) != 3 || parts[2].Text != "hang" {
		t.Errorf("parts %v, %v, want those of this run that have ended: two that it began with and a message", ids(parts), err)
	}
	queue, err := r.Queue(within(t), id, run)
	if err != nil || len(queue) != 1 || queue[0].Text != "echo 2" {
		t.Errorf("queue %v, %v", queue, err)
	}
	calls, err := r.Calls(within(t), id, run, []string{"c2", "c1"})
	if err != nil || len(calls) != 2 || calls[0].ID != "c2" || calls[1].ID != "c1" {
		t.Errorf("calls %v, %v", calls, err)
	}
	if _, err := r.Calls(within(t), id, run, []string{"c1", "c3"}); err == nil || !strings.Contains(err.Error(), "c3") {
		t.Errorf("a call that is not open: %v", err)
	}
	_, err = r.Queue(within(t), id, "00000000-0000-0000-0000-000000000000")
	wantCode(t, err, contract.ErrUnknownThread)
}

func TestLongMessages(t *testing.T) {
	b := setUp(t)
	b.say(t, "echo long 100000")
	messages, err := b.Transcript(within(t), b.ref(), 1, 0)
	if err != nil || len(messages) != 1 || messages[0].Body == nil || len(messages[0].Text) != 3 {
		t.Errorf("without the archive %v, %v, want a reference", messages, err)
	}
	archived := signals.NewClient(b.temporal, &signals.Options{Archive: blobs})
	messages, err = archived.Transcript(within(t), b.ref(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if m := messages[0]; m.Body != nil || len(m.Text) != 100_000 || m.Calls[0].Body != nil || len(m.Calls[0].Input) != 100_000 {
		t.Errorf("with the archive: text of %d, call input of %d bytes", len(m.Text), len(m.Calls[0].Input))
	}
	empty := signals.NewClient(b.temporal, &signals.Options{Archive: &store{}})
	if _, err := empty.Transcript(within(t), b.ref(), 1, 0); err == nil || !strings.Contains(err.Error(), "message 1") {
		t.Errorf("with an archive that lacks it: %v", err)
	}
}
