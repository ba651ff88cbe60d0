package durability

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
)

// generated is a snippet of reads, writes to what honours keys, caught failures and
// sleeps, alone and several at once, as a seed says.
func generated(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // a test's choice
	n := 0
	one := func() string {
		n++
		switch random.IntN(5) {
		case 0:
			return `test.big({ name: "nan" }).catch((e: any) => e.code)`
		case 1:
			return `sleep(1000).then(() => "slept")`
		case 2:
			return fmt.Sprintf(`test.safe({ name: "w%d" })`, n)
		default:
			return fmt.Sprintf(`test.read({ name: "r%d" })`, n)
		}
	}
	var body strings.Builder
	body.WriteString("const seen: any[] = [];\nconst luck = Math.random() < 2;\n")
	for range 6 {
		if random.IntN(2) == 0 {
			fmt.Fprintf(&body, "seen.push(await %s);\n", one())
			continue
		}
		fmt.Fprintf(&body, "seen.push(await Promise.allSettled([%s, %s, %s]));\n", one(), one(), one())
	}
	body.WriteString("return [luck, seen]")
	return body.String()
}

// playGenerated runs a generated snippet, and approves what it asks.
func playGenerated(t *testing.T, server *testkit.Server, seed uint64, meanwhile func(*bed, int)) (result, effects string) {
	t.Helper()
	b := newCoderBed(t, server)
	turn := b.send(generated(seed))
	over := make(chan struct{})
	go func() {
		defer close(over)
		for n := 0; ; n++ {
			state, err := b.State(b.ctx(), b.start.ThreadRef)
			if err != nil {
				t.Errorf("nobody approves any more: %v", err)
			}
			if err != nil || state.Turn == nil {
				return
			}
			for _, ap := range state.Pending {
				b.approve(ap)
			}
			meanwhile(b, n)
		}
	}()
	answer := b.answer(turn)
	<-over
	if answer.Error != nil {
		t.Errorf("seed %d fails: %s", seed, asJSON(answer))
	}
	return string(answer.Result), b.distinctEffects()
}

// Snippets written at random come to the same when their worker is killed again and
// again.
func TestKillsChangeNoGeneratedSnippet(t *testing.T) {
	server := testkit.DevServer(t)
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			result, effects := playGenerated(t, server, seed, func(*bed, int) {})
			random := rand.New(rand.NewPCG(seed, 4)) //nolint:gosec // a test's choice
			killed, killedEffects := playGenerated(t, server, seed, func(b *bed, n int) {
				if n < 6 && random.IntN(2) == 0 {
					b.restart()
				}
			})
			if result == "" || result != killed || effects != killedEffects {
				t.Errorf("with kills it came to\n%s, effects %s\nand without to\n%s, effects %s\n%s", killed, killedEffects, result, effects, generated(seed))
			}
		})
	}
}
