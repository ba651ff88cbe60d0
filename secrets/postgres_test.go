package secrets_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
)

// postgres is the server that the tests share.
var postgres struct {
	sync.Mutex
	dir     string
	process *exec.Cmd
	count   int
	missing string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if postgres.process != nil {
		_ = postgres.process.Process.Signal(syscall.SIGQUIT) // stops at once
		_ = postgres.process.Wait()
	}
	if postgres.dir != "" {
		_ = os.RemoveAll(postgres.dir)
	}
	os.Exit(code)
}

// newDatabase returns the address of an empty database of a real PostgreSQL server,
// and skips the test where its programs are not installed.
func newDatabase(t *testing.T) string {
	t.Helper()
	postgres.Lock()
	defer postgres.Unlock()
	if postgres.process == nil && postgres.missing == "" {
		startPostgres(t)
	}
	if postgres.missing != "" {
		t.Skip(postgres.missing)
	}
	postgres.count++
	name := fmt.Sprintf("test%d", postgres.count)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	db, err := sql.Open("pgx", postgresAddress("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for db.PingContext(ctx) != nil { // until it has started
		if ctx.Err() != nil {
			t.Fatal("PostgreSQL does not answer")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if _, err := db.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return postgresAddress(name)
}

func postgresAddress(database string) string {
	return fmt.Sprintf("host=%s user=heddle dbname=%s", postgres.dir, database)
}

// startPostgres starts a server that listens in a folder of its own. It does not run
// as root, so it is given to the user postgres, or nobody, where the tests do.
func startPostgres(t *testing.T) {
	t.Helper()
	initdb, server := postgresProgram("initdb"), postgresProgram("postgres")
	if initdb == "" || server == "" {
		postgres.missing = "install PostgreSQL (initdb and postgres), to test the store on a real server"
		return
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
			postgres.missing = "add a user postgres, as PostgreSQL does not run as root"
			return
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

func TestPostgresKeepsNoValueInTheOpen(t *testing.T) {
	address := newDatabase(t)
	store := openPostgres(t, address, ring("k1"))
	put(t, store, aKey, item("long-secret-value"))
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var row string
	if err := db.QueryRowContext(t.Context(), `SELECT heddle_secrets::text FROM heddle_secrets`).Scan(&row); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(row, "long-secret") || strings.Contains(row, fmt.Sprintf("%x", "long-secret")) {
		t.Errorf("the value is in the table: %s", row)
	}
}
