//go:build unix

package testkit

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver
)

// postgres is the server that the tests of a process share.
var postgres struct {
	sync.Mutex
	dir     string
	process *exec.Cmd
	count   int
}

// Postgres returns the URL of an empty database of a real PostgreSQL server, which
// listens in a folder of its own and ends with the process. It returns nothing where the
// server's programs (initdb and postgres) are not installed, or where it runs as root,
// which PostgreSQL does not, and there is no user postgres.
func Postgres(t testing.TB) string {
	t.Helper()
	requireMain(t)
	postgres.Lock()
	defer postgres.Unlock()
	if postgres.process == nil && !startPostgres(t) {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	db, err := sql.Open("pgx", postgresURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for db.PingContext(ctx) != nil { // until it has started
		if ctx.Err() != nil {
			t.Fatal("testkit: PostgreSQL does not answer")
		}
		time.Sleep(20 * time.Millisecond)
	}
	postgres.count++
	name := fmt.Sprintf("test%d", postgres.count)
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return postgresURL(name)
}

func postgresURL(database string) string {
	return "postgres://heddle@/" + database + "?host=" + url.QueryEscape(postgres.dir)
}

func stopPostgres() {
	if postgres.process != nil {
		_ = postgres.process.Process.Signal(syscall.SIGQUIT) // stops at once
		_ = postgres.process.Wait()
	}
	if postgres.dir != "" {
		_ = os.RemoveAll(postgres.dir)
	}
}

func startPostgres(t testing.TB) bool {
	t.Helper()
	initdb, server := postgresProgram("initdb"), postgresProgram("postgres")
	if initdb == "" || server == "" {
		return false
	}
	dir, err := os.MkdirTemp("", "heddle-pg-")
	if err != nil {
		t.Fatal(err)
	}
	postgres.dir = dir
	var attributes *syscall.SysProcAttr
	if os.Geteuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			return false
		}
		uid, _ := strconv.Atoi(owner.Uid) // numbers on every Unix
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		attributes = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	data := filepath.Join(dir, "data")
	setup := exec.Command(initdb, "-D", data, "-U", "heddle", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	setup.SysProcAttr, setup.Dir = attributes, dir
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	cmd := exec.Command(server, "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	cmd.SysProcAttr, cmd.Dir = attributes, dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	postgres.process = cmd
	return true
}

// postgresProgram finds a program of PostgreSQL's, also where Debian puts it.
func postgresProgram(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is sound
	if len(paths) == 0 {
		return ""
	}
	return paths[len(paths)-1]
}
