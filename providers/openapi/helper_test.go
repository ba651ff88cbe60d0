package openapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// recorded is a request as a server saw it.
type recorded struct {
	*http.Request
	raw  string
	body []byte
}

// service answers with one answer and remembers the requests.
func service(t *testing.T, answer *upstream) (*httptest.Server, *[]recorded) {
	t.Helper()
	var all []recorded
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		all = append(all, recorded{r, r.RequestURI, body})
		if answer == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
			return
		}
		for name, value := range answer.Headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(answer.Status)
		for _, body := range [][]byte{answer.JSON, []byte(answer.Raw), answer.RawBase64} {
			_, _ = w.Write(body)
		}
	}))
	t.Cleanup(server.Close)
	return server, &all
}

var everyone = catalog.Scope{Tenant: "acme", User: "ann", Thread: "t1", Agent: "support", Tools: []string{"*"}}

// newSource makes a source whose calls go to a local server.
func newSource(t *testing.T, o Options, server string) *Source {
	t.Helper()
	o.Namespace = "svc"
	o.Allow = append(o.Allow, "127.0.0.1")
	if o.Server == "" && server != "" {
		o.Server = server
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func newBroker(t *testing.T, s *Source) *catalog.Broker {
	t.Helper()
	b, err := catalog.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// dispatch plans a call and carries it out.
func dispatch(t *testing.T, b *catalog.Broker, tool, input string) (catalog.Plan, catalog.Outcome) {
	t.Helper()
	req := catalog.Request{Tool: tool, Input: json.RawMessage(input), IdempotencyKey: "key-1"}
	plan := b.Plan(t.Context(), everyone, req)
	if plan.Error != nil {
		return plan, catalog.Outcome{Error: plan.Error}
	}
	return plan, b.Dispatch(t.Context(), everyone, req, plan)
}
