package durability

import (
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/testkit"
)

// What a snippet has to stand, on a real server: acceptance_test.go at the root says
// what else there is.
func TestAcceptanceOfSnippets(t *testing.T) {
	server := testkit.DevServer(t)
	want := func(b *bed, turn, result string) told {
		b.t.Helper()
		answer := b.answer(turn)
		if string(answer.Result) != result {
			b.t.Errorf("told %s\nwant the result %s", asJSON(answer), result)
		}
		return answer
	}
	for name, accept := range map[string]func(*bed){
		"Promise.all with a call that waits for approval, and a kill": func(b *bed) {
			turn := b.send(`(await Promise.all([test.read({ name: "a" }), test.write({ name: "w" }), test.free({ name: "f" })])).map((r: any) => r.done)`)
			ap := b.pending(1)[0]
			b.made(1, "test.free")
			b.restart()
			b.approve(ap)
			want(b, turn, `["a","w","f"]`)
			if b.effects() != "f w" {
				b.t.Errorf("effects %q", b.effects())
			}
		},
		"a race whose loser waits for approval, and a kill": func(b *bed) {
			turn := b.send(`
				const winner: any = await Promise.race([test.write({ name: "loser" }), test.free({ name: "f" })]);
				const slow: any = await test.gate({ name: "slow" });
				return [winner.done, slow.done]`)
			awaitGate(b.t, b.worker, "slow")
			b.restart()
			openGate(b.t, b.worker, "slow")
			want(b, turn, `["f","slow"]`)
			if state, err := b.State(b.ctx(), b.start.ThreadRef); err != nil || len(state.Pending) != 0 || b.effects() != "f" {
				b.t.Errorf("pending %+v, effects %q, %v", state.Pending, b.effects(), err)
			}
		},
		"a denied call is caught, and the reason is told": func(b *bed) {
			turn := b.send(`await test.write({ name: "w" }).then(() => "made", (e: any) => [e.code, e.message.includes("too much"), e.effect])`)
			b.deny(b.pending(1)[0])
			want(b, turn, `["approval_denied",true,"none"]`)
		},
		"a result of 300 KB, and a slice of it in the next snippet": func(b *bed) {
			first := b.answer(b.send(`({ text: ((await test.big({ name: "300000" })) as any).done, n: 7 })`))
			if first.Handle == "" || len(first.Outline) == 0 || len(first.Outline) > 20_000 {
				b.t.Fatalf("told a handle %q and an outline of %d bytes", first.Handle, len(first.Outline))
			}
			b.restart()
			want(b, b.send(`const part: any = await tools.result("`+first.Handle+`", { path: "text", offset: 299_990, limit: 100 });
				return [part, (await tools.result("`+first.Handle+`", { path: "n" }))]`), `["xxxxxxxxxx",7]`)
		},
		"a write that the snippet forgot to await is made, and told": func(b *bed) {
			turn := b.send("const forgotten = test.free({ name: \"w\" });\n\"done\"")
			answer := want(b, turn, `"done"`)
			if b.effects() != "w" || answer.Calls["test.free"] != 1 || len(answer.NotAwaited) != 1 || answer.NotAwaited[0].Line != 1 {
				b.t.Errorf("told %s, effects %q", asJSON(answer), b.effects())
			}
		},
		"time that a person takes is not the snippet's": func(b *bed) {
			began := time.Now()
			turn := b.send(`await test.write({ name: "w" }); 1`)
			ap := b.pending(1)[0]
			const thinking = 8 * time.Second
			time.Sleep(thinking)
			b.approve(ap)
			answer := want(b, turn, "1")
			if most := time.Since(began) - thinking; answer.DurationMS > most.Milliseconds() {
				b.t.Errorf("the snippet is said to have taken %d ms, at most %s are its own", answer.DurationMS, most)
			}
		},
		"policy that is tightened while a person is asked": func(b *bed) {
			turn := b.send(`await test.write({ name: "w" }).catch((e: any) => e.code)`)
			ap := b.pending(1)[0]
			b.configure(config + "policy:\n  - {name: frozen, effect: block, tools: [test.write], reason: stock is taken}\n")
			b.approve(ap)
			want(b, turn, `"`+catalog.CodePolicyBlocked+`"`)
			if b.effects() != "" {
				b.t.Errorf("effects %q", b.effects())
			}
		},
		"what is wrong is told before anything is done": func(b *bed) {
			answer := b.answer(b.send(`await test.free({ name: "w" }); await test.wriet({ name: "w" }); await test.read({ nme: 1 }); await test.free({ name: 7 })`))
			if answer.Error == nil || len(answer.Findings) < 3 || b.effects() != "" || !strings.Contains(answer.Error.Message, "nothing of the snippet was carried out") {
				b.t.Errorf("told %s, effects %q", asJSON(answer), b.effects())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			accept(newCoderBed(t, server))
		})
	}
}
