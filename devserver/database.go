package main

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	serversql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/resolver"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// filePragmas are the pragmas of a database file, each of which --sqlite-pragma
// can override.
var filePragmas = map[string]string{
	// With a write-ahead log a commit is one sequential append, and a server that
	// is killed halfway through one leaves the database as it was before.
	"journal_mode": "wal",

	// NORMAL syncs the log to the disk at checkpoints only, not at every commit.
	// A commit is in the kernel's page cache once it returns, so it survives any
	// end of this process, kill -9 included. What it may not survive is the end of
	// the machine: after a power cut the last commits can be missing, while the
	// database itself stays consistent and the workflows resume from an earlier
	// point. FULL would close that gap at the price of one sync per commit, of
	// which each step of a workflow makes several; use it where that is worth it.
	"synchronous": "normal",

	// The server holds the only connection. Locking the file for as long as it is
	// open saves the locking per query, and it makes a second server on the same
	// file fail at its start instead of fighting over the history shard.
	"locking_mode": "exclusive",

	// A server that was just killed may need a moment to give up its lock.
	"busy_timeout": "3000",
}

// allowedPragmas are the names --sqlite-pragma takes.
var allowedPragmas = []string{
	"busy_timeout", "cache_size", "journal_mode", "journal_size_limit", "locking_mode",
	"mmap_size", "synchronous", "temp_store", "wal_autocheckpoint",
}

// newDatabaseConfig returns how the server connects to SQLite: to the given file,
// or to memory if there is none.
func newDatabaseConfig(filename string, pragmas map[string]string) *config.SQL {
	cfg := &config.SQL{
		PluginName:        sqliteplugin.PluginName,
		ConnectAttributes: make(map[string]string),
		// SQLite has one writer at a time. Queueing for the one connection is
		// cheaper than finding the database locked and trying again.
		MaxConns:     1,
		MaxIdleConns: 1,
	}
	if filename == "" {
		// The plugin creates the schema of a memory database by itself. The name
		// keeps it apart from others within a process, such as those of tests.
		cfg.DatabaseName = rand.Text()
		cfg.ConnectAttributes["mode"] = "memory"
		cfg.ConnectAttributes["cache"] = "shared"
	} else {
		cfg.DatabaseName = uriPath(filename)
		cfg.ConnectAttributes["mode"] = "rw" // created by prepareFile, never silently anew
		maps.Copy(cfg.ConnectAttributes, filePragmas)
	}
	maps.Copy(cfg.ConnectAttributes, pragmas)
	return cfg
}

// uriPath escapes what has a meaning in the URI that the plugin makes of the name.
func uriPath(filename string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filename)
}

// prepareFile makes sure that the database file exists, is writable and has the
// schema of this server.
func prepareFile(filename string) (err error) {
	if info, statErr := os.Stat(filename); statErr == nil && info.IsDir() {
		return errors.New("it is a directory")
	}
	if _, statErr := os.Stat(filepath.Dir(filename)); statErr != nil {
		return fmt.Errorf("its directory: %w", statErr)
	}
	// A plain open first: its error says "permission denied" where SQLite only
	// has "unable to open database file".
	f, err := os.OpenFile(filename, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	// IMMEDIATE takes the write lock at once, so that of two servers started
	// together on a new file one waits and then finds the schema in place.
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?mode=rw&_txlock=immediate&_pragma=busy_timeout(%s)",
		uriPath(filename), filePragmas["busy_timeout"]))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if err := ensureSchema(db); err != nil {
		return explainSQLite(err)
	}
	return nil
}

// checkpoint writes what is in the write-ahead log into the database file and
// syncs it, so that after a graceful stop the one file is all there is: it can be
// copied, and it is safe even from a power cut. It goes through the plugin, which
// shares its one connection with the server and never closes it.
func checkpoint(cfg *config.SQL) error {
	db, err := serversql.NewSQLAdminDB(sqlplugin.DbKindMain, cfg, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
}

// explainSQLite puts the errors a user can do something about into words.
func explainSQLite(err error) error {
	var sqliteErr *sqlite.Error
	if !errors.As(err, &sqliteErr) {
		return err
	}
	switch sqliteErr.Code() & 0xff { // the low byte is the primary code
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return errors.New("it is in use, probably by another server")
	case sqlite3.SQLITE_NOTADB:
		return errors.New("it is not a SQLite database")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("it is not writable (SQLite also writes files beside it, in the same directory): %w", err)
	default:
		return err
	}
}
