package secrets_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/secrets"
)

func vault(t *testing.T, renew secrets.Renew, values map[secrets.Key]string) (*secrets.Vault, secrets.Store) {
	t.Helper()
	store := fileStore(t)
	for key, value := range values {
		put(t, store, key, secrets.Item{Value: []byte(value)})
	}
	return secrets.NewVault(&secrets.Redactor{}, renew, store), store
}

func put(t *testing.T, store secrets.Store, key secrets.Key, item secrets.Item) {
	t.Helper()
	if err := store.Put(t.Context(), key, item); err != nil {
		t.Fatal(err)
	}
}

func used(t *testing.T, v *secrets.Vault, scope catalog.Scope, ref string) (string, error) {
	t.Helper()
	var got string
	err := v.Use(t.Context(), scope, ref, func(value []byte) error {
		got = string(value)
		return nil
	})
	return got, err
}

func TestTheNarrowestSecretIsUsed(t *testing.T) {
	v, _ := vault(t, nil, map[secrets.Key]string{
		{Scope: secrets.App, Name: "a"}:                                       "app-a",
		{Scope: secrets.Tenant, Tenant: "acme", Name: "a"}:                    "acme-a",
		{Scope: secrets.User, Tenant: "acme", Owner: "ann", Name: "a"}:        "ann-a",
		{Scope: secrets.Connection, Tenant: "acme", Owner: "crm", Name: "a"}:  "crm-a",
		{Scope: secrets.Tenant, Tenant: "other", Name: "a"}:                   "other-a",
		{Scope: secrets.Connection, Tenant: "other", Owner: "crm", Name: "a"}: "other-crm-a",
	})
	ann := catalog.Scope{Tenant: "acme", User: "ann"}
	for _, test := range []struct {
		scope     catalog.Scope
		ref, want string
	}{
		{ann, "a", "ann-a"},
		{ann, "user:a", "ann-a"},
		{ann, "tenant:a", "acme-a"},
		{ann, "app:a", "app-a"},
		{ann, "connection:crm:a", "crm-a"},
		{catalog.Scope{Tenant: "acme", User: "bob"}, "a", "acme-a"},
		{catalog.Scope{Tenant: "acme"}, "user:a", ""},
		{catalog.Scope{Tenant: "other"}, "a", "other-a"},
		{catalog.Scope{Tenant: "other"}, "connection:crm:a", "other-crm-a"},
		{catalog.Scope{Tenant: "third", User: "ann"}, "a", "app-a"},
		{catalog.Scope{Tenant: "third", User: "ann"}, "tenant:a", ""},
		{catalog.Scope{}, "a", "app-a"},
		{catalog.Scope{}, "tenant:a", ""},
		{ann, "b", ""},
	} {
		got, err := used(t, v, test.scope, test.ref)
		if got != test.want || (test.want == "") != errors.Is(err, catalog.ErrNoSecret) {
			t.Errorf("%s of %+v is %q, %v; want %q", test.ref, test.scope, got, err, test.want)
		}
	}
}

func TestAValueIsOverwrittenAfterItsUse(t *testing.T) {
	v, _ := vault(t, nil, map[secrets.Key]string{{Scope: secrets.App, Name: "a"}: "long-secret-value"})
	var kept []byte
	func() {
		defer func() { _ = recover() }()
		_ = v.Use(t.Context(), catalog.Scope{}, "a", func(value []byte) error {
			kept = value
			panic("a tool's fault")
		})
	}()
	if !bytes.Equal(kept, make([]byte, len("long-secret-value"))) {
		t.Errorf("the value is still %q", kept)
	}
	if got := v.Text(catalog.Scope{Tenant: "acme"}, "x long-secret-value"); got != "x [redacted]" {
		t.Errorf("the redactor does not know it: %q", got)
	}
}

func TestKnowFindsWhatOthersUse(t *testing.T) {
	v, _ := vault(t, nil, map[secrets.Key]string{
		{Scope: secrets.App, Name: "a"}:                    "app-secret-value",
		{Scope: secrets.Tenant, Tenant: "acme", Name: "a"}: "acme-secret-value",
	})
	acme := catalog.Scope{Tenant: "acme"}
	if err := v.Know(t.Context(), acme, []string{"a", "none"}); err != nil {
		t.Fatal(err)
	}
	if got := string(v.JSON(acme, []byte(`["app-secret-value","acme-secret-value"]`))); got != `["[redacted]","[redacted]"]` {
		t.Errorf("JSON = %s", got)
	}
	if got := v.Text(catalog.Scope{Tenant: "other"}, "acme-secret-value"); got != "acme-secret-value" {
		t.Errorf("another tenant learns of it: %q", got)
	}
}

