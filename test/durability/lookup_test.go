package durability

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// shop is an HTTP service, and a server of the Model Context Protocol, that takes
// orders and keeps them by their idempotency key. They can be cancelled.
type shop struct {
	*httptest.Server
	mu sync.Mutex
	// orders are those taken, by key; sent are the keys of all writes, and done what
	// they did.
	orders map[string]ordered
	sent   []string
	done   []string
	// lose says how the next writes go wrong: the order is "taken" and the answer a
	// fault, or it is "dropped" and the answer a fault.
	lose []string
	// closed makes reads fail.
	closed bool
}

// ordered is an order that was taken. One that is for nameless has no id.
type ordered struct {
	ID   string `json:"id,omitempty"`
	Note string `json:"note"`
}

func newShop(t *testing.T) *shop {
	s := &shop{orders: map[string]ordered{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var order struct{ Note string }
		_ = json.NewDecoder(r.Body).Decode(&order)
		text, ok := s.take(r.Header.Get("Idempotency-Key"), order.Note)
		if !ok {
			http.Error(w, "{}", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, text)
	})
	mux.HandleFunc("DELETE /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.cancel(r.Header.Get("Idempotency-Key"), "shop", r.PathValue("id"))
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /orders", func(w http.ResponseWriter, r *http.Request) {
		text, open := s.find(r.URL.Query().Get("reference"))
		if !open {
			http.Error(w, "{}", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	})
	mux.HandleFunc("/mcp", s.mcp)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// take takes an order, or fails in the way that is next.
func (s *shop) take(key, note string) (text string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, key)
	how := ""
	if len(s.lose) > 0 {
		how, s.lose = s.lose[0], s.lose[1:]
	}
	if how != "dropped" {
		o := ordered{Note: note}
		if note != "nameless" {
			o.ID = fmt.Sprintf("o%d", len(s.orders)+1)
		}
		s.orders[key], s.done = o, append(s.done, note)
	}
	encoded, _ := json.Marshal(s.orders[key])
	return string(encoded), how == ""
}

// cancel cancels an order.
func (s *shop) cancel(key, by, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent, s.done = append(s.sent, key), append(s.done, by+" cancels "+id)
}

// find lists the orders of a key.
func (s *shop) find(key string) (text string, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []any{}
	if o, taken := s.orders[key]; taken {
		o.Note += " (looked up)"
		items = append(items, o)
	}
	encoded, _ := json.Marshal(map[string]any{"items": items})
	return string(encoded), !s.closed
}

// mcp answers the protocol with the tools take, find and drop.
func (s *shop) mcp(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name      string
			Arguments map[string]string
			Meta      map[string]any `json:"_meta"`
		}
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || len(m.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := `{}`
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"1"}}`
	case "tools/list":
		text := func(name string) string {
			return fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q]}`, name, name)
		}
		result = fmt.Sprintf(`{"tools":[{"name":"take","inputSchema":%s},{"name":"find","inputSchema":%s},{"name":"drop","inputSchema":%s}]}`,
			text("note"), text("reference"), text("id"))
	case "tools/call":
		if m.Params.Name == "find" {
			text, _ := s.find(m.Params.Arguments["reference"])
			result = `{"content":[],"structuredContent":` + text + `}`
			break
		}
		key, _ := m.Params.Meta["dev.heddle/idempotency-key"].(string)
		if m.Params.Name == "drop" {
			s.cancel(key, "desk", m.Params.Arguments["id"])
			result = `{"content":[]}`
			break
		}
		text, ok := s.take(key, m.Params.Arguments["note"])
		if !ok {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		result = `{"content":[],"structuredContent":` + text + `}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

const shopSpec = `
openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders:
    get:
      operationId: list
      parameters: [{name: reference, in: query, schema: {type: string}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}
    post:
      operationId: create
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {note: {type: string}}}}}}
      responses: {'201': {description: ok, content: {application/json: {schema: {type: object}}}}}
  /orders/{id}:
    delete:
      operationId: cancel
      parameters: [{name: id, in: path, required: true, schema: {type: string, minLength: 1}}]
      responses: {'204': {description: ok}}
`

// shopConfig has the shop as a service and as a server. The calls are short, since
// that nothing was applied holds when their time is over, and longer than a machine
// stands still.
func shopConfig(url string) string {
	host := strings.TrimPrefix(url, "http://")
	return strings.ReplaceAll(strings.ReplaceAll(`
task_queue: ${HEDDLE_TASK_QUEUE}
sandbox: `+sandboxMode+`
agents:
  tester:
    instructions: Do what the user says.
    model: play
    tools: [shop.create, shop.cancel, desk.take, desk.drop]
policy:
  - {tools: [shop.create, desk.take], effect: allow, without_approval: true}
openapi:
  shop:
    spec: shop.yaml
    server: URL
    allow: [HOST]
    timeout: 15s
    reconcile:
      shop.create:
        read: shop.list
        input: {reference: key}
        applied: size(output.items) > 0
        result: output.items[0]
    undo:
      shop.create: {tool: shop.cancel, input: {id: result.id}}
mcp:
  desk:
    url: URL/mcp
    allow: [HOST]
    timeout: 15s
    tools: {find: read}
    reconcile:
      desk.take:
        read: desk.find
        input: {reference: key}
        applied: size(output.items) > 0
        result: output.items[0]
    undo:
      desk.take: {tool: desk.drop, input: {id: result.id}}
`, "URL", url), "HOST", host)
}

// What became of a write is looked up where heddle.yaml says so, by a tool that the
// agent itself may not use.
func TestDeclaredLookups(t *testing.T) {
	server := testkit.DevServer(t)
	for name, call := range map[string]struct{ script, tool string }{
		"service": {`shop.create:{"body":{"note":"mug"}}|say:done`, "shop.create"},
		"server":  {`desk.take:{"note":"mug"}|say:done`, "desk.take"},
	} {
		for how, test := range map[string]struct {
			lose   []string
			told   string
			writes int
		}{
			"taken":   {[]string{"taken"}, `{"id":"o1","note":"mug (looked up)"}`, 1},
			"dropped": {[]string{"dropped"}, `{"id":"o1","note":"mug"}`, 2},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				shop := newShop(t)
				shop.lose = test.lose
				b := newBedOf(t, server, map[string]string{"heddle.yaml": shopConfig(shop.URL), "shop.yaml": shopSpec})
				turn := b.send(call.script)
				if ended := b.wait(turn); ended.Status != contract.StatusCompleted {
					t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
				}
				if text, problem := b.told(call.tool); text != test.told || problem != nil {
					t.Errorf("the agent was told %s, %v, want %s", text, problem, test.told)
				}
				if len(shop.sent) != test.writes || len(shop.orders) != 1 || shop.sent[0] == "" {
					t.Errorf("sent %v, orders %v", shop.sent, shop.orders)
				}
				for _, key := range shop.sent {
					if key != shop.sent[0] {
						t.Errorf("two keys: %v", shop.sent)
					}
				}
			})
		}
	}
}
