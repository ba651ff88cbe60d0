package contract

import "time"

// The claim of a write is a workflow of its own: it holds the write's idempotency
// key, so that no two attempts act, and in the end its outcome. Backends have no
// business with it; it is named here since both sides of a worker need the names.
const (
	// ClaimType is the workflow type of a claim.
	ClaimType = "WriteClaim"
	// SignalOutcome tells a claim how its write ended.
	SignalOutcome = "outcome"
	// ClaimKept is how long a claim is open at least.
	ClaimKept = 24 * time.Hour
)

// ClaimID returns the workflow id of the claim of an idempotency key.
func ClaimID(key string) string { return "claim/" + key }

// Names of activities that a thread's history has, for those who read it.
const (
	// ModelActivity asks the model for the agent's next message.
	ModelActivity = "ModelTurn"
	// WriteActivity carries out one write.
	WriteActivity = "Write"
)
