package mcp_test

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// asServer is the variable that makes the test binary a server on its standard
// streams.
const asServer = "MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		serve()
		return
	}
	os.Exit(trustingTestServers(m))
}

// trustingTestServers runs the tests with the certificate of httptest among those of the
// system, which are read once.
func trustingTestServers(m *testing.M) int {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	file, err := os.CreateTemp("", "certificate")
	if err == nil {
		defer os.Remove(file.Name())
		err = pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	}
	if err == nil {
		err = os.Setenv("SSL_CERT_FILE", file.Name())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// serve is a server with tools that say or do something about its process.
func serve() {
	in := bufio.NewReader(os.Stdin)
	say := func(id json.RawMessage, result any) {
		text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
		fmt.Println(string(text))
	}
	structured := func(v any) map[string]any { return map[string]any{"content": []any{}, "structuredContent": v} }
	fmt.Println("this line is no message")
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 {
			continue
		}
		switch m.Method {
		case "initialize":
			say(m.ID, map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}})
		case "tools/list":
			var tools []any
			for _, name := range []string{"env", "pid", "spawn", "die", "flood", "deaf", "echo"} {
				tools = append(tools, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
			}
			say(m.ID, map[string]any{"tools": tools})
		case "tools/call":
			switch m.param("name") {
			case `"env"`:
				say(m.ID, structured(os.Environ()))
			case `"pid"`:
				say(m.ID, structured(os.Getpid()))
			case `"spawn"`:
				child := exec.Command("sleep", "600")
				_ = child.Start()
				say(m.ID, structured(child.Process.Pid))
			case `"die"`:
				os.Exit(3)
			case `"flood"`:
				chunk := strings.Repeat("x", 1<<20)
				for {
					if _, err := fmt.Print(chunk); err != nil {
						return
					}
				}
			case `"deaf"`:
				time.Sleep(time.Hour) // an empty select would end the process
			default:
				say(m.ID, structured(m.Params))
			}
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", m.ID)
		}
	}
}

func processSource(t *testing.T, change ...func(*mcp.Options)) (*mcp.Source, *desk) {
	t.Helper()
	o := mcp.Options{
		Namespace: "near", Timeout: patience,
		Command: &mcp.Command{Path: os.Args[0], Env: []string{asServer + "=1", "GIVEN=yes"}},
	}
	for _, c := range change {
		c(&o)
	}
	s := open(t, o)
	// A process may take longer to start than it is waited for, on a busy machine.
	eventually(t, "the process answers", func() bool { _, err := s.Tools(t.Context()); return err == nil })
	d := newDesk(t, s)
	d.scope.Tenant = "" // one process for the listing and the calls
	return s, d
}

// alive reports whether a process runs.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || !strings.Contains(string(state), ") Z ")
}

func (d *desk) number(tool string) int {
	d.t.Helper()
	var out catalog.Outcome
	eventually(d.t, "the process answers", func() bool {
		out = d.call(tool, `{}`)
		return out.Error == nil || out.Error.Effect != catalog.EffectNone // else it has not started
	})
	n, err := strconv.Atoi(string(out.Result))
	if err != nil {
		d.t.Fatalf("%s: %s %v", tool, out.Result, out.Error)
	}
	return n
}

func TestProcessEnvironmentIsClean(t *testing.T) {
	t.Setenv("HEDDLE_TEST_SECRET", "do not leak")
	_, d := processSource(t)
	out := d.call("near.env", `{}`)
	var env []string
	if err := json.Unmarshal(out.Result, &env); err != nil {
		t.Fatal(err, out.Error)
	}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains([]string{"PATH", "HOME", "USER", "LANG", "TMPDIR", asServer, "GIVEN", "PWD"}, name) {
			t.Errorf("the server sees %s", name)
		}
	}
	if !slices.Contains(env, "GIVEN=yes") {
		t.Error("the server lacks what it was given")
	}
}

func TestProcessesEnd(t *testing.T) {
	s, d := processSource(t)
	server, grandchild := d.number("near.pid"), d.number("near.spawn")
	if !alive(server) || !alive(grandchild) {
		t.Fatal("the processes do not run")
	}
	s.Close()
	eventually(t, "the server ends", func() bool { return !alive(server) })
	eventually(t, "what it has started ends", func() bool { return !alive(grandchild) })
}

func TestProcessIsStartedAgain(t *testing.T) {
	_, d := processSource(t)
	first := d.number("near.pid")
	d.wantError("near.die", `{}`, mcp.CodeConnectionLost, catalog.EffectUnknown)
	if second := d.number("near.pid"); second == first {
		t.Error("the process that has ended answers")
	}
}

func TestProcessThatFloods(t *testing.T) {
	_, d := processSource(t)
	grown := watchHeap(t)
	d.wantError("near.flood", `{}`, catalog.CodeTooLarge, catalog.EffectUnknown)
	if most := grown(); most > maxHeap {
		t.Errorf("the heap grew by %d MiB", most>>20)
	}
	d.number("near.pid")
}

func TestProcessThatIsDeaf(t *testing.T) {
	_, d := processSource(t, func(o *mcp.Options) { o.Timeout = 3 * time.Second })
	d.wantError("near.deaf", `{}`, catalog.CodeTimeout, catalog.EffectUnknown)
	// What no longer fits into the pipe is not waited for longer than the bound.
	large := `{"text":"` + strings.Repeat("x", 256<<10) + `"}`
	began := time.Now()
	out := d.call("near.echo", large)
	if took := time.Since(began); out.Error == nil || took > patience {
		t.Errorf("after %s: %+v", took, out.Error)
	}
}

func TestProcessThatCannotStart(t *testing.T) {
	s := open(t, mcp.Options{Namespace: "near", Command: &mcp.Command{Path: filepath.Join(t.TempDir(), "missing")}})
	_, err := s.Tools(t.Context())
	if err == nil || !strings.Contains(err.Error(), mcp.CodeUnreachable) {
		t.Errorf("error is %v", err)
	}
}