func TestAnErrorOfAStoreIsTold(t *testing.T) {
	v := secrets.NewVault(&secrets.Redactor{}, nil, broken{})
	if _, err := used(t, v, catalog.Scope{Tenant: "acme"}, "a"); !errors.Is(err, errBroken) {
		t.Errorf("Use: %v", err)
	}
	if err := v.Know(t.Context(), catalog.Scope{Tenant: "acme"}, []string{"a"}); !errors.Is(err, errBroken) {
		t.Errorf("Know: %v", err)
	}
}

var errBroken = errors.New("no such luck")

type broken struct{ secrets.Store }

func (broken) Name() string { return "broken" }

func (broken) Get(context.Context, secrets.Key) (secrets.Item, error) {
	return secrets.Item{}, errBroken
}

func TestAnExpiredTokenIsRenewedOnceForAll(t *testing.T) {
	var renewals atomic.Int32
	token := secrets.Key{Scope: secrets.Tenant, Tenant: "acme", Name: "token"}
	v, store := vault(t, func(_ context.Context, key secrets.Key, old []byte) ([]byte, time.Time, error) {
		if key != token || string(old) != "old-token-value" {
			return nil, time.Time{}, fmt.Errorf("asked to renew %v", key)
		}
		renewals.Add(1)
		return []byte("new-token-value"), time.Now().Add(time.Hour), nil
	}, nil)
	put(t, store, token, secrets.Item{Value: []byte("old-token-value"), Expires: time.Now().Add(time.Second)})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			err := v.Use(t.Context(), catalog.Scope{Tenant: "acme"}, "token", func(value []byte) error {
				if string(value) != "new-token-value" {
					return fmt.Errorf("got %q", value)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := renewals.Load(); got != 1 {
		t.Errorf("renewed %d times, want once", got)
	}
	if got := v.Text(catalog.Scope{Tenant: "acme"}, "new-token-value"); got != secrets.Mask {
		t.Errorf("the redactor does not know the new value: %q", got)
	}
}

func TestARefusedTokenIsRenewedAndUsedOnceMore(t *testing.T) {
	v, _ := vault(t, func(_ context.Context, key secrets.Key, old []byte) ([]byte, time.Time, error) {
		if key.Name == "plain" {
			return nil, time.Time{}, secrets.ErrNotFound
		}
		return append(bytes.Clone(old), '+'), time.Time{}, nil
	}, map[secrets.Key]string{{Scope: secrets.App, Name: "token"}: "token-value", {Scope: secrets.App, Name: "plain"}: "plain-value"})
	for ref, want := range map[string][]string{"token": {"token-value", "token-value+"}, "plain": {"plain-value"}} {
		var seen []string
		err := v.Use(t.Context(), catalog.Scope{}, ref, func(value []byte) error {
			seen = append(seen, string(value))
			return fmt.Errorf("HTTP 401: %w", secrets.ErrStale)
		})
		if !errors.Is(err, secrets.ErrStale) || fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Errorf("%s: %v after %v, want %v", ref, err, seen, want)
		}
	}
}

func TestWaitingForARenewalEndsWithTheContext(t *testing.T) {
	began, leave := make(chan struct{}), make(chan struct{})
	v, store := vault(t, func(context.Context, secrets.Key, []byte) ([]byte, time.Time, error) {
		close(began)
		<-leave
		return []byte("new-token-value"), time.Time{}, nil
	}, nil)
	put(t, store, secrets.Key{Scope: secrets.App, Name: "token"}, secrets.Item{Value: []byte("old-token"), Expires: time.Now()})
	var first sync.WaitGroup
	first.Go(func() {
		if _, err := used(t, v, catalog.Scope{}, "token"); err != nil {
			t.Error(err)
		}
	})
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := v.Use(ctx, catalog.Scope{}, "token", func([]byte) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Use: %v, want the end of its context", err)
	}
	close(leave)
	first.Wait()
}
