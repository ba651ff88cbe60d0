package durability

import (
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Writes of a service and of a server are undone where heddle.yaml says so, in
// reverse, each by a tool of its source after an approval of its own. One whose result
// does not say enough is left, and so said.
func TestDeclaredUndo(t *testing.T) {
	shop := newShop(t)
	b := newBedOf(t, testkit.DevServer(t), map[string]string{"heddle.yaml": shopConfig(shop.URL), "shop.yaml": shopSpec})
	b.wait(b.send(`shop.create:{"body":{"note":"mug"}} desk.take:{"note":"pen"} shop.create:{"body":{"note":"nameless"}} desk.take:{"note":"cup"}|say:done`))
	undo := b.undo("t1")
	for _, want := range []struct{ tool, id string }{{"desk.drop", "o4"}, {"desk.drop", "o2"}, {"shop.cancel", "o1"}} {
		asked := b.pending(1)[0]
		if asked.Tool != want.tool || string(asked.Preview) != `{"id":"`+want.id+`"}` {
			t.Errorf("asked about %s %s, want %s of %s", asked.Tool, asked.Preview, want.tool, want.id)
		}
		b.approve(asked)
		b.done(asked.Call)
	}
	const want = "Undone: desk.take (t1-s1-c4), desk.take (t1-s1-c2), shop.create (t1-s1-c1). " +
		"Not undone: shop.create (t1-s1-c3): the tool could not say how: input.id: no such key: id."
	if ended := b.wait(undo); ended.Status != contract.StatusCompleted || ended.Answer != want {
		t.Errorf("the undo %+v, problem %v", ended, ended.Problem)
	}
	shop.mu.Lock()
	defer shop.mu.Unlock()
	if did := strings.Join(shop.done, ", "); did != "mug, pen, nameless, cup, desk cancels o4, desk cancels o2, shop cancels o1" {
		t.Errorf("the shop did: %s", did)
	}
	slices.Sort(shop.sent)
	if len(shop.sent) != 7 || len(slices.Compact(shop.sent)) != 7 {
		t.Errorf("keys %q, want seven", shop.sent)
	}
}

// A write of which it had to be found out that it was applied is undone like any other.
func TestFoundWriteIsUndone(t *testing.T) {
	shop := newShop(t)
	shop.lose = []string{"taken"}
	b := newBedOf(t, testkit.DevServer(t), map[string]string{"heddle.yaml": shopConfig(shop.URL), "shop.yaml": shopSpec})
	b.wait(b.send(`shop.create:{"body":{"note":"mug"}}|say:done`))
	undo := b.undo("t1")
	b.approve(b.pending(1)[0])
	if ended := b.wait(undo); ended.Answer != "Undone: shop.create (t1-s1-c1)." || strings.Join(shop.done, ", ") != "mug, shop cancels o1" {
		t.Errorf("the undo %+v, problem %v; the shop did %q", ended, ended.Problem, shop.done)
	}
}
