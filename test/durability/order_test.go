package durability

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
)

// Writes are made in the order in which they were asked for, among those that may be
// made: one that waits for a person holds up no other, whichever branch it is in.
func TestWritesAreMadeInTheOrderOfTheirIssue(t *testing.T) {
	server := testkit.DevServer(t)
	const snippet = `
		await Promise.all([
			test.write({ name: "asked" }),
			(async () => { await test.free({ name: "a1" }); await test.free({ name: "a2" }); })(),
			test.free({ name: "b1" }),
			tools.batch({ calls: ["c1", "c2", "c3"].map((name) => ({ id: "test.free", input: { name } })) }),
		]);
		await test.free({ name: "end" });`
	for name, test := range map[string]struct {
		bed                    func(*testing.T, *testkit.Server) *bed
		message, before, after string
	}{
		"writes_in_order":         {newBed, "write:asked free:a free:b free:c|say:done", "a b c", "a b c asked"},
		"snippet_writes_in_order": {newCoderBed, snippet, "a1 b1 c1 c2 c3 a2", "a1 b1 c1 c2 c3 a2 asked end"},
	} {
		t.Run(name, func(t *testing.T) {
			b := test.bed(t, server)
			turn := b.send(test.message)
			ask := b.pending(1)[0]
			b.made(len(strings.Fields(test.before)), "test.free")
			if got := b.writes(); got != test.before {
				t.Fatalf("while a person is asked the effects are %q, want %q", got, test.before)
			}
			b.restart()
			b.approve(ask)
			b.wait(turn)
			if got := b.writes(); got != test.after {
				t.Errorf("effects %q, want %q", got, test.after)
			}
			b.replay(name, "")
		})
	}
}
