package lookup_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/catalogtest"
	"github.com/heddle-dev/heddle/codemode/lookup"
)

// Of many sources some that fail cost their own tools and no others.
func TestManySourcesOfWhichSomeFail(t *testing.T) {
	sources, each := 200, 50
	if testing.Short() {
		sources, each = 30, 10
	}
	broker, err := catalog.New(catalogtest.Many(sources, each)...)
	if err != nil {
		t.Fatal(err)
	}
	l := lookup.New(broker)
	// A list goes on without the slow ones: on a busy machine there are more at first.
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
		if found := search(t, l, everyone, `{"query":"merge a branch","limit":50}`); len(found.Unavailable) <= len(unreadable(sources)) {
			break
		}
	}
	for range 3 {
		found := search(t, l, everyone, `{"query":"merge a branch","limit":50}`)
		if len(found.Items) < min(50, sources/2) {
			t.Errorf("%d hits", len(found.Items))
		}
		wantUnreadable(t, found.Unavailable, sources)
	}
	healthy := sources - len(catalogtest.Faults)
	for _, source := range []int{0, healthy / 2, healthy - 1} {
		id := fmt.Sprintf("s%d.t7", source)
		if _, err := l.Describe(t.Context(), everyone, json.RawMessage(`{"id":"`+id+`"}`)); err != nil {
			t.Errorf("describe %s: %v", id, err)
		}
		if o := call(t, broker, id); string(o.Result) != `{"branch_id":"7"}` {
			t.Errorf("call %s: %s, %v", id, o.Result, o.Error)
		}
	}
	names := map[string]bool{}
	for i, fault := range catalogtest.Faults {
		id := fmt.Sprintf("s%d.t4", healthy+i)
		o := call(t, broker, id)
		want := ""
		switch {
		case fault.Unread && fault.Useless:
			want = catalog.CodeSourceUnavailable
		case fault.Useless:
			want = catalog.CodeToolNotFound
		}
		if got := codeOf(o); got != want {
			t.Errorf("%s: call %s: %s, %q, want %q", fault.Name, id, o.Result, got, want)
		}
		_, err := l.Describe(t.Context(), everyone, json.RawMessage(`{"id":"`+id+`"}`))
		var typed *catalog.Error
		if errors.As(err, &typed); want == "" && err != nil || want != "" && (typed == nil || typed.Code != want) {
			t.Errorf("%s: describe %s: %v, want %q", fault.Name, id, err, want)
		}
		if names[fault.Name] {
			t.Errorf("%s: two sources fail in the same way", fault.Name)
		}
		names[fault.Name] = true
	}
	if len(names) != 10 {
		t.Errorf("sources fail in %d ways", len(names))
	}
	// A source that lists another's tools does not get them.
	if o := call(t, broker, "s0.t0"); o.Error != nil {
		t.Error(o.Error)
	}
}

func codeOf(o catalog.Outcome) string {
	if o.Error == nil {
		return ""
	}
	return o.Error.Code
}

func call(t *testing.T, broker *catalog.Broker, id string) catalog.Outcome {
	t.Helper()
	req := catalog.Request{Tool: id, Input: json.RawMessage(`{"branch_id":"7"}`)}
	return broker.Dispatch(t.Context(), everyone, req, broker.Plan(t.Context(), everyone, req))
}

func wantUnreadable(t *testing.T, got []catalog.Unavailable, sources int) {
	t.Helper()
	want := unreadable(sources)
	var names []string
	for _, one := range got {
		names = append(names, one.Source)
		if strings.TrimSpace(one.Reason) == "" {
			t.Errorf("%s cannot be read, and nothing says why", one.Source)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("unavailable are %v, want %v", got, want)
	}
}

// unreadable are the sources, of so many, that are named among those that cannot be read.
func unreadable(sources int) (all []string) {
	for i, fault := range catalogtest.Faults {
		if fault.Unread {
			all = append(all, fmt.Sprintf("s%d", sources-len(catalogtest.Faults)+i))
		}
	}
	slices.Sort(all)
	return all
}
