package secrets

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // registers the driver
)

// SQL is a store in a database. Each value is enciphered with a key of its own
// (AES-256-GCM), bound to the secret's name and owner, and that key with one of a
// [Keyring]: whoever has the database alone has nothing.
type SQL struct {
	name  string
	db    *sql.DB
	keys  *Keyring
	query func(string) string // in the database's dialect
	// file is that of SQLite.
	file string

	mu    sync.Mutex
	ready bool
}

// OpenSQLite returns a store in an SQLite file. With the first use it is made if it
// is not there, and its folder, for their owner alone.
func OpenSQLite(path string, keys *Keyring) (*SQL, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	address := url.URL{Scheme: "file", Path: abs, RawQuery: url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "secure_delete(ON)"},
		"_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, fmt.Errorf("secrets: SQLite %s: %w", path, err)
	}
	// $1 is ?1 to SQLite.
	dialect := func(query string) string { return strings.ReplaceAll(query, "$", "?") }
	return &SQL{name: "sqlite " + path, db: db, keys: keys, query: dialect, file: abs}, nil
}

// OpenPostgres returns a store in a PostgreSQL database, which it reaches with the
// first use: on another machine with sslmode=verify-full, unless the address or
// PGSSLMODE says otherwise. The error quotes nothing of the URL, which may hold a password.
func OpenPostgres(address string, keys *Keyring) (*SQL, error) {
	config, err := parsePostgres(address)
	if err != nil {
		return nil, errors.New("secrets: PostgreSQL: want a URL such as postgres://user@host:5432/database")
	}
	db := stdlib.OpenDB(*config)
	const connections, idle = 8, 5 * time.Minute
	db.SetMaxOpenConns(connections)
	db.SetConnMaxIdleTime(idle)
	name := fmt.Sprintf("postgres %s/%s", config.Host, config.Database)
	return &SQL{name: name, db: db, keys: keys, query: func(query string) string { return query }}, nil
}

// parsePostgres reads an address. The driver's own default would go on without TLS
// where the server, or who stands before it, offers none.
func parsePostgres(address string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil || os.Getenv("PGSSLMODE") != "" {
		return config, err
	}
	here := onThisMachine(config.Host)
	for _, other := range config.Fallbacks {
		here = here && onThisMachine(other.Host)
	}
	u, err := url.Parse(address)
	switch isURL := err == nil && u.Scheme != ""; {
	case here, isURL && u.Query().Has("sslmode"), !isURL && strings.Contains(address, "sslmode"):
		return config, nil
	case isURL:
		query := u.Query()
		query.Set("sslmode", "verify-full")
		u.RawQuery = query.Encode()
		return pgx.ParseConfig(u.String())
	default:
		return pgx.ParseConfig(address + " sslmode=verify-full")
	}
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
}

// Times are seconds since 1970, and 0 is none: both databases know them alike.
const schema = `CREATE TABLE IF NOT EXISTS heddle_secrets (
	scope TEXT NOT NULL,
	tenant TEXT NOT NULL,
	owner TEXT NOT NULL,
	name TEXT NOT NULL,
	key_id TEXT NOT NULL,
	wrapped_key BYTEA NOT NULL,
	value BYTEA NOT NULL,
	version BIGINT NOT NULL,
	expires BIGINT NOT NULL,
	updated BIGINT NOT NULL,
	PRIMARY KEY (scope, tenant, owner, name)
)`

// prepare makes the table with the first use, so that a database that is away is no
// reason not to start.
func (s *SQL) prepare(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return nil
	}
	if err := s.makeFile(); err != nil {
		return fmt.Errorf("secrets: %s: %w", s.name, err)
	}
	if _, err := s.db.ExecContext(ctx, schema); err != nil {
		// Two that make the table at once may both find it missing.
		if _, retry := s.db.ExecContext(ctx, schema); retry != nil {
			return fmt.Errorf("secrets: %s: %w", s.name, err)
		}
	}
	s.ready = true
	return nil
}

