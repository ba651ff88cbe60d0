package signals_test

import (
	"testing"

	"github.com/heddle-dev/heddle/signals/contract"
)

// What cannot be right is refused before anything is sent.
func TestAnswersThatCannotBe(t *testing.T) {
	b := setUp(t)
	long := make([]byte, contract.MaxAnswer+1)
	for _, answer := range []contract.Answer{{}, {Question: "q/1"}, {Question: "q", Content: long}} {
		_, err := b.Answer(within(t), b.ref(), answer)
		wantCode(t, err, contract.ErrInvalid)
	}
	_, err := b.Decline(within(t), b.ref(), contract.Answer{Question: "q", Content: []byte("{}")})
	wantCode(t, err, contract.ErrInvalid)
	_, err = b.Answer(within(t), contract.ThreadRef{}, contract.Answer{Question: "q"})
	wantCode(t, err, contract.ErrInvalid)
}
