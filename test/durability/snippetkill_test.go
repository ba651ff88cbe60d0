package durability

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// mixed is a snippet of everything that a kill can hit: reads at once, a failure
// that is caught, a write under way, two approved writes and a denied one, a race
// with a loser, and randomness.
const mixed = `
	const id = crypto.randomUUID();
	const reads = await Promise.all([test.read({ name: "a" }), test.gate({ name: "reads" }), test.read({ name: "b" })]);
	let failed: string;
	try { await test.big({ name: "nan" }); } catch (e) { failed = e.code; }
	const keyed = await test.keyed({ name: "w0" });
	const asked = ["w1", "w2", "w3"].map((name) => test.safe({ name }));
	const settled = await Promise.allSettled(asked);
	const race = await Promise.race([test.gate({ name: "never" }), sleep(20).then(() => "slept")]);
	const last = await test.gate({ name: "last" });
	return {
		id: id.length, reads: reads.map((r) => r.done), failed, keyed: keyed.done, race, last: last.done,
		settled: settled.map((s) => s.status === "fulfilled" ? s.value.done : s.reason.code),
	};`

// mixedResult is what it comes to.
const mixedResult = `{"id":36,"reads":["a","reads","b"],"failed":"tool_failed","keyed":"w0",` +
	`"race":"slept","last":"last","settled":["w1","w2","approval_denied"]}`

// runMixed runs the snippet, with something happening at each of its moments.
func runMixed(t *testing.T, server *testkit.Server, at func(b *bed, moment string)) {
	t.Helper()
	b := newCoderBed(t, server)
	turn := b.send(mixed)
	at(b, "start")
	for _, name := range []string{"reads", "w0"} {
		awaitGate(t, b.worker, name)
		at(b, name)
		openGate(t, b.worker, name)
	}
	for _, ap := range b.pending(3) {
		at(b, "approval")
		if strings.Contains(string(ap.Preview), "w3") {
			b.deny(ap)
		} else {
			b.approve(ap)
		}
	}
	at(b, "decided")
	awaitGate(t, b.worker, "last")
	at(b, "last")
	openGate(t, b.worker, "last")
	if answer := b.answer(turn); string(answer.Result) != mixedResult {
		t.Errorf("told %s\nwant the result %s", asJSON(answer), mixedResult)
	}
	if effects := b.distinctEffects(); effects != "w0 w1 w2" {
		t.Errorf("effects %q, want each once", effects)
	}
}

// distinctEffects are the writes that happened, by name: those of the same key are
// one to a target that honours keys.
func (b *bed) distinctEffects() string {
	b.t.Helper()
	writes := lines(b.t, b.worker, "writes")
	slices.Sort(writes)
	var names []string
	for _, line := range slices.Compact(writes) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestKilledWorkerChangesNoSnippet(t *testing.T) {
	server := testkit.DevServer(t)
	for _, moment := range []string{"none", "start", "reads", "w0", "approval", "decided", "last", "every"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			runMixed(t, server, func(b *bed, now string) {
				if now == moment || moment == "every" {
					b.restart()
				}
			})
		})
	}
}

// The worker is killed again and again while the snippet runs.
func TestRandomKillsChangeNoSnippet(t *testing.T) {
	server := testkit.DevServer(t)
	for range 3 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			stop, stopped := make(chan struct{}), make(chan struct{})
			var begin sync.Once
			runMixed(t, server, func(b *bed, now string) {
				begin.Do(func() { go killing(b, random, stop, stopped) })
				if now == "last" {
					close(stop)
					<-stopped
				}
			})
		})
	}
}

// killing kills the worker at random moments and starts another, eight times at
// most.
func killing(b *bed, random *rand.Rand, stop, stopped chan struct{}) {
	defer close(stopped)
	for range 8 {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(random.IntN(700)) * time.Millisecond):
			b.restart()
		}
	}
}

// A snippet's approvals wait while its other branches go on, and no longer than a
// second for their reads.
func TestApprovalIsAskedWhileASnippetReads(t *testing.T) {
	b := newCoderBed(t, testkit.DevServer(t))
	turn := b.send(`
		const slow = test.gate({ name: "slow" });
		const wrote = test.write({ name: "w" });
		return [(await slow).done, (await wrote).done];`)
	ap := b.pending(1)[0] // while the read is still under way
	b.approve(ap)
	b.until("the write is made", func() bool { return b.effects() == "w" })
	openGate(t, b.worker, "slow")
	if answer := b.answer(turn); string(answer.Result) != `["slow","w"]` {
		t.Errorf("told %s", asJSON(answer))
	}
}

// A cancelled turn ends its snippet: its reads stop and its approval is withdrawn.
func TestCancelledSnippet(t *testing.T) {
	b := newCoderBed(t, testkit.DevServer(t))
	turn := b.send(`await Promise.all([test.gate({ name: "slow" }), test.write({ name: "w" })])`)
	b.pending(1)
	b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn}))
	if ended := b.wait(turn); ended.Status != contract.StatusCancelled {
		t.Errorf("turn = %+v", ended)
	}
	state, err := b.State(b.ctx(), b.start.ThreadRef)
	b.must(err)
	if len(state.Pending) != 0 || b.effects() != "" {
		t.Errorf("state = %+v, effects %q", state, b.effects())
	}
	if answer := b.answer(b.send(`return 1`)); string(answer.Result) != "1" {
		t.Errorf("the next snippet: %s", asJSON(answer))
	}
}
