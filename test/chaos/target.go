package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// target is the service that threads write to. What it is asked for and what it
// applies stands in its database.
type target struct {
	records *records
	seed    uint64
}

// targetReady is what a target prints once it takes requests.
const targetReady = "target ready"

// runTarget runs a target until SIGTERM.
func runTarget(address, database string, seed uint64) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	records, err := openRecords(ctx, database)
	if err != nil {
		return err
	}
	defer records.Close()
	if err := records.started(ctx); err != nil {
		return err
	}
	t := &target{records, seed}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /things/{thread}/{intent}", t.read)
	mux.HandleFunc("POST /plain/{thread}/{intent}", func(w http.ResponseWriter, r *http.Request) { t.write(w, r, false) })
	mux.HandleFunc("POST /keyed/{thread}/{intent}", func(w http.ResponseWriter, r *http.Request) { t.write(w, r, true) })
	mux.HandleFunc("GET /effects/{key}", t.find)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Fprintln(os.Stderr, targetReady)
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// answer is what the target says of a thread's intent.
type answer struct {
	Thread string `json:"thread"`
	Intent string `json:"intent"`
	// Effect is the number of the effect, for a write.
	Effect int64 `json:"effect,omitempty"`
}

// status is what the target says of a key.
type status struct {
	// Pending says that a request under it is being carried out.
	Pending bool `json:"pending"`
	// Applied is the effect, if there is one.
	Applied *answer `json:"applied,omitempty"`
}

func (t *target) read(w http.ResponseWriter, r *http.Request) {
	thread, intent := r.PathValue("thread"), r.PathValue("intent")
	if t.misread(w, thread, intent) {
		respond(w, answer{Thread: thread, Intent: intent})
	}
}

// find says what was done under a key. What is being done is looked for first: what
// ends meanwhile is then seen at least once.
func (t *target) find(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	found := status{Pending: t.records.pending(key)}
	var err error
	if found.Applied, err = t.records.applied(r.Context(), key); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if t.misread(w, "key", key) {
		respond(w, found)
	}
}

// misread lets a read meet a fault, and reports whether it can be answered still.
func (t *target) misread(w http.ResponseWriter, of ...string) bool {
	try := t.records.try(strings.Join(of, "/"))
	random := dice(t.seed, append(of, "read", try)...)
	switch readOdds.draw(random) {
	case faultDelay:
		t.delay(random)
	case faultDropBefore:
		drop(w, nil)
		return false
	case faultErrorBefore:
		http.Error(w, "out of order", http.StatusServiceUnavailable)
		return false
	}
	return true
}

// write applies a write, or not, and answers, or not. Who asked may have gone: a
// request that has come is carried out.
func (t *target) write(w http.ResponseWriter, r *http.Request, honoursKeys bool) {
	q := request{Key: r.Header.Get("Idempotency-Key"), Thread: r.PathValue("thread"), Intent: r.PathValue("intent")}
	ctx := context.WithoutCancel(r.Context())
	random := dice(t.seed, "write", q.Thread, q.Intent, t.records.try(q.Thread+"/"+q.Intent))
	q.Fault = writeOdds.draw(random)
	defer t.records.begin(q.Key)()
	leave, err := t.records.enter(ctx, r.URL.Query().Get("account"), q)
	if err != nil {
		http.Error(w, "cannot record the request: "+err.Error(), http.StatusInternalServerError)
		return
	}
	defer leave()
	id, err := t.records.arrived(ctx, q)
	if err != nil {
		http.Error(w, "cannot record the request: "+err.Error(), http.StatusInternalServerError)
		return
	}
	switch q.Fault {
	case faultDelay:
		t.delay(random)
	case faultLate:
		time.Sleep(lateBy)
	case faultDropBefore:
		drop(w, nil)
		return
	case faultErrorBefore:
		http.Error(w, "out of order", http.StatusServiceUnavailable)
		return
	case faultRefuse:
		http.Error(w, "refused", http.StatusUnprocessableEntity)
		return
	}
	effect, err := t.records.apply(ctx, id, q, honoursKeys)
	if err != nil {
		http.Error(w, "cannot apply: "+err.Error(), http.StatusInternalServerError)
		return
	}
	body := answer{q.Thread, q.Intent, effect}
	switch q.Fault {
	case faultDropAfter:
		drop(w, nil)
	case faultCut:
		drop(w, raw(body)[:len(raw(body))-4])
	case faultErrorAfter:
		http.Error(w, "out of order, though applied", http.StatusInternalServerError)
	case faultTwice:
		drop(w, append(raw(body), raw(body)...))
	default:
		respond(w, body)
	}
}

// delay takes up to a second and a half.
func (t *target) delay(random interface{ IntN(int) int }) {
	time.Sleep(time.Duration(50+random.IntN(1450)) * time.Millisecond)
}

func respond(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // who asked may be gone
}

// raw is a whole answer as it goes over the wire.
func raw(body answer) []byte {
	text, _ := json.Marshal(body)
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
}

// drop sends bytes as they are and ends the connection: in order after some bytes,
// with a reset after none.
func drop(w http.ResponseWriter, bytes []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	if tcp, ok := conn.(*net.TCPConn); ok && bytes == nil {
		_ = tcp.SetLinger(0)
	}
	_, _ = conn.Write(bytes)
}
