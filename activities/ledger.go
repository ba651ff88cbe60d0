package activities

import (
	"context"
	"time"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Ledger keeps what is known of a write outside of the thread that makes it: who
// may carry it out, whether it can have left, how it ended. It outlives the
// worker, and a reset of the thread.
type Ledger interface {
	// Claim claims the key of a write for one attempt. Of two attempts that claim
	// the same key, one gets it and the other gets to know of the first. An attempt
	// may take over from an earlier one of the same run: the run makes another only
	// when it knows that the earlier one sent nothing.
	Claim(ctx context.Context, key string, claim Claim) (Claimed, error)
	// Look returns what stands of a key; nil if nothing does.
	Look(ctx context.Context, key string) (*Claimed, error)
	// Record closes a claim with how the write ended.
	Record(ctx context.Context, key, id string, result CallResult) error
	// Release takes a claim back: nothing was applied, and the key may be claimed
	// again.
	Release(ctx context.Context, key, id, reason string) error
	// Beat tells the server that the activity of ctx is alive and, once there is
	// one, its intent. It returns nil only when the server has that. The server
	// refuses it when it has given up on the activity.
	Beat(ctx context.Context, intent *Intent) error
}

// Claim says who carries out a write.
type Claim struct {
	// Thread, Call and Tool say which write it is, for people.
	Thread string `json:"thread"`
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	// Run and Attempt say whose it is.
	Run     string `json:"run"`
	Attempt int    `json:"attempt"`
	// Until is when the call's time is over: from then on nothing more is sent.
	Until time.Time `json:"until"`
}

// Supersedes reports whether an attempt may take over from another.
func (c Claim) Supersedes(other Claim) bool {
	return c.Run == other.Run && c.Attempt > other.Attempt
}

// Claimed is what stands of a key.
type Claimed struct {
	// ID names this claim among those that the key has had.
	ID string
	// Own says that it is the claim that was just made.
	Own   bool
	Claim Claim
	// Result is how the write ended. nil: that is not known (yet).
	Result *CallResult
}

// Intent is what an activity tells the server before it sends a write. Without
// it the write was not sent.
type Intent struct {
	Key string `json:"key"`
	// Until is when the call's time is over.
	Until time.Time `json:"until"`
	contract.Beat
}
