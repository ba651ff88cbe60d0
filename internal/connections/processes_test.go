package connections_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/heddle-dev/heddle/test/authserver"
)

// askerEnv and its companions have the test binary run as a worker that asks once.
const (
	askerEnv = "HEDDLE_TEST_ASKER_STORE"
	askerURL = "HEDDLE_TEST_ASKER_SERVICE"
	askerAt  = "HEDDLE_TEST_ASKER_HOST"
)

// TestAsker is the process of [TestOneRefreshOfProcesses].
func TestAsker(t *testing.T) {
	file := os.Getenv(askerEnv)
	if file == "" {
		t.Skip("it is started by another test")
	}
	server := &authserver.Server{Resource: os.Getenv(askerURL)}
	if err := newWorker(t, file, os.Getenv(askerAt)).ask(t.Context(), server, ofAcme); err != nil {
		t.Fatal(err)
	}
}

// TestOneRefreshOfProcesses has several processes find the token refused at once.
func TestOneRefreshOfProcesses(t *testing.T) {
	server := authserver.New(t)
	file := filepath.Join(t.TempDir(), "s.db")
	newWorker(t, file, server.Host).connect(t, crm, server)
	server.ExpireAccess()
	var all []*exec.Cmd
	for range 4 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAsker$")
		cmd.Env = append(os.Environ(), askerEnv+"="+file, askerURL+"="+server.Resource, askerAt+"="+server.Host)
		cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if n := server.Count("refresh"); n != 1 || server.Count("refresh: reused") != 0 {
		t.Errorf("%d processes made %v", len(all), server.Log())
	}
}
