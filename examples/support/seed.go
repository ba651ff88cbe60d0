package support

import (
	"context"
	"fmt"
)

const seed = `
INSERT OR IGNORE INTO customers VALUES
	('c-17', 'Ada Okafor', 'ada@example.com'),
	('c-23', 'Jun 山田', 'jun@example.com');
INSERT INTO orders SELECT * FROM (VALUES
	('A-1001', 'c-17', '2025-11-02', 'delivered'),
	('A-1002', 'c-17', '2025-11-19', 'delivered'),
	('A-1003', 'c-17', '2025-11-27', 'shipped'),
	('A-1004', 'c-23', '2025-11-28', 'paid'))
	WHERE NOT EXISTS (SELECT 1 FROM orders);
INSERT INTO items SELECT * FROM (VALUES
	('A-1001', 'Notebook, dotted, A5', 3, 890),
	('A-1002', 'Stoneware mug, blue', 2, 1450),
	('A-1002', 'Ceylon tea, 250 g', 1, 1290),
	('A-1003', 'Teapot, cast iron', 1, 5900),
	('A-1004', 'Stoneware mug, blue', 1, 1450))
	WHERE NOT EXISTS (SELECT 1 FROM items);`

// Seed fills an empty database with two customers and four orders. It leaves one
// that has orders as it is.
func (s *Store) Seed(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	defer tx.Rollback() // does nothing after Commit
	if _, err := tx.ExecContext(ctx, seed); err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	return tx.Commit()
}