// makeFile makes the file of SQLite's, which would make it readable by all. The files
// beside it get the same mode.
func (s *SQL) makeFile() error {
	if s.file == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(s.file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// Name names the database.
func (s *SQL) Name() string { return s.name }

// Close closes the connections.
func (s *SQL) Close() error { return s.db.Close() }

// binding is what a value is bound to. No part of a key holds a control character.
func (k Key) binding() string {
	return strings.Join([]string{string(k.Scope), k.Tenant, k.Owner, k.Name}, "\n")
}

func (k Key) columns() []any { return []any{string(k.Scope), k.Tenant, k.Owner, k.Name} }

const ofKey = ` WHERE scope = $1 AND tenant = $2 AND owner = $3 AND name = $4`

// Get reads a secret.
func (s *SQL) Get(ctx context.Context, key Key) (Item, error) {
	if err := s.prepare(ctx); err != nil {
		return Item{}, err
	}
	var (
		item    Item
		kept    sealed
		expires int64
	)
	row := s.db.QueryRowContext(ctx, s.query(`SELECT key_id, wrapped_key, value, version, expires FROM heddle_secrets`+ofKey), key.columns()...)
	err := row.Scan(&kept.keyID, &kept.wrapped, &kept.value, &item.Version, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return Item{}, ErrNotFound
	}
	if err != nil {
		return Item{}, fmt.Errorf("secrets: %s: read: %w", s.name, err)
	}
	if item.Value, err = s.keys.open(key.binding(), kept); err != nil {
		return Item{}, fmt.Errorf("secrets: %s: %s: %w", s.name, key, err)
	}
	item.Expires = fromSeconds(expires)
	return item, nil
}

// Put stores a secret.
func (s *SQL) Put(ctx context.Context, key Key, item Item) error {
	if err := errors.Join(key.Check(), checkValue(item.Value)); err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	kept, err := s.keys.seal(key.binding(), item.Value)
	if err != nil {
		return fmt.Errorf("secrets: encipher: %w", err)
	}
	query := `INSERT INTO heddle_secrets AS old (scope, tenant, owner, name, key_id, wrapped_key, value, expires, updated, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1)
		ON CONFLICT (scope, tenant, owner, name) DO UPDATE SET key_id = excluded.key_id, wrapped_key = excluded.wrapped_key,
			value = excluded.value, expires = excluded.expires, updated = excluded.updated, version = old.version + 1`
	args := append(key.columns(), kept.keyID, kept.wrapped, kept.value, toSeconds(item.Expires), time.Now().Unix())
	if item.Version != 0 {
		query = `UPDATE heddle_secrets SET key_id = $5, wrapped_key = $6, value = $7, expires = $8, updated = $9, version = version + 1` +
			ofKey + ` AND version = $10`
		args = append(args, item.Version)
	}
	changed, err := s.exec(ctx, query, args...)
	switch {
	case err != nil:
		return fmt.Errorf("secrets: %s: store: %w", s.name, err)
	case changed == 0:
		return ErrChanged
	}
	return nil
}

// exec returns how many rows were changed.
func (s *SQL) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := s.db.ExecContext(ctx, s.query(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Delete removes a secret.
func (s *SQL) Delete(ctx context.Context, key Key) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	changed, err := s.exec(ctx, `DELETE FROM heddle_secrets`+ofKey, key.columns()...)
	switch {
	case err != nil:
		return fmt.Errorf("secrets: %s: delete: %w", s.name, err)
	case changed == 0:
		return ErrNotFound
	}
	return nil
}

// List says which secrets there are.
func (s *SQL) List(ctx context.Context) ([]Entry, error) {
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, `SELECT scope, tenant, owner, name, key_id, expires, updated FROM heddle_secrets`)
	if err != nil {
		return nil, fmt.Errorf("secrets: %s: list: %w", s.name, err)
	}
	defer rows.Close()
	var entries []Entry
	for rows.Next() {
		var expires, updated int64
		e := Entry{Store: s.name}
		if err := rows.Scan(&e.Scope, &e.Tenant, &e.Owner, &e.Key.Name, &e.KeyID, &expires, &updated); err != nil {
			return nil, fmt.Errorf("secrets: %s: list: %w", s.name, err)
		}
		e.Expires, e.Updated = fromSeconds(expires), fromSeconds(updated)
		entries = append(entries, e)
	}
	slices.SortFunc(entries, compareEntries)
	return entries, rows.Err()
}

// Rotate enciphers all values anew, each with a new key that is wrapped with the newest.
// It may run while secrets are used and changed. A failure, or the end of the process,
// leaves each value enciphered with one key or the other, and the rest to another run.
func (s *SQL) Rotate(ctx context.Context) (rotated int, err error) {
	entries, err := s.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if e.KeyID == s.keys.newest() {
			continue
		}
		done, err := s.reseal(ctx, e.Key)
		if err != nil {
			return rotated, fmt.Errorf("secrets: %s: rotate %s: %w", s.name, e.Key, err)
		}
		if done {
			rotated++
		}
	}
	return rotated, nil
}

func (s *SQL) reseal(ctx context.Context, key Key) (done bool, err error) {
	var (
		old     sealed
		version int64
	)
	row := s.db.QueryRowContext(ctx, s.query(`SELECT key_id, wrapped_key, value, version FROM heddle_secrets`+ofKey), key.columns()...)
	switch err := row.Scan(&old.keyID, &old.wrapped, &old.value, &version); {
	case errors.Is(err, sql.ErrNoRows): // deleted meanwhile
		return false, nil
	case err != nil:
		return false, err
	}
	value, err := s.keys.open(key.binding(), old)
	if err != nil {
		return false, err
	}
	defer wipe(value)
	fresh, err := s.keys.seal(key.binding(), value)
	if err != nil {
		return false, err
	}
	// One that was changed meanwhile was enciphered by that; where it was with an older
	// key, by a worker that knows no newer, it is found by the next run.
	changed, err := s.exec(ctx, `UPDATE heddle_secrets SET key_id = $5, wrapped_key = $6, value = $7`+ofKey+` AND version = $8 AND key_id = $9`,
		append(key.columns(), fresh.keyID, fresh.wrapped, fresh.value, version, old.keyID)...)
	return changed > 0, err
}

func toSeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func fromSeconds(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
