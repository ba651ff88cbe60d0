package support

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle"
)

func newStore(t *testing.T) *Store {
	t.Helper()
	store, err := Open(t.Context(), filepath.Join(t.TempDir(), "orders.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // a second seed changes nothing
		if err := store.Seed(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func refunded(t *testing.T, s *Store, order string) (cents int64, refunds int) {
	t.Helper()
	o, _, made, err := s.Order(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	return o.RefundedCents, len(made)
}

func TestSearchOrders(t *testing.T) {
	s := newStore(t)
	for _, test := range []struct {
		customer, item string
		limit          int
		want           string
	}{
		{"ada@example.com", "", 20, "[A-1003 A-1002 A-1001]"},
		{"ADA@example.com", "MUG", 20, "[A-1002]"},
		{"c-17", "", 2, "[A-1003 A-1002]"},
		{"", "mug", 20, "[A-1004 A-1002]"},
		{"", "%", 20, "[]"},
		{"nobody", "", 20, "[]"},
		{"' OR 1=1 --", "", 20, "[]"},
	} {
		orders, err := s.SearchOrders(t.Context(), test.customer, test.item, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, o := range orders {
			ids = append(ids, o.ID)
		}
		if got := fmt.Sprint(ids); got != test.want {
			t.Errorf("SearchOrders(%q, %q) = %s, want %s", test.customer, test.item, got, test.want)
		}
	}
}

func TestOrder(t *testing.T) {
	s := newStore(t)
	order, items, refunds, err := s.Order(t.Context(), "A-1002")
	if err != nil {
		t.Fatal(err)
	}
	if order.TotalCents != 4190 || order.RefundedCents != 0 || len(items) != 2 || refunds == nil || len(refunds) != 0 {
		t.Errorf("order %+v, items %v, refunds %v", order, items, refunds)
	}
	if _, _, _, err := s.Order(t.Context(), "A-9"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an order that is not there: %v", err)
	}
	if _, err := s.Customer(t.Context(), "nobody"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a customer who is not there: %v", err)
	}
}

func TestRefundIsMadeOncePerKey(t *testing.T) {
	s := newStore(t)
	first, err := s.Refund(t.Context(), "k1", "A-1002", 1450, "broken")
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Refund(t.Context(), "k1", "A-1002", 1450, "broken")
	if err != nil || again != first {
		t.Errorf("the same key again: %+v, %v; want %+v", again, err, first)
	}
	if _, err := s.Refund(t.Context(), "k2", "A-1002", 1450, "the other one"); err != nil {
		t.Errorf("another refund of as much: %v", err)
	}
	if cents, n := refunded(t, s, "A-1002"); cents != 2900 || n != 2 {
		t.Errorf("%d cents in %d refunds, want 2900 in 2", cents, n)
	}
}

func TestRefundIsMadeOnceWhenItIsTriedAtOnce(t *testing.T) {
	s := newStore(t)
	var tries sync.WaitGroup
	for i := range 20 {
		tries.Go(func() {
			// Ten keys, each twice: all of them are wanted, each once.
			if _, err := s.Refund(t.Context(), fmt.Sprintf("k%d", i%10), "A-1002", 100, "broken"); err != nil {
				t.Error(err)
			}
		})
	}
	tries.Wait()
	if cents, n := refunded(t, s, "A-1002"); cents != 1000 || n != 10 {
		t.Errorf("%d cents in %d refunds, want 1000 in 10", cents, n)
	}
}

func TestRefundRefuses(t *testing.T) {
	s := newStore(t)
	if _, err := s.db.ExecContext(t.Context(), `UPDATE orders SET status = 'cancelled' WHERE id = 'A-1004'`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Refund(t.Context(), "used", "A-1001", 2000, "late"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, key, order string
		cents            int64
		want             string
		left             int64
	}{
		{"nothing", "k", "A-1002", 0, "order A-1002: a refund of 0 cents is none", 4190},
		{"less than nothing", "k", "A-1002", -5, "order A-1002: a refund of -5 cents is none", 4190},
		{"more than the order", "k", "A-1002", 4191, "order A-1002: 4191 cents are more than what is left of it, 4190 of 4190 cents", 4190},
		{"more than is left", "k", "A-1001", 671, "order A-1001: 671 cents are more than what is left of it, 670 of 2670 cents", 670},
		{"a cancelled order", "k", "A-1004", 1, "order A-1004: it is cancelled, and was refunded with that", 1450},
		{"a key of another refund", "used", "A-1001", 100, "order A-1001: the idempotency key was used for another refund", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := s.Refund(t.Context(), test.key, test.order, test.cents, "because")
			var refused *RefusedError
			if !errors.As(err, &refused) || err.Error() != test.want || refused.LeftCents != test.left {
				t.Errorf("Refund: %v, %+v; want %q, %d cents left", err, refused, test.want, test.left)
			}
		})
	}
	if _, err := s.Refund(t.Context(), "k", "A-9", 1, "because"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an order that is not there: %v", err)
	}
	if _, err := s.Refund(t.Context(), "", "A-1002", 1, "because"); err == nil {
		t.Error("a refund without a key was made")
	}
	if cents, n := refunded(t, s, "A-1001"); cents != 2000 || n != 1 {
		t.Errorf("what was refused has changed the refunds to %d cents in %d", cents, n)
	}
	if _, err := s.Refund(t.Context(), "rest", "A-1001", 670, "late"); err != nil {
		t.Errorf("the rest of an order: %v", err)
	}
	if _, err := s.Refund(t.Context(), "more", "A-1001", 1, "late"); err == nil || err.Error() != "order A-1001: it is refunded in full already, 2670 cents" {
		t.Errorf("an order that is refunded in full: %v", err)
	}
}

func TestExampleConfigurationIsRight(t *testing.T) {
	s := newStore(t)
	app, err := newApp(s)
	if app == nil || err != nil {
		t.Errorf("the example's heddle.yaml: %v", err)
	}
}

func newApp(s *Store) (*heddle.App, error) {
	return heddle.New(Tools(s), heddle.ConfigFile("heddle.yaml"))
}
