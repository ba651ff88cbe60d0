package support

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// RefusedError is why a refund cannot be made, however often it is tried.
type RefusedError struct {
	Order   string
	Message string
	// LeftCents is what could still be refunded.
	LeftCents int64
}

// Error says which order and why.
func (e *RefusedError) Error() string { return fmt.Sprintf("order %s: %s", e.Order, e.Message) }

// Refund gives money back for an order, once for each idempotency key: a second
// call with the same key returns the refund that the first made. What cannot be
// refunded is a [*RefusedError] or [ErrNotFound], and changes nothing.
func (s *Store) Refund(ctx context.Context, key, order string, cents int64, reason string) (Refund, error) {
	if key == "" {
		return Refund{}, errors.New("a refund needs an idempotency key")
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return Refund{}, fmt.Errorf("refund: %w", err)
	}
	defer tx.Rollback() // does nothing after Commit
	made, err := refundOf(ctx, tx, key)
	if err == nil {
		if made.Order != order || made.Cents != cents {
			return Refund{}, &RefusedError{Order: order, Message: "the idempotency key was used for another refund"}
		}
		return made, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return Refund{}, fmt.Errorf("refund: %w", err)
	}
	o, err := orderOf(ctx, tx, order)
	if err != nil {
		return Refund{}, err
	}
	if err := refundable(o, cents); err != nil {
		return Refund{}, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO refunds (order_id, cents, reason, idempotency_key) VALUES (?, ?, ?, ?)`,
		order, cents, reason, key); err != nil {
		return Refund{}, fmt.Errorf("refund: %w", err)
	}
	if made, err = refundOf(ctx, tx, key); err != nil {
		return Refund{}, fmt.Errorf("refund: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return Refund{}, fmt.Errorf("refund: %w", err)
	}
	return made, nil
}

// refundable says why an order cannot be refunded by so much.
func refundable(o Order, cents int64) error {
	left := o.TotalCents - o.RefundedCents
	refuse := func(format string, args ...any) error {
		return &RefusedError{Order: o.ID, Message: fmt.Sprintf(format, args...), LeftCents: max(left, 0)}
	}
	switch {
	case cents <= 0:
		return refuse("a refund of %d cents is none", cents)
	case o.Status == "cancelled":
		return refuse("it is cancelled, and was refunded with that")
	case left <= 0:
		return refuse("it is refunded in full already, %d cents", o.RefundedCents)
	case cents > left:
		return refuse("%d cents are more than what is left of it, %d of %d cents", cents, left, o.TotalCents)
	}
	return nil
}

func refundOf(ctx context.Context, tx *sql.Tx, key string) (Refund, error) {
	var r Refund
	err := tx.QueryRowContext(ctx, `SELECT id, order_id, cents, reason, made_at FROM refunds WHERE idempotency_key = ?`, key).
		Scan(&r.ID, &r.Order, &r.Cents, &r.Reason, &r.MadeAt)
	return r, err
}
