package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/catalogtest"
	"github.com/heddle-dev/heddle/codemode/lookup"
)

const (
	manySources  = 200
	toolsOfEach  = 50
	manyRounds   = 200
	manySearches = "merge a branch"
)

// sources measures a catalog of 10,000 tools from 200 sources of which ten fail,
// each in a way of its own.
func sources(ctx context.Context, report *Report) error {
	all := catalogtest.Many(manySources, toolsOfEach)
	scope := catalog.Scope{Tenant: "acme", Thread: "bench", Agent: "bench", Tools: []string{"*"}}
	began := time.Now()
	broker, err := catalog.New(all...)
	if err != nil {
		return err
	}
	if err := report.Add("sources_start_ms", ms(time.Since(began)), "ms"); err != nil {
		return err
	}
	l := lookup.New(broker)
	search := func() error {
		_, err := l.Search(ctx, scope, json.RawMessage(`{"query":"`+manySearches+`"}`))
		return err
	}
	// The first search lists all sources and waits for those that hang.
	began = time.Now()
	if err := search(); err != nil {
		return err
	}
	if err := report.Add("sources_first_search_ms", ms(time.Since(began)), "ms"); err != nil {
		return err
	}
	request := catalog.Request{Tool: "s7.t7", Input: json.RawMessage(`{"branch_id":"7"}`)}
	unread := catalog.Request{Tool: fmt.Sprintf("s%d.t7", manySources-len(catalogtest.Faults)), Input: json.RawMessage(`{}`)}
	for _, one := range []struct {
		name string
		run  func() error
	}{
		{"sources_search_us", search},
		{"sources_describe_us", func() error {
			_, err := l.Describe(ctx, scope, json.RawMessage(`{"id":"s7.t7"}`))
			return err
		}},
		{"sources_call_us", func() error {
			if o := broker.Dispatch(ctx, scope, request, broker.Plan(ctx, scope, request)); o.Error != nil {
				return o.Error
			}
			return nil
		}},
		{"sources_refuse_us", func() error { // a call of a source that cannot be read
			if plan := broker.Plan(ctx, scope, unread); plan.Error == nil || plan.Error.Code != catalog.CodeSourceUnavailable {
				return fmt.Errorf("sources: a call of %s is planned: %v", unread.Tool, plan.Error)
			}
			return nil
		}},
		{"sources_conditions_us", func() error { // what a model turn asks, to tell of changes
			ill := 0
			for _, c := range broker.Conditions(scope) {
				if len(c.Unavailable)+len(c.LeftOut) > 0 {
					ill++
				}
			}
			if ill != len(catalogtest.Faults) {
				return fmt.Errorf("sources: %d are not well, want %d", ill, len(catalogtest.Faults))
			}
			return nil
		}},
		{"sources_segment_us", func() error { // what a segment of a snippet looks up before it runs
			snapshot, err := broker.Snapshot(ctx, scope)
			if err != nil {
				return err
			}
			if tools := snapshot.Of([]string{"s7", "s8"}); len(tools) != 2*toolsOfEach {
				return fmt.Errorf("sources: %d tools", len(tools))
			}
			return nil
		}},
		{"sources_list_us", func() error {
			_, err := broker.List(ctx, scope)
			return err
		}},
	} {
		times := make([]time.Duration, manyRounds)
		for i := range times {
			began := time.Now()
			if err := one.run(); err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			times[i] = time.Since(began)
		}
		if err := report.Add(one.name, micros(median(times)), "µs"); err != nil {
			return err
		}
	}
	return nil
}
