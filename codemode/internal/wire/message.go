package wire

import "github.com/heddle-dev/heddle/codemode/snippet"

// Request is a message to a child. One field is set.
type Request struct {
	// Start begins an execution, in place of the one before. Answered by a Reply.
	Start *snippet.Program `json:"start,omitempty"`
	// Deliver gives outcomes of calls, one after the other, at most MaxBatch. Answered by a
	// Reply with a step for each that was given.
	Deliver []snippet.Delivery `json:"deliver,omitempty"`
	// Close drops the execution. Not answered.
	Close bool `json:"close,omitempty"`
}

// MaxBatch is how many outcomes are given, and so how many steps told, at once.
const MaxBatch = 64

// InterruptFD is the file descriptor at which a child is sent each [Interrupt]: a
// pipe of its own, so that a request need not be waited for in two places. When it
// is closed, so is the child, whatever it is doing.
const InterruptFD = 3

// Interrupt ends the execution that is in its n-th step since the child started,
// counting each Start and Deliver, with an error of that code. One that comes
// too late is ignored.
type Interrupt struct {
	Step uint64 `json:"step"`
	Code string `json:"code"`
}

// Reply is a message from a child. One field is set.
type Reply struct {
	// Ready is the first message of a child.
	Ready *Ready         `json:"ready,omitempty"`
	Steps []snippet.Step `json:"steps,omitempty"`
	// Divergence says that the journal does not fit what the snippet did.
	Divergence *Divergence `json:"divergence,omitempty"`
	// Invalid says why a program was refused.
	Invalid string `json:"invalid,omitempty"`
}

// Ready says what a child is and how well it has locked itself in.
type Ready struct {
	Version int `json:"version"`
	// Missing names the protections that are not in force.
	Missing []string `json:"missing,omitempty"`
}

// Divergence is the first place where journal and execution part.
type Divergence struct {
	// Recorded is the call of the journal, nil where it has none.
	Recorded *snippet.Record `json:"recorded,omitempty"`
	// Made is the call that was made, nil where none was.
	Made *snippet.Call `json:"made,omitempty"`
	// Problem says what does not fit.
	Problem string `json:"problem"`
}

// Setup is what a child is told when it starts, as its second argument.
type Setup struct {
	// Data is the limit of its private memory, in bytes.
	Data uint64 `json:"data"`
	// CPUSeconds is the limit of its processor time over its whole life.
	CPUSeconds uint64 `json:"cpuSeconds"`
}
