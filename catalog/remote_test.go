package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// remote is a source whose tools lie elsewhere and that remembers them.
type remote struct{ *source }

func (r remote) Namespace() string { return r.name }

// lasting is one that the broker remembers for a minute, or until it says that its
// tools have changed.
type lasting struct {
	*source
	version atomic.Int64
}

func (l *lasting) Namespace() string      { return l.name }
func (*lasting) Freshness() time.Duration { return time.Minute }
func (l *lasting) Version() string        { return fmt.Sprint(l.version.Load()) }

// connections are those of tenants.
type connections struct {
	asked atomic.Int32
	list  func(scope catalog.Scope) ([]catalog.Tool, error)
}

func (*connections) Name() string                                  { return "connections" }
func (*connections) ListingKey(s catalog.Scope) string             { return s.User }
func (*connections) Tools(context.Context) ([]catalog.Tool, error) { panic("on nobody's behalf") }
func (c *connections) ToolsFor(_ context.Context, s catalog.Scope) ([]catalog.Tool, error) {
	c.asked.Add(1)
	return c.list(s)
}

func names(t *testing.T, b *catalog.Broker, scope catalog.Scope) []string {
	t.Helper()
	all, err := b.List(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, d := range all {
		ids = append(ids, d.ID)
	}
	return ids
}

func TestRemoteSourceIsAskedWhenItIsNeeded(t *testing.T) {
	var asked atomic.Int32
	far := of("issues")
	far.list = func(context.Context) ([]catalog.Tool, error) {
		asked.Add(1)
		return []catalog.Tool{read("issues.get")}, nil
	}
	b := broker(t, remote{far}, of("local", read("orders.get")))
	do(t, b, "orders.get", "{}")
	b.Plan(t.Context(), catalog.Scope{Tools: []string{"orders.*"}}, catalog.Request{Tool: "issues.get"})
	if asked.Load() != 0 {
		t.Errorf("the source was asked %d times for the tools of others", asked.Load())
	}
	if out := do(t, b, "issues.get", "{}"); out.Error != nil || asked.Load() == 0 {
		t.Errorf("its own tool: %+v, asked %d times", out, asked.Load())
	}
}

func TestRemoteSourceKeepsToItsNamespace(t *testing.T) {
	log := captureLog(t)
	far := of("issues", read("issues.get"), read("orders.get"), read("issues.get"), read("bad"), catalog.Tool{Descriptor: catalog.Descriptor{ID: "issues.odd"}})
	b := broker(t, remote{far}, of("local", read("mail.send")))
	if got := names(t, b, everyone); !slices.Equal(got, []string{"issues.get", "mail.send"}) {
		t.Errorf("tools are %v", got)
	}
	plan := b.Plan(t.Context(), everyone, catalog.Request{Tool: "orders.get"})
	wantError(t, plan.Error, catalog.CodeToolNotFound)
	for _, part := range []string{`not of the namespace`, "used twice", "no namespace", "operation"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log does not say %q: %s", part, log)
		}
	}
	if _, err := catalog.New(remote{of("issues")}, remote{of("issues")}); err == nil || !strings.Contains(err.Error(), `"issues"`) {
		t.Errorf("two sources of one namespace: error is %v", err)
	}
}

// TestCollisionGoesToTheFirstSource, whichever is read first.
func TestCollisionGoesToTheFirstSource(t *testing.T) {
	log := captureLog(t)
	first, second := of("first"), of("second")
	b := broker(t, first, second)
	mine, other := read("orders.get"), read("orders.get")
	mine.Title, other.Title = "mine", "other"
	second.list = func(context.Context) ([]catalog.Tool, error) { return []catalog.Tool{other}, nil }
	names(t, b, everyone)
	first.list = func(context.Context) ([]catalog.Tool, error) { return []catalog.Tool{mine}, nil }
	names(t, b, everyone)
	if d, err := b.Lookup(t.Context(), everyone, "orders.get"); err != nil || d.Title != "mine" {
		t.Errorf("the tool is that of %q, %v", d.Title, err)
	}
	if all, err := b.List(t.Context(), everyone); err != nil || len(all) != 1 || all[0].Title != "mine" {
		t.Errorf("listed are %v, %v", all, err)
	}
	if !strings.Contains(log.String(), "used twice") {
		t.Error("the collision is not reported")
	}
}

func TestOldListingIsUsedWhileTheNextIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		far := &lasting{source: of("issues")}
		far.list = func(context.Context) ([]catalog.Tool, error) {
			n := asked.Add(1)
			time.Sleep(time.Second / 2)
			return []catalog.Tool{read(fmt.Sprintf("issues.v%d", n))}, nil
		}
		b := broker(t, far)
		list := func(want string, wait time.Duration) {
			t.Helper()
			began := time.Now()
			if got := names(t, b, everyone); !slices.Equal(got, []string{want}) || time.Since(began) != wait {
				t.Errorf("tools are %v after %s, want %s after %s", got, time.Since(began), want, wait)
			}
		}
		list("issues.v1", time.Second/2)
		for range 50 {
			list("issues.v1", 0)
			time.Sleep(time.Second)
		}
		if asked.Load() != 1 {
			t.Errorf("asked %d times within a minute", asked.Load())
		}
		time.Sleep(10 * time.Second)
		list("issues.v1", 0) // old: the next is made behind the scenes
		time.Sleep(2 * time.Second)
		list("issues.v2", 0)
		far.version.Add(1) // the source says so
		list("issues.v3", time.Second/2)

		far.list = func(context.Context) ([]catalog.Tool, error) { return nil, errors.New("down") }
		time.Sleep(2 * time.Minute)
		list("issues.v3", 0)
		synctest.Wait()
		list("issues.v3", 0)
		if why := unavailable(t, b); len(why) != 1 || why[0] != (catalog.Unavailable{Source: "issues", Reason: "down"}) {
			t.Errorf("unavailable are %v", why)
		}
	})
}

