package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/heddle-dev/heddle/signals/encryption"
)

// payloadKey is a key of 32 equal bytes.
func payloadKey(id string, of byte) string {
	return id + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{of}, 32))
}

// The starter reads and writes what workers encrypt, and says what is amiss where it has
// not their key.
func TestEncryptedPayloads(t *testing.T) {
	b := newBench(t, func(files map[string]string) {
		files["payload.keys"] = payloadKey("k1", 1)
		files["heddle.yaml"] += "\ntemporal: {encryption: {key_file: payload.keys}}\n"
	})
	thread := b.thread()
	b.env[encryption.KeysEnv] = payloadKey("k1", 1)
	contains(t, b.must(exitOK, "send", thread, mug, "--agent", "support", "--user", "ada", "--yes"), "✓ approval  orders.refund approved by ann", "I have refunded $14.50")
	contains(t, b.must(exitOK, "transcript", thread), "I have refunded")

	// A file has the keys of a newer one too.
	b.env[encryption.KeysEnv] = ""
	file := rulesFile(t, "# k2 comes next\n"+payloadKey("k1", 1)+"\n"+payloadKey("k2", 2)+"\n")
	contains(t, b.must(exitOK, "transcript", thread, "--payload-keys", file), "I have refunded")

	for want, keys := range map[string]string{
		`encrypted with the key "k1", and there are no keys here; set HEDDLE_PAYLOAD_KEYS`: "",
		`"k1": it does not open`:                             payloadKey("k1", 9),
		`encrypted with the key "k2", and here there are k1`: payloadKey("k2", 2) + "," + payloadKey("k1", 1), // so says the worker
	} {
		b.env[encryption.KeysEnv] = keys
		got := b.run(b.ctx, "transcript", thread)
		if got.code != exitFailed || !strings.HasPrefix(got.stderr, "Error: ") || !strings.Contains(got.stderr, want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

func TestCodecEndpoint(t *testing.T) {
	codec, err := encryption.Parse(payloadKey("k1", 1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stdout, printed := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		var stderr bytes.Buffer
		c := &cli{
			stdin: strings.NewReader(""), stdout: printed, stderr: &stderr, isTerminal: func(any) bool { return false },
			env: func(name string) string { return map[string]string{encryption.KeysEnv: payloadKey("k1", 1)}[name] },
		}
		ended <- c.run(ctx, []string{"codec", "--listen", "127.0.0.1:0", "--origin", "http://ui.example/", "--json"})
	}()
	var started serving
	if err := json.NewDecoder(stdout).Decode(&started); err != nil {
		t.Fatal(err)
	}
	payload, err := codec.DataConverter().ToPayload("hello")
	if err != nil {
		t.Fatal(err)
	}
	body, err := protojson.Marshal(&commonpb.Payloads{Payloads: []*commonpb.Payload{payload}})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, started.Endpoint+"/decode", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Origin", started.Origins[0])
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var decoded commonpb.Payloads
	var text string
	if err := protojson.Unmarshal(answer, &decoded); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	if err := converter.GetDefaultDataConverter().FromPayloads(&decoded, &text); err != nil || text != "hello" || response.Header.Get("Access-Control-Allow-Origin") != "http://ui.example" {
		t.Errorf("decoded %q, %v; headers %v", text, err, response.Header)
	}
	stop()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestCodecRefuses(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open.keys")
	if err := os.WriteFile(open, []byte(payloadKey("k1", 1)), 0o644); err != nil { //nolint:gosec // that is the point
		t.Fatal(err)
	}
	keys := map[string]string{encryption.KeysEnv: payloadKey("k1", 1)}
	for want, test := range map[string]struct {
		env  map[string]string
		args []string
	}{
		"there are no keys: set HEDDLE_PAYLOAD_KEYS": {nil, []string{"codec"}},
		"want a loopback address":                    {keys, []string{"codec", "--listen", "0.0.0.0:8081"}},
		"name it with --origin":                      {keys, []string{"codec", "--address", "temporal.example:7233"}},
		"key k1: want 32 bytes in base64":            {map[string]string{encryption.KeysEnv: "k1:hunter2hunter2"}, []string{"state", "acme/t"}},
		"--payload-keys: ":                           {nil, []string{"codec", "--payload-keys", open}},
		"no-such-file":                               {nil, []string{"state", "acme/t", "--payload-keys", "no-such-file"}},
	} {
		got := shell{env: test.env}.run(t.Context(), test.args...)
		if got.code == exitOK || !strings.Contains(got.stderr, want) || strings.Contains(got.stderr, "hunter2") {
			t.Errorf("%v: %+v, want %q", test.args, got, want)
		}
	}
}
