package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/lookup"
)

// drawers are n tools that all match "open drawer", the first best.
func drawers(n int) source {
	var all source
	for i := range n {
		all = append(all, tool(fmt.Sprintf("room%d.open_drawer", i), "Opens a drawer. "+strings.Repeat("It is wide. ", i), catalog.Read, `{"type":"object"}`))
	}
	return append(all, tool("hidden.open_drawer", "Opens a drawer.", catalog.Read, `{"type":"object"}`))
}

// rooms sees all tools but the hidden ones.
func rooms(n int) catalog.Scope {
	scope := everyone
	scope.Tools = nil
	for i := range n {
		scope.Tools = append(scope.Tools, fmt.Sprintf("room%d.*", i))
	}
	return scope
}

const wanted = `{"query":"drawer to be opened","limit":50}`

func reordered(t *testing.T, n int, order lookup.Reranker) *lookup.Lookup {
	t.Helper()
	l := of(t, drawers(n))
	l.Rerank(order)
	return l
}

func TestRerank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := ids(search(t, of(t, drawers(6)), rooms(6), wanted))
		if len(own) != 6 {
			t.Fatalf("found %v", own)
		}
		var wants []string
		l := reordered(t, 6, func(_ context.Context, scope catalog.Scope, asked []string, tools []catalog.Descriptor) ([]string, error) {
			wants = asked
			if scope.Tenant != "acme" || len(tools) != 6 || len(tools[0].Input) == 0 {
				t.Errorf("asked for %s of %d tools", scope.Tenant, len(tools))
			}
			for _, d := range tools {
				if strings.HasPrefix(d.ID, "hidden.") {
					t.Error("it is shown a tool that the agent may not use")
				}
			}
			// A tool twice, one that is not there, and one that the agent may not use.
			return []string{own[4], "hidden.open_drawer", own[2], own[4], "no.such", own[0]}, nil
		})
		found := search(t, l, rooms(6), wanted)
		if want := []string{own[4], own[2], own[0], own[1], own[3], own[5]}; !slices.Equal(ids(found), want) || found.Note != "" || found.Total != 6 {
			t.Errorf("found %v, want %v", ids(found), want)
		}
		if !slices.Equal(wants, []string{"drawer to be opened"}) {
			t.Errorf("wanted is %q", wants)
		}
	})
}

// Pages of a search that is put in order are those of one long page.
func TestRerankedPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 70
		l := reordered(t, n, func(_ context.Context, _ catalog.Scope, _ []string, tools []catalog.Descriptor) ([]string, error) {
			var ids []string
			for _, d := range slices.Backward(tools) {
				ids = append(ids, d.ID)
			}
			return ids, nil
		})
		var all []string
		for offset := 0; ; {
			found := search(t, l, rooms(n), fmt.Sprintf(`{"query":"drawer to be opened","limit":7,"offset":%d}`, offset))
			all = append(all, ids(found)...)
			if offset = found.Next; offset == 0 {
				break
			}
		}
		own := of(t, drawers(n))
		var want []string
		for _, offset := range []int{0, 50} {
			page := ids(search(t, own, rooms(n), fmt.Sprintf(`{"query":"drawer to be opened","limit":50,"offset":%d}`, offset)))
			if offset == 0 {
				slices.Reverse(page)
			}
			want = append(want, page...)
		}
		if !slices.Equal(all, want) {
			t.Errorf("pages are\n%v, want\n%v", all, want)
		}
	})
}

// An exact name comes first, and a list that nothing was wanted of is in its order.
func TestRerankLeavesNamesAndLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backward := func(_ context.Context, _ catalog.Scope, _ []string, tools []catalog.Descriptor) ([]string, error) {
			var ids []string
			for _, d := range slices.Backward(tools) {
				ids = append(ids, d.ID)
			}
			return ids, nil
		}
		l, own := reordered(t, 5, backward), of(t, drawers(5))
		if found := ids(search(t, l, rooms(5), `{"query":"room3.open_drawer"}`)); found[0] != "room3.open_drawer" {
			t.Errorf("found %v", found)
		}
		if found, want := ids(search(t, l, rooms(5), `{}`)), ids(search(t, own, rooms(5), `{}`)); !slices.Equal(found, want) {
			t.Errorf("the list is %v, want %v", found, want)
		}
	})
}

// A function that fails costs its order and nothing else.
func TestRerankThatFails(t *testing.T) {
	for name, order := range map[string]lookup.Reranker{
		"error": func(context.Context, catalog.Scope, []string, []catalog.Descriptor) ([]string, error) {
			return []string{"room5.open_drawer"}, errors.New("no such model")
		},
		"panic": func(context.Context, catalog.Scope, []string, []catalog.Descriptor) ([]string, error) {
			panic("nil map")
		},
		"goexit": func(context.Context, catalog.Scope, []string, []catalog.Descriptor) ([]string, error) {
			runtime.Goexit()
			return nil, nil
		},
		"hangs": func(ctx context.Context, _ catalog.Scope, _ []string, _ []catalog.Descriptor) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"deaf": func(context.Context, catalog.Scope, []string, []catalog.Descriptor) ([]string, error) {
			time.Sleep(time.Hour)
			return nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				own := ids(search(t, of(t, drawers(6)), rooms(6), wanted))
				l := reordered(t, 6, order)
				began := time.Now()
				found := search(t, l, rooms(6), wanted)
				if !slices.Equal(ids(found), own) || found.Note == "" || strings.Contains(found.Note, "model") {
					t.Errorf("found %v with the note %q, want %v", ids(found), found.Note, own)
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %s", took)
				}
				time.Sleep(2 * time.Hour) // the deaf one ends
			})
		})
	}
}

// Functions that never end are not started without end.
func TestRerankThatPilesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		l := reordered(t, 3, func(context.Context, catalog.Scope, []string, []catalog.Descriptor) ([]string, error) {
			running.Add(1)
			time.Sleep(time.Hour)
			return nil, nil
		})
		for range 100 {
			search(t, l, rooms(3), wanted)
		}
		if n := running.Load(); n != 32 {
			t.Errorf("%d of them run", n)
		}
		time.Sleep(2 * time.Hour)
		search(t, l, rooms(3), wanted)
		if n := running.Load(); n != 33 {
			t.Errorf("when they have ended, %d were run", n)
		}
		time.Sleep(2 * time.Hour) // the last one ends
	})
}

func TestRerankWhenCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := reordered(t, 3, func(ctx context.Context, _ catalog.Scope, _ []string, _ []catalog.Descriptor) ([]string, error) {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		})
		_, err := l.Search(ctx, rooms(3), []byte(wanted))
		var typed *catalog.Error
		if !errors.As(err, &typed) || typed.Code != catalog.CodeCancelled {
			t.Errorf("the error is %v", err)
		}
	})
}
