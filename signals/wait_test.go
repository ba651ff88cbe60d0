package signals_test

import (
	"testing"

	"github.com/heddle-dev/heddle/signals/contract"
)

func TestWaitForAnOldTurn(t *testing.T) {
	b := setUp(t)
	recent := b.say(t, "echo first")
	for i := range contract.RecentTurns {
		word := "echo"
		if i == 4 {
			word = "roll"
		}
		b.say(t, word)
	}
	old, err := b.Wait(within(t), b.ref(), "t1")
	if err != nil {
		t.Fatal(err)
	}
	if old.Answer != recent.Answer || old.Status != recent.Status || old.Steps != recent.Steps || !old.EndedAt.Equal(*recent.EndedAt) {
		t.Errorf("old turn %+v, want %+v", old, recent)
	}
	_, err = b.Wait(within(t), b.ref(), "t99")
	wantCode(t, err, contract.ErrUnknownTurn)
}

func TestWaitForATurnOfAThreadThatIsClosed(t *testing.T) {
	b := setUp(t)
	b.send(t, "hang")
	ended := make(chan contract.Turn)
	go func() {
		turn, err := b.Wait(within(t), b.ref(), "t1")
		if err != nil {
			t.Error(err)
		}
		ended <- turn
	}()
	b.closed(t)
	if turn := <-ended; turn.Status != contract.StatusCancelled {
		t.Errorf("turn %+v", turn)
	}
}
