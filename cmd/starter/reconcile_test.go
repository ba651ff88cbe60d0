package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

const orderSpec = `
openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders:
    post:
      operationId: create
      responses: {'201': {description: ok}}
`

// newShopBench is a worker with a tool whose target fails after each write.
func newShopBench(t *testing.T) *bench {
	t.Helper()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(target.Close)
	server := testkit.DevServer(t)
	worker := testkit.StartWorker(t, testkit.Worker{
		Server: server, Binary: testkit.Build(t, "./cmd/worker"),
		Files: map[string]string{"shop.yaml": orderSpec, "script.yaml": `
turns:
  - steps:
      - calls: [{tool: shop.create, input: {}}]
      - text: done
`, "heddle.yaml": fmt.Sprintf(`
task_queue: ${HEDDLE_TASK_QUEUE}
models:
  play: {provider: scripted, script: script.yaml}
agents:
  shop: {instructions: Sell., model: play, tools: [shop.*]}
policy:
  - {tools: [shop.*], effect: allow, without_approval: true}
openapi:
  shop: {spec: shop.yaml, server: %q, allow: [%q], timeout: 8s}
`, target.URL, strings.TrimPrefix(target.URL, "http://"))},
	})
	return benchOf(t, server, worker)
}

// A write of unknown outcome is listed, and answered once.
func TestReconcile(t *testing.T) {
	b := newShopBench(t)
	thread := b.thread()
	b.must(exitOK, "open", thread, "--agent", "shop")
	b.must(exitOK, "send", thread, "sell", "--no-wait")
	var open []signals.Reconciliation
	for end := time.Now().Add(3 * time.Minute); len(open) == 0 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		for _, r := range jsonLines[signals.Reconciliation](t, b.must(exitOK, "reconcile", "list", "--tenant", "acme", "--json")) {
			if r.ThreadRef.String() == thread {
				open = append(open, r)
			}
		}
	}
	if len(open) != 1 || open[0].Key == "" || open[0].Tool != "shop.create" {
		t.Fatalf("open %+v", open)
	}
	id := thread + "/" + open[0].ID
	contains(t, b.must(exitOK, "reconcile", "list"), id, "shop.create", open[0].Key[:8], "http_500")
	contains(t, b.must(exitOK, "state", thread), "whether shop.create was applied", "starter reconcile "+id+" applied|")
	contains(t, b.must(exitOK, "threads", "--pending", "reconciliation"), thread)
	contains(t, b.must(exitFailed, "reconcile", thread+"/nope", "abandon"), contract.ErrUnknownReconciliation)
	contains(t, b.must(exitOK, "reconcile", thread, "applied", "--result", `{"order":7}`, "--comment", "in the books"), "said of "+open[0].ID+": applied")
	contains(t, b.must(exitOK, "watch", thread, "--turn", "t1"), "Applied: shop.create", "found by ann", "in the books")
	contains(t, b.must(exitFailed, "reconcile", id, "abandon"), contract.ErrAlreadyDecided)
	contains(t, b.must(exitFailed, "reconcile", thread, "abandon"), "has no write that a person must find out about")

	contains(t, b.must(exitFailed, "reset", thread, "--to", "t9"), contract.ErrUnknownTurn)
	contains(t, b.must(exitOK, "reset", thread, "--to", "t1", "--reason", "once more"), "it goes on as run", "Of the calls made since then 1 were writes")
}