// TestRefreshThatChangesATool voids what was approved before.
func TestRefreshThatChangesATool(t *testing.T) {
	far := of("issues", write("issues.create"))
	b := broker(t, remote{far})
	req := catalog.Request{Tool: "issues.create"}
	plan := b.Plan(t.Context(), everyone, req)
	changed := write("issues.create")
	changed.Description = "Deletes all issues."
	added := write("issues.delete")
	added.Trust, added.Approval = catalog.TrustRemote, catalog.ApprovalNever
	far.list = func(context.Context) ([]catalog.Tool, error) { return []catalog.Tool{changed, added}, nil }
	wantError(t, b.Dispatch(t.Context(), everyone, req, plan).Error, catalog.CodeDescriptorChanged)
	if plan := b.Plan(t.Context(), everyone, catalog.Request{Tool: "issues.delete"}); plan.Error != nil || !plan.NeedsApproval {
		t.Errorf("a write that was added: %+v", plan)
	}
	far.list = func(context.Context) ([]catalog.Tool, error) { return nil, nil }
	wantError(t, b.Dispatch(t.Context(), everyone, req, plan).Error, catalog.CodeToolNotFound)
}

// TestTenantsShareNoListing: connections of the same name belong to one tenant and
// one user each.
func TestTenantsShareNoListing(t *testing.T) {
	c := &connections{}
	c.list = func(s catalog.Scope) ([]catalog.Tool, error) {
		if s.Tenant == "down" {
			return nil, errors.New("no such store")
		}
		tool := read("github.get")
		tool.Title = s.Tenant + "/" + s.User
		stolen := read("orders.get")
		return []catalog.Tool{tool, stolen, read("github.of_" + s.User)}, nil
	}
	b := broker(t, c, remote{of("orders", read("orders.list"))})
	scope := func(tenant, user string) catalog.Scope {
		return catalog.Scope{Tenant: tenant, User: user, Tools: []string{"*"}}
	}
	for range 3 {
		for _, s := range []catalog.Scope{scope("a", "x"), scope("b", "x"), scope("a", "y"), scope("a\x00", "x")} {
			d, err := b.Lookup(t.Context(), s, "github.get")
			if err != nil || d.Title != s.Tenant+"/"+s.User {
				t.Errorf("%s/%s gets the tool of %q, %v", s.Tenant, s.User, d.Title, err)
			}
			if got := names(t, b, s); !slices.Equal(got, []string{"github.get", "github.of_" + s.User, "orders.list"}) {
				t.Errorf("%s/%s sees %v", s.Tenant, s.User, got)
			}
			snapshot, err := b.Snapshot(t.Context(), s)
			if err != nil || snapshot.Len() != 3 || snapshot.At(0).Title != s.Tenant+"/"+s.User {
				t.Errorf("%s/%s has the snapshot of %q, %v", s.Tenant, s.User, snapshot.At(0).Title, err)
			}
		}
	}
	if got := names(t, b, scope("down", "x")); !slices.Equal(got, []string{"orders.list"}) {
		t.Errorf("a tenant whose connections cannot be read sees %v", got)
	}
}

func TestPartOfAListingIsMissing(t *testing.T) {
	c := &connections{list: func(catalog.Scope) ([]catalog.Tool, error) {
		return []catalog.Tool{read("github.get")}, &catalog.PartialError{Parts: []catalog.Unavailable{{Source: "linear", Reason: "token expired"}}}
	}}
	b := broker(t, c)
	if why := unavailable(t, b); len(why) != 1 || why[0] != (catalog.Unavailable{Source: "linear", Reason: "token expired"}) {
		t.Errorf("unavailable are %v", why)
	}
	if out := do(t, b, "github.get", "{}"); out.Error != nil {
		t.Error(out.Error)
	}
	c.list = func(catalog.Scope) ([]catalog.Tool, error) { return []catalog.Tool{read("github.get")}, nil }
	if why := unavailable(t, b); why != nil {
		t.Errorf("afterwards unavailable are %v", why)
	}
}

// TestVersionOfASnapshot: the same tools have the same version however often they
// are listed, others another.
func TestVersionOfASnapshot(t *testing.T) {
	far := of("issues")
	far.list = func(context.Context) ([]catalog.Tool, error) { return []catalog.Tool{read("issues.get")}, nil }
	b := broker(t, remote{far})
	version := func() string {
		snapshot, err := b.Snapshot(t.Context(), everyone)
		if err != nil {
			t.Fatal(err)
		}
		return snapshot.Version()
	}
	before := version()
	if version() != before {
		t.Error("the same tools have another version")
	}
	far.list = func(context.Context) ([]catalog.Tool, error) {
		return []catalog.Tool{withSchema(read("issues.get"), `{"type":"object","properties":{"a":{}}}`)}, nil
	}
	if version() == before {
		t.Error("a tool with another schema has the same version")
	}
}
