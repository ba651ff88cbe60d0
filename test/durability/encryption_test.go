package durability

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/signals/encryption"
)

func payloadKey(id string, of byte) string {
	return id + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{of}, 32)) + "\n"
}

// withKeys gives the client of a bed keys of its own.
func (b *bed) withKeys(keys string) *bed {
	b.t.Helper()
	codec, err := encryption.Parse(keys)
	b.must(err)
	temporal, err := client.Dial(codec.Options(client.Options{HostPort: b.server.Address, Logger: testkit.Logger(b.t)}))
	b.must(err)
	b.t.Cleanup(temporal.Close)
	c := *b
	c.client = temporal
	c.Client = signals.NewClient(temporal, &signals.Options{TaskQueue: b.worker.TaskQueue, DataConverter: codec.DataConverter()})
	return &c
}

// A thread on a worker that encrypts leaves no words with Temporal, and goes on while
// keys are replaced.
func TestEncryptedThread(t *testing.T) {
	server := testkit.StartServer(t, shortRuns)
	old, fresh := payloadKey("k1", 1), payloadKey("k2", 2)
	configured := strings.Replace(config, "sandbox:", "temporal: {encryption: {key_file: payload.keys}}\nsandbox:", 1)
	plain := newBedOf(t, server, map[string]string{"heddle.yaml": configured, "payload.keys": old})
	b := plain.withKeys(old)

	// Messages, results, comments, errors, questions, a snippet, runs of a thread.
	turn := b.send("read:canary-1|write:canary-2|write:canary-3|order:canary-4|nosuch:canary-5|say:canary-6")
	b.decide(b.pending(1)[0], func(d *contract.Decision) { d.Comment = "canary-7" })
	b.decide(b.pending(1)[0], func(d *contract.Decision) { d.Verdict, d.Comment = contract.Deny, "canary-8" })
	q := b.questions(1)[0]
	b.answerWith(q, "canary-9")
	if ended := b.wait(turn); ended.Answer != "canary-6" {
		t.Errorf("the turn ended as %+v, problem %v", ended, ended.Problem)
	}
	for i := range 6 {
		b.wait(b.send(fmt.Sprintf("read:canary-a%d|read:canary-b%d|say:canary", i, i)))
	}
	b.answer(b.run(contract.RunSnippet, `await test.read({ name: "canary-10" }); await test.free({ name: "canary-11" }); throw new Error("canary-12")`))
	if ended := b.wait(b.send("read:canary-13")); ended.Problem == nil || !strings.Contains(ended.Problem.Message, "canary-13") {
		t.Errorf("the turn whose script is over ended as %+v", ended) // by an error of an activity
	}
	state, err := b.State(b.ctx(), b.start.ThreadRef)
	if b.must(err); state.Runs < 2 {
		t.Errorf("%d runs, want the thread to have continued as new", state.Runs)
	}

	// The keys are replaced while a call waits for a person.
	turn = b.send("write:canary-14|say:done")
	ap := b.pending(1)[0]
	b.file("payload.keys", fresh+old)
	b.restart()
	b.approve(ap) // by a backend that has the old key alone
	both := b.withKeys(fresh + old)
	if ended := both.wait(turn); ended.Answer != "done" {
		t.Errorf("the turn ended as %+v, problem %v", ended, ended.Problem)
	}
	if ended := both.wait(both.send("read:canary-15|say:canary-16")); ended.Answer != "canary-16" {
		t.Errorf("the turn ended as %+v, problem %v", ended, ended.Problem)
	}

	// A side that lacks a key says so.
	for name, test := range map[string]struct {
		bed  *bed
		want string
	}{
		"no keys":      {plain.withoutKeys(), `encrypted with the key "k2", and there are no keys here`},
		"an old key":   {b, `encrypted with the key "k2", and here there are k1`},
		"another of 2": {plain.withKeys(payloadKey("k2", 7)), `with the key "k2": it does not open`},
	} {
		_, err := test.bed.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}

	// Nothing of it is in the server's database.
	b.worker.Stop(t)
	files, err := filepath.Glob(server.Database() + "*")
	b.must(err)
	found := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		b.must(err)
		found += bytes.Count(text, []byte("binary/encrypted"))
		for _, clear := range []string{"canary", base64.RawStdEncoding.EncodeToString([]byte("canary"))[:6], "Do what the user says", `"plan"`} {
			if i := bytes.Index(text, []byte(clear)); i >= 0 {
				t.Errorf("%s has %q in clear: %q", filepath.Base(path), clear, text[max(0, i-100):min(len(text), i+100)])
			}
		}
	}
	if found == 0 {
		t.Errorf("the database %q has nothing that is encrypted", files)
	}
}

// withoutKeys has a client with no keys, as the starter has where none are given.
func (b *bed) withoutKeys() *bed {
	b.t.Helper()
	codec := &encryption.Codec{}
	temporal, err := client.Dial(codec.Options(client.Options{HostPort: b.server.Address, Logger: testkit.Logger(b.t)}))
	b.must(err)
	b.t.Cleanup(temporal.Close)
	c := *b
	c.Client = signals.NewClient(temporal, &signals.Options{TaskQueue: b.worker.TaskQueue, DataConverter: codec.DataConverter()})
	return &c
}

// A thread that began before there were keys goes on once there are.
func TestEncryptionIsTurnedOn(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("write:w|say:done")
	ap := b.pending(1)[0]
	b.file("payload.keys", payloadKey("k1", 1))
	b.configure(strings.Replace(config, "sandbox:", "temporal: {encryption: {key_file: payload.keys}}\nsandbox:", 1))
	b.approve(ap) // by a backend that does not encrypt yet
	c := b.withKeys(payloadKey("k1", 1))
	if ended := c.wait(turn); ended.Answer != "done" || b.effects() != "w" {
		t.Errorf("the turn ended as %+v, problem %v, effects %q", ended, ended.Problem, b.effects())
	}
	messages, err := c.Transcript(c.ctx(), c.start.ThreadRef, 0, 0)
	if c.must(err); len(messages) == 0 || messages[0].Text != "write:w|say:done" {
		text, _ := json.Marshal(messages)
		t.Errorf("transcript %s", text)
	}
}
