package main

import (
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"time"
)

// fault is how the target misbehaves at one request.
type fault string

const (
	faultNone fault = ""
	// faultDelay: it takes its time.
	faultDelay fault = "delay"
	// faultLate: it takes longer than any tool waits, and applies the write then.
	faultLate fault = "late"
	// faultDropBefore: it drops the connection and applies nothing.
	faultDropBefore fault = "drop_before"
	// faultDropAfter: it applies the write and drops the connection.
	faultDropAfter fault = "drop_after"
	// faultCut: it applies the write and drops the connection within its answer.
	faultCut fault = "cut"
	// faultErrorBefore: it answers 503 and applies nothing.
	faultErrorBefore fault = "error_before"
	// faultErrorAfter: it applies the write and answers 500.
	faultErrorAfter fault = "error_after"
	// faultTwice: it applies the write and sends its answer twice.
	faultTwice fault = "twice"
	// faultRefuse: it answers 422 and applies nothing.
	faultRefuse fault = "refuse"
)

// lateBy is how long [faultLate] takes: longer than [toolTimeout].
const lateBy = toolTimeout + 3*time.Second

// odds are how many of a hundred requests meet a fault.
type odds []struct {
	fault fault
	of    int
}

var (
	writeOdds = odds{
		{faultDelay, 10},
		{faultLate, 1},
		{faultDropBefore, 4},
		{faultDropAfter, 6},
		{faultCut, 2},
		{faultErrorBefore, 2},
		{faultErrorAfter, 6},
		{faultTwice, 4},
		{faultRefuse, 3},
	}
	readOdds = odds{
		{faultDelay, 10},
		{faultDropBefore, 4},
		{faultErrorBefore, 4},
	}
)

// draw chooses a fault.
func (o odds) draw(random *rand.Rand) fault {
	n := random.IntN(100)
	for _, one := range o {
		if n < one.of {
			return one.fault
		}
		n -= one.of
	}
	return faultNone
}

// dice are dice that fall the same for the same seed and words.
func dice(seed uint64, words ...string) *rand.Rand {
	h := fnv.New64a()
	for _, word := range words {
		_, _ = h.Write([]byte(strconv.Itoa(len(word)) + ":" + word))
	}
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
