package signals_test

import (
	"slices"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestList(t *testing.T) {
	b := setUp(t)
	b.start.Tenant = testkit.Name(t)
	first := b.start.Thread
	b.say(t, "roll") // a second run is no second thread
	b.start.Thread = first + "-closed"
	b.say(t, "echo")
	b.closed(t)
	b.start.Thread, b.start.Agent = first+"-other", "other"
	if err := b.Open(within(t), b.start); err != nil {
		t.Fatal(err)
	}
	tenant := b.start.Tenant
	for _, test := range []struct {
		name   string
		filter signals.Filter
		want   []string
	}{
		{"tenant", signals.Filter{Tenant: tenant}, []string{first, first + "-closed", first + "-other"}},
		{"agent", signals.Filter{Tenant: tenant, Agent: "other"}, []string{first + "-other"}},
		{"status", signals.Filter{Tenant: tenant, Status: contract.SearchActive}, []string{first, first + "-other"}},
		{"pending", signals.Filter{Tenant: tenant, Pending: contract.KindApproval}, nil},
		{"nobody's", signals.Filter{Tenant: tenant + "-none"}, nil},
		{"a quote", signals.Filter{Tenant: tenant + `' OR HeddleAgent = 'fake`}, nil},
		{"a backslash and a quote", signals.Filter{Tenant: tenant + `\' OR HeddleAgent = 'fake`}, nil},
		{"a backslash", signals.Filter{Tenant: tenant, Agent: `other\`}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			// The visibility store is some moments behind.
			for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
				threads, names := listed(t, b, test.filter)
				if slices.Equal(names, test.want) {
					for _, thread := range threads {
						if closed := thread.Thread == first+"-closed"; closed != (thread.ClosedAt != nil) || closed != (thread.Status == contract.SearchClosed) {
							t.Errorf("%+v", thread)
						}
						if thread.Tenant != tenant || thread.Agent == "" || thread.StartedAt.IsZero() {
							t.Errorf("%+v", thread)
						}
					}
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("threads %q, want %q", names, test.want)
				}
			}
		})
	}
}

func listed(t *testing.T, b *bed, filter signals.Filter) (threads []signals.Thread, names []string) {
	t.Helper()
	for thread, err := range b.List(within(t), filter) {
		if err != nil {
			t.Fatal(err)
		}
		threads = append(threads, thread)
		names = append(names, thread.Thread)
	}
	slices.Sort(names)
	return threads, names
}

func TestListTellsWhatIsMissing(t *testing.T) {
	for _, err := range signals.NewClient(unreachable(t), nil).List(shortly(t), signals.Filter{}) {
		if err != nil {
			return
		}
	}
	t.Error("no error without a server")
}
