package support

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver
)

const schema = `
CREATE TABLE IF NOT EXISTS customers (
	id    TEXT PRIMARY KEY,
	name  TEXT NOT NULL,
	email TEXT NOT NULL UNIQUE COLLATE NOCASE
) STRICT;
CREATE TABLE IF NOT EXISTS orders (
	id        TEXT PRIMARY KEY,
	customer  TEXT NOT NULL REFERENCES customers(id),
	placed_on TEXT NOT NULL,
	status    TEXT NOT NULL CHECK (status IN ('paid', 'shipped', 'delivered', 'cancelled'))
) STRICT;
CREATE TABLE IF NOT EXISTS items (
	order_id TEXT NOT NULL REFERENCES orders(id),
	title    TEXT NOT NULL,
	quantity INTEGER NOT NULL CHECK (quantity > 0),
	cents    INTEGER NOT NULL CHECK (cents >= 0)
) STRICT;
CREATE TABLE IF NOT EXISTS refunds (
	id              INTEGER PRIMARY KEY,
	order_id        TEXT NOT NULL REFERENCES orders(id),
	cents           INTEGER NOT NULL CHECK (cents > 0),
	reason          TEXT NOT NULL,
	made_at         TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
	idempotency_key TEXT NOT NULL UNIQUE
) STRICT;`

// Store is the shop's database. It is safe for concurrent use, by several
// processes too.
type Store struct{ db *sql.DB }

// Open opens the database file, creating an empty database if there is none.
func Open(ctx context.Context, path string) (*Store, error) {
	// Writers wait for one another instead of failing, and take the lock at their
	// beginning, so that what a transaction has read still holds when it writes.
	options := url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}
	db, err := sql.Open("sqlite", "file:"+path+"?"+options.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("create the tables of %s: %w", path, err), db.Close())
	}
	return &Store{db}, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// Customer is a customer of the shop.
type Customer struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Order is an order, with the sums that a decision about a refund needs.
type Order struct {
	ID            string `json:"id"`
	Customer      string `json:"customer"`
	PlacedOn      string `json:"placed_on" jsonschema:"format=date"`
	Status        string `json:"status" jsonschema:"enum=paid,enum=shipped,enum=delivered,enum=cancelled"`
	TotalCents    int64  `json:"total_cents"`
	RefundedCents int64  `json:"refunded_cents"`
}

// Item is a line of an order.
type Item struct {
	Title    string `json:"title"`
	Quantity int64  `json:"quantity"`
	Cents    int64  `json:"cents" jsonschema_description:"price of one, in cents"`
}

// Refund is money given back for an order.
type Refund struct {
	ID     int64  `json:"id"`
	Order  string `json:"order"`
	Cents  int64  `json:"cents"`
	Reason string `json:"reason"`
	MadeAt string `json:"made_at" jsonschema:"format=date-time"`
}

// ErrNotFound: there is no such order or customer.
var ErrNotFound = errors.New("not found")

const selectOrders = `
SELECT o.id, o.customer, o.placed_on, o.status,
	(SELECT coalesce(sum(quantity * cents), 0) FROM items WHERE order_id = o.id),
	(SELECT coalesce(sum(cents), 0) FROM refunds WHERE order_id = o.id)
FROM orders o JOIN customers c ON c.id = o.customer`

// SearchOrders returns the orders that fit, newest first: those of a customer,
// named by id or e-mail address, and those with an item whose title holds text.
// Empty fits all.
func (s *Store) SearchOrders(ctx context.Context, customer, text string, limit int) ([]Order, error) {
	rows, err := s.db.QueryContext(ctx, selectOrders+`
		WHERE (?1 = '' OR c.id = ?1 OR c.email = ?1)
		AND (?2 = '' OR EXISTS (SELECT 1 FROM items WHERE order_id = o.id AND instr(lower(title), lower(?2)) > 0))
		ORDER BY o.placed_on DESC, o.id DESC LIMIT ?3`, customer, text, limit)
	if err != nil {
		return nil, fmt.Errorf("search orders: %w", err)
	}
	return collect(rows, func(o *Order) []any {
		return []any{&o.ID, &o.Customer, &o.PlacedOn, &o.Status, &o.TotalCents, &o.RefundedCents}
	})
}

// Order returns an order with its items and refunds.
func (s *Store) Order(ctx context.Context, id string) (Order, []Item, []Refund, error) {
	order, err := orderOf(ctx, s.db, id)
	if err != nil {
		return order, nil, nil, err
	}
	rows, err := s.db.QueryContext(ctx, `SELECT title, quantity, cents FROM items WHERE order_id = ? ORDER BY rowid`, id)
	if err != nil {
		return order, nil, nil, fmt.Errorf("items of order %s: %w", id, err)
	}
	items, err := collect(rows, func(i *Item) []any { return []any{&i.Title, &i.Quantity, &i.Cents} })
	if err != nil {
		return order, nil, nil, err
	}
	refunds, err := s.Refunds(ctx, id)
	return order, items, refunds, err
}

// Refunds returns the refunds of an order, in the order in which they were made.
func (s *Store) Refunds(ctx context.Context, order string) ([]Refund, error) {
	rows, err := s.db.QueryContext(ctx,
		`SELECT id, order_id, cents, reason, made_at FROM refunds WHERE order_id = ? ORDER BY id`, order)
	if err != nil {
		return nil, fmt.Errorf("refunds of order %s: %w", order, err)
	}
	return collect(rows, func(r *Refund) []any { return []any{&r.ID, &r.Order, &r.Cents, &r.Reason, &r.MadeAt} })
}

// Customer returns a customer, named by id or e-mail address.
func (s *Store) Customer(ctx context.Context, customer string) (Customer, error) {
	var c Customer
	err := s.db.QueryRowContext(ctx, `SELECT id, name, email FROM customers WHERE id = ?1 OR email = ?1`, customer).
		Scan(&c.ID, &c.Name, &c.Email)
	if errors.Is(err, sql.ErrNoRows) {
		return c, fmt.Errorf("customer %s: %w", customer, ErrNotFound)
	}
	if err != nil {
		return c, fmt.Errorf("customer %s: %w", customer, err)
	}
	return c, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func orderOf(ctx context.Context, q querier, id string) (Order, error) {
	var o Order
	err := q.QueryRowContext(ctx, selectOrders+` WHERE o.id = ?`, id).
		Scan(&o.ID, &o.Customer, &o.PlacedOn, &o.Status, &o.TotalCents, &o.RefundedCents)
	if errors.Is(err, sql.ErrNoRows) {
		return o, fmt.Errorf("order %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return o, fmt.Errorf("order %s: %w", id, err)
	}
	return o, nil
}

// collect scans all rows. The result is never nil: a list of none is [] in JSON.
func collect[T any](rows *sql.Rows, columns func(*T) []any) ([]T, error) {
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		var one T
		if err := rows.Scan(columns(&one)...); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
