package threads

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
)

var update = flag.Bool("update", false, "write what the snippet comes to to testdata")

// everything calls every tool of the protocol's example server, and shows of a long
// result the beginning.
const everything = `
const inputs: Record<string, any> = {
	"shop.echo": { message: "hello" },
	"shop.get-annotated-message": { messageType: "error", includeImage: true },
	"shop.get-resource-links": { count: 2 },
	"shop.get-resource-reference": { resourceType: "Text", resourceId: 1 },
	"shop.get-structured-content": { location: "Chicago" },
	"shop.get-sum": { a: 2, b: 40 },
	"shop.gzip-file-as-resource": { name: "x.gz", data: "data:text/plain;base64,aGVsbG8=", outputType: "resource" },
	"shop.trigger-long-running-operation": { duration: 1, steps: 2 },
	"shop.read_resource": { uri: "demo://resource/static/document/features.md" },
	"shop.get_prompt": { name: "simple-prompt" },
	"shop.get-tiny-image": {}, "shop.list_prompts": {}, "shop.list_resources": {},
	"shop.toggle-simulated-logging": {}, "shop.toggle-subscriber-updates": {}, "shop.get-env": {},
};
const came: Record<string, any> = {};
for (const id of Object.keys(inputs)) {
	try {
		const text = JSON.stringify(await tools.call(id, inputs[id]));
		came[id] = id === "shop.get-env" ? text.includes('"PATH"') : text.length > 400 ? text.slice(0, 200) : JSON.parse(text);
	} catch (e) {
		came[id] = { error: e.code, message: e.message };
	}
}
return came;`

// changing are the parts of results that are others each time.
var changing = regexp.MustCompile(`session [0-9a-f-]{36}|session undefined|\d{4}-\d\d-\d\dT[\d:.]+Z|\d{1,2}:\d\d:\d\d [AP]M`)

// Every tool of the example server is called from a snippet, over both transports, and
// comes to the same.
func TestEverythingFromASnippet(t *testing.T) {
	file := filepath.Join(testkit.Root(t), "test/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	_, err := os.Stat(file)
	if err == nil {
		_, err = exec.LookPath("node")
	}
	if err != nil {
		if os.Getenv("HEDDLE_TEST_NODE") != "" {
			t.Fatal(err)
		}
		t.Skip("wants Node and: cd test/mcp && npm ci; make test does so")
	}
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			config := fmt.Sprintf("{command: [node, %q, stdio], tools: {'*': read}}", file)
			if transport == "http" {
				address := listening(t, file)
				config = fmt.Sprintf("{url: %q, allow: [%q], tools: {'*': read}}", "http://"+address+"/mcp", address)
			}
			b := newBed(t, config, "shop.echo")
			came := b.result(b.run(everything))
			wantAll(t, came)
			compare(t, came)
		})
	}
}

// listening starts the example server over streamable HTTP.
func listening(t *testing.T, file string) (address string) {
	t.Helper()
	port := testkit.FreePort(t)
	cmd := exec.Command("node", file, "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address = "localhost:" + port
	eventually(t, "the server listens", func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return address
}

// wantAll checks that no tool is left out that the server is known to have.
func wantAll(t *testing.T, came json.RawMessage) {
	t.Helper()
	var called, known map[string]json.RawMessage
	text, err := os.ReadFile(filepath.Join(testkit.Root(t), "providers/mcp/testdata/everything.json"))
	if err == nil {
		err = errors.Join(json.Unmarshal(text, &known), json.Unmarshal(came, &called))
	}
	if err != nil || len(known) == 0 {
		t.Fatal(err)
	}
	for id := range known {
		if _, ok := called["shop."+strings.TrimPrefix(id, "every.")]; !ok {
			t.Errorf("%s is not called", id)
		}
	}
}

func compare(t *testing.T, got json.RawMessage) {
	t.Helper()
	var text bytes.Buffer
	if err := json.Indent(&text, got, "", "  "); err != nil {
		t.Fatal(err)
	}
	text.WriteByte('\n')
	is := changing.ReplaceAll(text.Bytes(), []byte("(changing)"))
	golden := filepath.Join("testdata", "everything.json")
	if *update {
		if err := os.WriteFile(golden, is, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(is, want) {
		t.Errorf("got\n%s\nwant\n%s", is, want)
	}
}
