package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// records is the target's database: what it was asked for, and what it applied.
type records struct {
	db *sql.DB
	// start is how often the target has been started before.
	start int

	mu sync.Mutex
	// tried counts the requests of this process by what they are for.
	tried map[string]int
	// under counts the requests of a key that are being carried out, and at has the
	// keys that are at an account.
	under map[string]int
	at    map[string][]string
}

const recordsSchema = `
CREATE TABLE IF NOT EXISTS starts (at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))) STRICT;
CREATE TABLE IF NOT EXISTS requests (
	id     INTEGER PRIMARY KEY,
	key    TEXT NOT NULL,
	thread TEXT NOT NULL,
	intent TEXT NOT NULL,
	fault  TEXT NOT NULL,
	at     TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
CREATE TABLE IF NOT EXISTS overlaps (
	account TEXT NOT NULL,
	key     TEXT NOT NULL,
	other   TEXT NOT NULL,
	at      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
CREATE TABLE IF NOT EXISTS effects (
	id      INTEGER PRIMARY KEY,
	request INTEGER NOT NULL REFERENCES requests(id),
	key     TEXT NOT NULL,
	thread  TEXT NOT NULL,
	intent  TEXT NOT NULL,
	at      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;`

// openRecords opens the database, creating an empty one if there is none.
func openRecords(ctx context.Context, path string) (*records, error) {
	options := url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)"},
		"_txlock": {"immediate"},
	}
	db, err := sql.Open("sqlite", "file:"+path+"?"+options.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if _, err := db.ExecContext(ctx, recordsSchema); err != nil {
		return nil, errors.Join(fmt.Errorf("create the tables of %s: %w", path, err), db.Close())
	}
	return &records{db: db, tried: map[string]int{}, under: map[string]int{}, at: map[string][]string{}}, nil
}

// started counts this start of the target: after it, the same requests meet other
// faults.
func (r *records) started(ctx context.Context) error {
	if err := r.db.QueryRowContext(ctx, `SELECT count(*) FROM starts`).Scan(&r.start); err != nil {
		return err
	}
	_, err := r.db.ExecContext(ctx, `INSERT INTO starts DEFAULT VALUES`)
	return err
}

func (r *records) Close() error { return r.db.Close() }

// request is one request for a write.
type request struct {
	Key, Thread, Intent string
	Fault               fault
}

// try counts one more request for the same, and names it.
func (r *records) try(of string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried[of]++
	return fmt.Sprintf("start %d, try %d", r.start, r.tried[of])
}

// begin says that a request of a key is being carried out, until the returned
// function is called.
func (r *records) begin(key string) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.under[key]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.under[key]--
	}
}

// enter says that a request is at an account until the returned function is called,
// and records whom else it meets there. No account: nothing.
func (r *records) enter(ctx context.Context, account string, q request) (leave func(), err error) {
	if account == "" {
		return func() {}, nil
	}
	r.mu.Lock()
	met := slices.DeleteFunc(slices.Clone(r.at[account]), func(key string) bool { return key == q.Key })
	r.at[account] = append(r.at[account], q.Key)
	r.mu.Unlock()
	leave = func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		i := slices.Index(r.at[account], q.Key)
		r.at[account] = slices.Delete(slices.Clone(r.at[account]), i, i+1)
	}
	for _, other := range met {
		if _, err := r.db.ExecContext(ctx, `INSERT INTO overlaps (account, key, other) VALUES (?, ?, ?)`, account, q.Key, other); err != nil {
			leave()
			return nil, err
		}
	}
	return leave, nil
}

// overlaps counts the requests that met another at their account.
func (r *records) overlaps(ctx context.Context) (n int, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT count(*) FROM overlaps`).Scan(&n)
	return n, err
}

// pending reports whether a request of a key is being carried out.
func (r *records) pending(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.under[key] > 0
}

// applied returns the effect of a key; nil if there is none.
func (r *records) applied(ctx context.Context, key string) (*answer, error) {
	var a answer
	err := r.db.QueryRowContext(ctx, `SELECT thread, intent, id FROM effects WHERE key = ? ORDER BY id LIMIT 1`, key).Scan(&a.Thread, &a.Intent, &a.Effect)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &a, err
}

// arrived records a request before anything comes of it.
func (r *records) arrived(ctx context.Context, q request) (id int64, err error) {
	result, err := r.db.ExecContext(ctx, `INSERT INTO requests (key, thread, intent, fault) VALUES (?, ?, ?, ?)`,
		q.Key, q.Thread, q.Intent, string(q.Fault))
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// apply records an effect. One that honours keys has none for a key that had one.
func (r *records) apply(ctx context.Context, id int64, q request, honoursKeys bool) (effect int64, err error) {
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	if honoursKeys {
		err := tx.QueryRowContext(ctx, `SELECT id FROM effects WHERE key = ? ORDER BY id LIMIT 1`, q.Key).Scan(&effect)
		if !errors.Is(err, sql.ErrNoRows) {
			return effect, err
		}
	}
	result, err := tx.ExecContext(ctx, `INSERT INTO effects (request, key, thread, intent) VALUES (?, ?, ?, ?)`,
		id, q.Key, q.Thread, q.Intent)
	if err != nil {
		return 0, err
	}
	if effect, err = result.LastInsertId(); err != nil {
		return 0, err
	}
	return effect, tx.Commit()
}

// intentRecord is what the target has of one intent of a thread.
type intentRecord struct {
	// Effects is how often it was applied, and AppliedAt is when, first.
	Effects   int
	AppliedAt time.Time
	// Keys are the idempotency keys under which it was asked for.
	Keys map[string]bool
	// Faults are those of its requests.
	Faults []fault
}

// all is what the target has, by thread and intent.
func (r *records) all(ctx context.Context) (map[[2]string]*intentRecord, error) {
	found := map[[2]string]*intentRecord{}
	of := func(thread, intent string) *intentRecord {
		at := [2]string{thread, intent}
		if found[at] == nil {
			found[at] = &intentRecord{Keys: map[string]bool{}}
		}
		return found[at]
	}
	requests, err := r.db.QueryContext(ctx, `SELECT requests.key, requests.thread, requests.intent, fault, coalesce(effects.at, '')
		FROM requests LEFT JOIN effects ON request = requests.id ORDER BY requests.id`)
	if err != nil {
		return nil, err
	}
	defer requests.Close()
	for requests.Next() {
		var q request
		var applied string
		if err := requests.Scan(&q.Key, &q.Thread, &q.Intent, &q.Fault, &applied); err != nil {
			return nil, err
		}
		record := of(q.Thread, q.Intent)
		record.Keys[q.Key] = true
		record.Faults = append(record.Faults, q.Fault)
		if applied == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, applied)
		if err != nil {
			return nil, err
		}
		if record.Effects++; record.Effects == 1 || at.Before(record.AppliedAt) {
			record.AppliedAt = at
		}
	}
	return found, requests.Err()
}
