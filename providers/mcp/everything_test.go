package mcp_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/child"
	"github.com/heddle-dev/heddle/providers/mcp"
)

var update = flag.Bool("update", false, "write what the servers answer to testdata")

// everythingInputs are the inputs of the tools of the protocol's own example server
// that want one.
var everythingInputs = map[string]string{
	"every.echo":                           `{"message":"hello"}`,
	"every.get-annotated-message":          `{"messageType":"error","includeImage":true}`,
	"every.get-resource-links":             `{"count":2}`,
	"every.get-resource-reference":         `{"resourceType":"Text","resourceId":1}`,
	"every.get-structured-content":         `{"location":"Chicago"}`,
	"every.get-sum":                        `{"a":2,"b":40}`,
	"every.gzip-file-as-resource":          `{"name":"x.gz","data":"data:text/plain;base64,aGVsbG8=","outputType":"resource"}`,
	"every.trigger-long-running-operation": `{"duration":1,"steps":2}`,
	"every.simulate-research-query":        `{"topic":"tea"}`,
	"every.read_resource":                  `{"uri":"demo://resource/static/document/features.md"}`,
	"every.get_prompt":                     `{"name":"simple-prompt"}`,
}

// everythingServer is the program of the example server, or the test is skipped.
func everythingServer(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs("../../test/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	if err == nil {
		_, err = os.Stat(file)
	}
	if err == nil {
		_, err = exec.LookPath("node")
	}
	if err != nil {
		if os.Getenv("HEDDLE_TEST_NODE") != "" {
			t.Fatal(err)
		}
		t.Skip("wants Node and: cd test/mcp && npm ci; make test does so")
	}
	return file
}

// TestEverything calls every tool of the example server over each transport, and
// compares what comes back.
func TestEverything(t *testing.T) {
	server := everythingServer(t)
	t.Run("stdio", func(t *testing.T) {
		compareEverything(t, mcp.Options{Command: &mcp.Command{Path: "node", Args: []string{server, "stdio"}}})
	})
	for _, transport := range []string{"streamableHttp", "sse"} {
		t.Run(transport, func(t *testing.T) {
			ports, err := child.FreePorts(1)
			if err != nil {
				t.Fatal(err)
			}
			address := "localhost:" + ports[0]
			cmd := exec.Command("node", server, transport)
			cmd.Env = append(os.Environ(), "PORT="+ports[0])
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			})
			eventually(t, "the server listens", func() bool {
				c, err := net.DialTimeout("tcp", address, time.Second)
				if err == nil {
					_ = c.Close()
				}
				return err == nil
			})
			path := map[string]string{"streamableHttp": "/mcp", "sse": "/sse"}[transport]
			compareEverything(t, mcp.Options{URL: "http://" + address + path, SSE: transport == "sse", Allow: []string{address}})
		})
	}
}

// changing are the parts of results that are others each time.
var changing = regexp.MustCompile(`\bsession [0-9a-f-]{36}|\d{4}-\d\d-\d\dT[\d:.]+Z|\d{1,2}:\d\d:\d\d [AP]M|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|session undefined`)

func compareEverything(t *testing.T, o mcp.Options) {
	t.Helper()
	o.Namespace, o.Timeout = "every", patience
	s := open(t, o)
	// A process may take longer to start than it is waited for, on a busy machine.
	eventually(t, "the server answers", func() bool { _, err := s.Tools(t.Context()); return err == nil })
	d := newDesk(t, s)
	d.scope.Tenant = ""
	all := ids(t, s)
	slices.Sort(all)
	got := map[string]json.RawMessage{}
	for _, id := range all {
		input := everythingInputs[id]
		if input == "" {
			input = `{}`
		}
		out := d.call(id, input)
		result := out.Result
		if out.Error != nil {
			result, _ = json.Marshal(map[string]string{"error": out.Error.Code, "message": out.Error.Message})
		}
		if out.Warning != "" {
			t.Errorf("%s: %s", id, out.Warning)
		}
		text := changing.ReplaceAllString(string(result), "(changing)")
		if id == "every.get-env" { // what the server was given, and nothing of this process's own
			text = envNames(t, out)
		}
		if len(text) > 1500 {
			text = fmt.Sprintf(`{"beginning":%q,"length":%d}`, text[:200], len(text))
		}
		got[id] = json.RawMessage(text)
	}
	compareGolden(t, got)
}

// envNames checks the environment of the server, which is clean only where this
// package has started it.
func envNames(t *testing.T, out catalog.Outcome) string {
	t.Helper()
	if out.Error != nil || !strings.Contains(string(out.Result), `"PATH"`) {
		t.Errorf("the environment is %s, %v", out.Result, out.Error)
	}
	return `"an environment"`
}

func compareGolden(t *testing.T, got map[string]json.RawMessage) {
	t.Helper()
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "everything.json")
	if *update {
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(append(text, '\n'), want) {
		var before map[string]json.RawMessage
		if err := json.Unmarshal(want, &before); err != nil {
			t.Fatal(err)
		}
		for id := range before {
			if a, b := compactText(before[id]), compactText(got[id]); a != b {
				t.Errorf("%s\n got %s\nwant %s", id, b, a)
			}
		}
		for id := range got {
			if before[id] == nil {
				t.Errorf("%s is not among the results that are known", id)
			}
		}
	}
}

func compactText(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return string(text)
	}
	return b.String()
}
