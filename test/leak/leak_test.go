package leak

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

const masterKey = "k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// canary is a value that every encoding writes otherwise.
func canary(name string) string {
	var random [9]byte
	_, _ = rand.Read(random[:]) // never fails
	part := func(i int) string { return hex.EncodeToString(random[3*i : 3*i+3]) }
	return fmt.Sprintf(`%s-%s ~>?/+ %s"q"&<x%%41>\%s`, name, part(0), part(1), part(2))
}

// folder is that of a worker's files, which exist before it starts.
type folder struct {
	t   *testing.T
	dir string
}

// store opens a store, puts a secret into it and closes it.
func (f folder) store(l secrets.Location, key secrets.Key, value string) {
	f.t.Helper()
	store, err := secrets.Open(l, &secrets.Redactor{})
	if err != nil {
		f.t.Fatal(err)
	}
	defer store.Close()
	if err := store.Put(f.t.Context(), key, secrets.Item{Value: []byte(value)}); err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

// bed is a worker and its threads.
type bed struct {
	*signals.Client
	t      *testing.T
	worker *testkit.WorkerProcess
}

func newBed(t *testing.T, server *testkit.Server, w testkit.Worker) *bed {
	t.Helper()
	w.Server = server
	b := &bed{t: t, worker: testkit.StartWorker(t, w)}
	b.Client = signals.NewClient(server.Client(t), &signals.Options{TaskQueue: b.worker.TaskQueue})
	return b
}

func (b *bed) ctx() context.Context {
	ctx, cancel := context.WithTimeout(b.t.Context(), 4*time.Minute)
	b.t.Cleanup(cancel)
	return ctx
}

// ask has a thread's agent do what a text says, and returns its answer.
func (b *bed) ask(start contract.Start, text string) string {
	b.t.Helper()
	sent, err := b.Send(b.ctx(), start, contract.Submission{Text: text})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.answer(start, sent.Turn)
}

// answer waits for the end of a turn and returns its answer.
func (b *bed) answer(start contract.Start, turn string) string {
	b.t.Helper()
	ended, err := b.Wait(b.ctx(), start.ThreadRef, turn)
	if err != nil {
		b.t.Fatal(err)
	}
	if ended.Status != contract.StatusCompleted {
		b.t.Fatalf("turn %+v, problem %v", ended, ended.Problem)
	}
	messages, err := b.Transcript(b.ctx(), start.ThreadRef, *ended.AnswerIndex, *ended.AnswerIndex+1)
	if err != nil || len(messages) == 0 {
		b.t.Fatalf("%d messages, %v", len(messages), err)
	}
	return messages[0].Text
}

// calls is a message that has the model make calls.
func calls(all ...call) string {
	doc, _ := json.Marshal(all)
	return string(doc)
}

func to(tool string, input map[string]string) call {
	if input == nil {
		input = map[string]string{}
	}
	doc, _ := json.Marshal(input)
	return call{tool, doc}
}

// hostileCalls are all ways in which the tools give the canaries away.
func hostileCalls(refs []string) [][]call {
	var all []call
	for i, ref := range refs {
		all = append(all, to("evil.give", map[string]string{"ref": ref}), to("evil.write", map[string]string{"ref": ref}),
			to("evil.piece", map[string]string{"ref": ref, "how": "long"}))
		for j, how := range ways() {
			in := map[string]string{"ref": ref, "how": how}
			all = append(all, to("evil.piece", in))
			all = append(all, to([]string{"evil.fail", "evil.panic", "evil.lose"}[(i+j)%3], in))
		}
	}
	for _, how := range ways() {
		in := map[string]string{"how": how}
		all = append(all, to("http.text", in), to("http.fail", in), to("mcp.piece", in), to("mcp.fail", in), to("mcp.refuse", in))
	}
	for _, tool := range []string{"http.give", "http.redirect", "http.broken", "mcp.give", "evil.environ"} {
		all = append(all, to(tool, nil))
	}
	const atOnce = 60
	var turns [][]call
	for len(all) > 0 {
		n := min(atOnce, len(all))
		turns, all = append(turns, all[:n]), all[n:]
	}
	return turns
}

// hostileSnippet makes the calls from a snippet, which tries to put pieces together.
func hostileSnippet(all []call) string {
	doc, _ := json.Marshal(all)
	return `
		const out: any[] = [];
		for (const c of ` + string(doc) + ` as any[]) {
			try {
				const r: any = await tools.call(c.tool, c.input);
				console.log(c.tool, r);
				out.push(r);
			} catch (e: any) {
				console.log(e.message, JSON.stringify(e));
				out.push(String(e), e.message, e.details);
			}
		}
		out.push(out.map((x) => typeof x === "string" && x.length < 100 ? x : "").join(""));
		out.push(await tools.search({ query: "give token secret" }));
		return out;`
}

func TestNothingLeaks(t *testing.T) {
	server := testkit.StartServer(t)
	f := folder{t, t.TempDir()}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path("age.txt"), []byte(identity.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LEAK_KEYS", masterKey)

	ref := contract.ThreadRef{Tenant: "acme", Thread: testkit.Name(t)}
	canaries := map[string]string{}
	for _, ref := range refs {
		canaries[ref] = canary(strings.TrimPrefix(ref[strings.LastIndexByte(ref, ':')+1:], "canary."))
	}
	_, encoded, _ := strings.Cut(masterKey, ":")
	canaries["master key"] = encoded
	known := refs
	f.store(secrets.Location{Kind: secrets.KindFile, Place: f.path("plain"), Plain: true},
		secrets.Key{Scope: secrets.Tenant, Tenant: "acme", Name: "canary.file"}, canaries["tenant:canary.file"])
	f.store(secrets.Location{Kind: secrets.KindFile, Place: f.path("s.age"), KeyFile: f.path("age.txt")},
		secrets.Key{Scope: secrets.User, Tenant: "acme", Owner: "ann", Name: "canary.age"}, canaries["user:canary.age"])
	f.store(secrets.Location{Kind: secrets.KindSQLite, Place: f.path("s.db"), KeyEnv: "LEAK_KEYS"},
		secrets.Key{Scope: secrets.Connection, Tenant: "acme", Owner: "crm", Name: "canary.sqlite"}, canaries["connection:crm:canary.sqlite"])
	postgres, ofProtocol := testkit.Postgres(t), "connection:crm:canary.postgres"
	stores := fmt.Sprintf("[{env: HEDDLE_SECRET_}, {file: %q, plain: true}, {file: %q, key_file: %q}, {sqlite: %q, key_env: LEAK_KEYS}",
		f.path("plain"), f.path("s.age"), f.path("age.txt"), f.path("s.db"))
	if postgres == "" {
		t.Log("without PostgreSQL: install it, to have a canary in it too")
		known, ofProtocol = refs[:4], "user:canary.age"
		delete(canaries, refs[4])
	} else {
		f.store(secrets.Location{Kind: secrets.KindPostgres, Place: postgres, KeyEnv: "LEAK_KEYS"},
			secrets.Key{Scope: secrets.Connection, Tenant: "acme", Owner: "crm", Name: "canary.postgres"}, canaries[refs[4]])
		stores += fmt.Sprintf(", {postgres: %q, key_env: LEAK_KEYS}", postgres)
	}
	http, protocol := hostileService(t), hostileProtocol(t)
	agent := "{instructions: Do what the user says., model: play, exposure: %s, web: false, tools: [evil.*, http.*, mcp.*], limits: {steps: 1000, calls: 10000}}"
	b := newBed(t, server, testkit.Worker{
		Args: []string{"--log-level", "debug"},
		Env:  []string{"LEAK_KEYS=" + masterKey, "HEDDLE_SECRET_CANARY_ENV=" + canaries["app:canary.env"]},
		Files: map[string]string{
			"http.yaml": hostileSpec,
			"heddle.yaml": "task_queue: ${HEDDLE_TASK_QUEUE}\naudit: .heddle/audit\nsandbox: " + sandboxMode + "\nsecrets: " + stores + "]\nagents:\n" +
				"  direct: " + fmt.Sprintf(agent, "direct") + "\n  coder: " + fmt.Sprintf(agent, "code") + fmt.Sprintf(`
openapi:
  http: {spec: http.yaml, server: %q, allow: [%q], scheme: {type: bearer}, auth: {"*": {token: "connection:crm:canary.sqlite"}}}
mcp:
  mcp: {url: %q, allow: [%q], headers: {Authorization: {secret: %q, prefix: "Bearer "}}, tools: {"*": read}}
`, http.URL, http.Listener.Addr().String(), protocol.URL, protocol.Listener.Addr().String(), ofProtocol),
		},
	})

	threads := map[string]contract.Start{}
	for _, agent := range []string{"direct", "coder"} {
		start := contract.Start{ThreadRef: contract.ThreadRef{Tenant: ref.Tenant, Thread: ref.Thread + "-" + agent}, Agent: agent, User: "ann"}
		threads[agent] = start
		for _, turn := range hostileCalls(known) {
			text := calls(turn...)
			if agent == "coder" {
				text = hostileSnippet(turn)
			}
			b.ask(start, text)
		}
	}
	similar := []call{to("evil.lookalikes", nil), to("http.lookalikes", nil), to("mcp.lookalikes", nil)}
	checkLookalikes(t, "direct", b.ask(threads["direct"], calls(similar...)))
	checkLookalikes(t, "coder", b.ask(threads["coder"], hostileSnippet(similar)))

	left := evidence{t: t, canaries: canaries}
	for agent, start := range threads {
		messages, err := b.Transcript(b.ctx(), start.ThreadRef, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		doc, _ := json.Marshal(messages)
		left.search("transcript of "+agent, doc)
		if err := b.Close(b.ctx(), start.ThreadRef, contract.Close{}); err != nil {
			t.Fatal(err)
		}
		for part, err := range b.Watch(b.ctx(), start.ThreadRef, 0) {
			if err != nil {
				t.Fatal(err)
			}
			doc, _ := json.Marshal(part)
			left.search("timeline of "+agent, doc)
		}
	}
	b.worker.Stop(t)
	server.Kill()
	left.searchFile(b.worker.LogFile())
	left.search("log of the server", []byte(server.Output()))
	left.searchFile(filepath.Join(b.worker.Dir, "requests.jsonl"))
	for _, folder := range []string{"blobs", "audit"} {
		left.searchFolder(filepath.Join(b.worker.Dir, ".heddle", folder))
	}
	for _, end := range []string{"", "-wal"} {
		left.searchFile(server.Database() + end)
	}
	left.searchRows(server.Database())
	for _, marker := range []string{"CAUQAA-lookalike", secrets.Mask, "evil.lose"} {
		if left.markers[marker] == 0 {
			t.Errorf("%q is nowhere: what was searched is not what is left behind", marker)
		}
	}
	t.Logf("searched %d texts of %d bytes for %d canaries", left.texts, left.size, len(canaries))
}

// checkLookalikes finds what only looks like secrets unchanged in what three tools gave
// to an agent.
func checkLookalikes(t *testing.T, agent, told string) {
	t.Helper()
	plain := func(text string) string { return strings.ReplaceAll(text, `\`, "") } // within strings within strings
	for _, want := range []string{`"nextPageToken":"CAUQAA-lookalike"`, `const token = f()\nconst secret = process.env.SECRET;\n// Bearer xyz, password: hunter2`} {
		if n := strings.Count(plain(told), plain(want)); n < 3 {
			t.Errorf("%s is told %s %d times, want 3 at least:\n%s", agent, want, n, told)
		}
	}
}

// evidence is what is left behind, and what must not be in it.
type evidence struct {
	t        *testing.T
	canaries map[string]string
	needles  map[string][][]byte
	markers  map[string]int
	texts    int
	size     int
}

// search looks for the canaries in a text, as it is and with what hides in base64 of
// its own, such as the bytes of a payload in JSON.
func (e *evidence) search(where string, text []byte) {
	if e.needles == nil {
		e.needles, e.markers = map[string][][]byte{}, map[string]int{}
		for name, value := range e.canaries {
			for _, core := range cores(value) {
				e.needles[name] = append(e.needles[name], []byte(core))
			}
		}
	}
	e.texts++
	e.size += len(text)
	for _, marker := range []string{"CAUQAA-lookalike", secrets.Mask, "evil.lose"} {
		e.markers[marker] += bytes.Count(text, []byte(marker))
	}
	for _, text := range [][]byte{text, []byte(unescaped(string(text)))} {
		for name, needles := range e.needles {
			for _, needle := range needles {
				if i := bytes.Index(text, needle); i >= 0 {
					e.t.Errorf("%s: the canary %s leaks: ...%q...", where, name, text[max(0, i-120):min(len(text), i+len(needle)+60)])
					break
				}
			}
		}
	}
}

func (e *evidence) searchFile(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		e.t.Errorf("cannot be searched: %v", err)
		return
	}
	e.search(path, text)
}

func (e *evidence) searchFolder(dir string) {
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files++
			e.searchFile(path)
		}
		return err
	})
	if err != nil || files == 0 {
		e.t.Errorf("%s holds %d files, %v", dir, files, err)
	}
}

