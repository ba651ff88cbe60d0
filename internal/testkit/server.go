package testkit

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/heddle-dev/heddle/internal/child"
	"github.com/heddle-dev/heddle/signals/contract"
)

// startTimeout bounds the start of a process, on a machine that is busy.
const startTimeout = 3 * time.Minute

// Server is a Temporal server in a process of its own.
type Server struct {
	// Address is that of the gRPC frontend. It stays over a restart.
	Address string

	options child.TemporalOptions
	process *child.Temporal
	log     *child.Log
}

// DevServer returns the server that the tests of the process share. It skips the
// test if there is none: HEDDLE_DEVSERVER names the program, else it is temporal
// on the PATH.
//
// Tests keep apart by names: see [Name].
func DevServer(t testing.TB) *Server {
	t.Helper()
	requireMain(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		server := &Server{options: serverOptions(t)}
		server.start(t)
		shared.server = server
	}
	showOnFailure(t, "Temporal server", shared.server.log)
	return shared.server
}

// StartServer starts a server for one test, on a database file, so that the test
// can kill it and start it again. Settings are dynamic configuration of the
// server, as KEY=JSONVALUE.
func StartServer(t testing.TB, settings ...string) *Server {
	t.Helper()
	options := serverOptions(t)
	options.DynamicConfig = settings
	options.Database = filepath.Join(t.TempDir(), "temporal.db")
	server := &Server{options: options}
	server.start(t)
	showOnFailure(t, "Temporal server", server.log)
	t.Cleanup(server.Kill)
	return server
}

func serverOptions(t testing.TB) child.TemporalOptions {
	t.Helper()
	path, err := child.FindTemporal()
	if err != nil {
		t.Skipf("set %s to a Temporal dev server binary; make test does (%v)", child.TemporalEnv, err)
	}
	return child.TemporalOptions{Path: path, SearchAttributes: []string{
		contract.AttributeTenant + "=Keyword",
		contract.AttributeAgent + "=Keyword",
		contract.AttributeStatus + "=Keyword",
		contract.AttributePending + "=KeywordList",
	}}
}

func (s *Server) start(t testing.TB) {
	t.Helper()
	if s.log == nil {
		s.log = &child.Log{}
	}
	s.options.Address, s.options.Output = s.Address, s.log
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	process, err := child.StartTemporal(ctx, s.options)
	if err != nil {
		t.Fatalf("testkit: %v\n%s", err, s.log)
	}
	s.process, s.Address = process, process.Address
}

// Output is the end of what the server has printed.
func (s *Server) Output() string { return s.log.String() }

// Database is the path of the database of a server that [StartServer] started.
func (s *Server) Database() string { return s.options.Database }

// Kill ends the server at once (SIGKILL).
func (s *Server) Kill() { s.process.Kill() }

// Restart starts a killed server again, at the same address and on the same
// database.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.start(t)
}

// Client returns a client of the server's namespace "default", closed when the
// test ends. Each call makes a client with a connection of its own.
func (s *Server) Client(t testing.TB) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{
		HostPort: s.Address, Logger: log.NewStructuredLogger(Logger(t)),
		ConnectionOptions: client.ConnectionOptions{GetSystemInfoTimeout: startTimeout},
	})
	if err != nil {
		t.Fatalf("testkit: connect to the Temporal server: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}
