package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// The lock of a resource key is a workflow of its own: it has one write after the
// other work on what the key names, over all threads of a tenant. Backends have no
// business with it, but may ask it who has it; workers speak to it.
const (
	// LockType is the workflow type of a lock.
	LockType = "ResourceLock"
	// UpdateAcquire takes a [LockOwner] and answers with a [LockAnswer] at once. Sent
	// again, it finds the place that the owner has.
	UpdateAcquire = "acquire"
	// SignalRelease takes a [LockOwner]: it has, or waits for, the lock no longer.
	SignalRelease = "release"
	// SignalHold takes a [LockOwner] that has the lock: nobody knows whether its write
	// was applied, and until it releases the lock, others are refused.
	SignalHold = "hold"
	// SignalLock takes a [LockNotice]. It is a signal of a thread.
	SignalLock = "lock"
	// QueryLock takes nothing and answers with a [LockState].
	QueryLock = "lock"
	// LockLease is how long an owner has the lock before it is asked after.
	LockLease = 30 * time.Second
	// MaxLockQueue bounds the writes that wait for one resource.
	MaxLockQueue = 1000
)

// LockID returns the workflow id of the lock of a tenant's resource. The resource
// is digested: a workflow's id is never encrypted.
func LockID(tenant, resource string) string {
	sum := sha256.Sum256([]byte(resource))
	return "lock/" + tenant + "/" + hex.EncodeToString(sum[:16])
}

// LockOwner is a write that has a lock or waits for it.
type LockOwner struct {
	// Key is the idempotency key of the write, and tells owners apart.
	Key string `json:"key"`
	ThreadRef
	// Call and Tool say for people which write it is.
	Call string `json:"call"`
	Tool string `json:"tool"`
	// Since is when it got the lock or, of one that waits, began to wait. The lock
	// sets it.
	Since time.Time `json:"since,omitzero"`
}

// Validate names the first field that is wrong.
func (o LockOwner) Validate() error {
	if err := validID("key", o.Key, 64); err != nil {
		return err
	}
	if err := o.ThreadRef.Validate(); err != nil {
		return err
	}
	if err := validText("call", o.Call, 256); err != nil {
		return err
	}
	return validText("tool", o.Tool, 256)
}

// LockStatus is how a write stands to a lock.
type LockStatus string

// The ways to stand to a lock.
const (
	LockGranted LockStatus = "granted"
	LockWaiting LockStatus = "waiting"
	// LockRefused: nobody knows whether the holder's write was applied.
	LockRefused LockStatus = "refused"
)

// LockAnswer says how an owner stands to the lock.
type LockAnswer struct {
	Status LockStatus `json:"status"`
	// Lock says who has it, to those who do not.
	Lock *Lock `json:"lock,omitempty"`
}

// LockNotice tells a thread that a write of its stands otherwise to a lock.
type LockNotice struct {
	LockAnswer
	// Key is that of the write, Resource what it waited for.
	Key      string `json:"key"`
	Resource string `json:"resource"`
}

// Lock says of a write that waits who has what it waits for.
type Lock struct {
	Resource string `json:"resource"`
	// Holder is the thread that has it, as <tenant>/<thread>; Call and Tool say by
	// which write, Since when it got it.
	Holder string    `json:"holder"`
	Call   string    `json:"call"`
	Tool   string    `json:"tool"`
	Since  time.Time `json:"since"`
	// Ahead is how many others wait before this one.
	Ahead int `json:"ahead,omitempty"`
}

// String says it in words.
func (l Lock) String() string {
	return fmt.Sprintf("%s is taken by %s of thread %s since %s",
		l.Resource, l.Tool, l.Holder, l.Since.UTC().Format(time.RFC3339))
}

// LockState answers the query for a lock.
type LockState struct {
	Resource string `json:"resource"`
	// Holder is who has the lock. Unknown says that nobody knows whether its write
	// was applied.
	Holder  *LockOwner `json:"holder,omitempty"`
	Unknown bool       `json:"unknown,omitempty"`
	// Queue are those who wait, in the order in which they came.
	Queue []LockOwner `json:"queue,omitempty"`
}