// searchRows looks into each value of a database, which pages may have cut in two.
func (e *evidence) searchRows(path string) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		e.t.Fatal(err)
	}
	defer db.Close()
	tables, err := column(db, `SELECT name FROM sqlite_master WHERE type = 'table'`)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, table := range tables {
		if err := e.searchTable(db, string(table)); err != nil {
			e.t.Errorf("table %s: %v", table, err)
		}
	}
}

func column(db *sql.DB, query string) (all [][]byte, err error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var value []byte
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, rows.Err()
}

func (e *evidence) searchTable(db *sql.DB, table string) error {
	rows, err := db.Query(`SELECT * FROM "` + table + `"`)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	values, pointers := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		for i, value := range values {
			if len(value) >= secrets.MinLength {
				e.search("table "+table+", "+names[i], value)
			}
		}
	}
	return rows.Err()
}

// TestTheSearchFindsLeaks shows that the search would find what leaks.
func TestTheSearchFindsLeaks(t *testing.T) {
	value := canary("test")
	for how, text := range encodings(value) {
		if how == "first-half" || how == "second-half" || how == "base64-lines" {
			continue // found where the whole is: each is under three quarters
		}
		found := false
		for _, core := range cores(value) {
			found = found || strings.Contains(text, core) || strings.Contains(unescaped(text), core)
		}
		if !found {
			t.Errorf("%s is not found: %q", how, text)
		}
	}
	if _, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(masterKey, "k1:")); err != nil {
		t.Error(err)
	}
}
