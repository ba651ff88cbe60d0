package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// retryAfter is how long after a listing that failed the next one is tried while an
// earlier one still holds.
const retryAfter = 30 * time.Second

// listing remembers what a server offers.
type listing struct {
	source *Source
	// turn is held by who asks the server.
	turn chan struct{}

	mu     sync.Mutex
	known  bool
	stale  bool
	expiry time.Time
	tools  []catalog.Tool
	offers map[string]offer
	report Report
	// failure is why the server could not be asked anew, while an earlier answer holds.
	failure error
	// said counts the server's words that its tools have changed.
	said int
}

func newListing(s *Source) *listing { return &listing{source: s, turn: make(chan struct{}, 1)} }

// outdated says that what is remembered holds no longer.
func (l *listing) outdated() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale = true
	l.said++
}

// expire has the server asked anew, while what is remembered holds until it answers.
func (l *listing) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expiry = time.Time{}
}

func (l *listing) reported() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report
}

// shortfall is what the answer that holds lacks.
func (l *listing) shortfall() (leftOut []string, stale error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, reason := range l.report.Left {
		leftOut = append(leftOut, reason.Subject+": "+reason.Why)
	}
	if l.report.More > 0 {
		leftOut = append(leftOut, fmt.Sprintf("and %d more", l.report.More))
	}
	return leftOut, public(l.failure)
}

func (l *listing) remembered() ([]catalog.Tool, map[string]offer, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tools, l.offers, l.known && !l.stale && time.Now().Before(l.expiry)
}

// get returns the tools, and the offers that they are made of by the server's names.
func (l *listing) get(ctx context.Context) ([]catalog.Tool, map[string]offer, error) {
	if tools, offers, ok := l.remembered(); ok {
		return tools, offers, nil
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, nil, ended(ctx, catalog.EffectNone)
	}
	if tools, offers, ok := l.remembered(); ok {
		return tools, offers, nil
	}
	l.mu.Lock()
	said := l.said
	l.mu.Unlock()
	err := l.refresh(ctx, said)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		// A server that cannot be asked now still has the tools that it had, unless it
		// said itself that it has others.
		if !l.known || l.stale {
			return nil, nil, err
		}
		slog.Warn("mcp: a server cannot be asked for its tools; the last answer holds", "source", l.source.Name(), "error", err)
		l.expiry, l.failure = time.Now().Add(retryAfter), err
	}
	return l.tools, l.offers, nil
}

// refresh asks the server.
func (l *listing) refresh(ctx context.Context, said int) error {
	ctx, stop := context.WithTimeout(ctx, listTimeout)
	defer stop()
	var (
		entries []json.RawMessage
		report  Report
		extras  []extra
		modern  bool
	)
	_, err := l.source.with(ctx, catalog.Scope{}, false, func(ctx context.Context, link *link) (json.RawMessage, error) {
		report, extras, modern, entries = Report{}, extrasOf(link), link.modern, nil
		if !link.offers("tools") {
			return nil, nil
		}
		var err error
		entries, err = link.list(ctx, "tools/list", "tools", l.source.options.MaxTools, &report)
		return nil, err
	}, nil)
	if err != nil {
		return unwell(err)
	}
	offers, names := readOffers(entries, modern, &report)
	for _, e := range extras {
		names = append(names, e.name)
	}
	if p, ok := l.source.permissions.unknown(names); ok {
		return fmt.Errorf("permission for %s: the server has no such tool; it has %s", quote(p.Tool), some(names))
	}
	tools := l.source.build(offers, extras, &report)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell(offers, report)
	l.tools, l.offers, l.report = tools, offers, report
	l.known, l.stale, l.failure = true, l.said != said, nil
	l.expiry = time.Now().Add(refreshAfter)
	return nil
}

// some are names for a message.
func some(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	if len(names) > 20 {
		names = append(slices.Clone(names[:20]), fmt.Sprintf("and %d more", len(names)-20))
	}
	return plain(strings.Join(names, ", "), maxText)
}

// readOffers reads the entries of a listing by their names. Of two with the same
// name the first holds.
func readOffers(entries []json.RawMessage, modern bool, report *Report) (map[string]offer, []string) {
	offers := map[string]offer{}
	var names []string
	for i, entry := range entries {
		o, err := readOffer(entry, modern)
		subject := o.name
		if subject == "" {
			subject = fmt.Sprintf("entry %d", i+1)
		}
		_, twice := offers[o.name]
		switch {
		case err != nil:
			report.add(subject, "%s", err)
		case twice:
			report.add(subject, "the name is used twice; the first one holds")
		default:
			offers[o.name] = o
		}
		if o.name != "" {
			names = append(names, o.name)
		}
	}
	return offers, names
}

// build makes tools of offers and of what else the server has.
func (s *Source) build(offers map[string]offer, extras []extra, report *Report) []catalog.Tool {
	names := make([]string, 0, len(offers))
	for name := range offers {
		names = append(names, name)
	}
	slices.Sort(names)
	taken := map[string]bool{}
	var tools []catalog.Tool
	add := func(name string, t catalog.Tool, shown bool) {
		switch {
		case !shown:
		case taken[strings.ToLower(t.ID)]:
			report.add(name, "its id %s is like that of another tool", t.ID)
		default:
			tools = append(tools, t)
		}
		taken[strings.ToLower(t.ID)] = true
	}
	for _, name := range names {
		o := offers[name]
		d, shown := s.descriptor(o)
		write := d.Operation == catalog.Write
		add(name, catalog.Tool{Descriptor: d, Call: func(ctx context.Context, c catalog.Call) (json.RawMessage, error) {
			output, err := s.call(ctx, o, write, c)
			return output, public(err)
		}}, shown)
	}
	for _, e := range extras {
		t, shown := s.extraTool(e)
		add(e.name, t, shown)
	}
	report.Tools = len(tools)
	return tools
}

// tell logs what is left out of a listing, and how it differs from the one before:
// approvals of a tool that has changed no longer hold. The caller holds the lock.
func (l *listing) tell(now map[string]offer, report Report) {
	name := l.source.Name()
	if report.More > 0 || len(report.Left) > 0 && !slices.Equal(report.Left, l.report.Left) {
		slog.Warn("mcp: not all that a server offers can be used", "source", name, "left_out", report.Left, "more", report.More)
	}
	if !l.known {
		return
	}
	var added, changed, gone []string
	for tool, o := range now {
		switch before, ok := l.offers[tool]; {
		case !ok:
			added = append(added, quote(tool))
		case before.digest != o.digest:
			changed = append(changed, quote(tool)+" ("+before.diff(o)+")")
		}
	}
	for tool := range l.offers {
		if _, ok := now[tool]; !ok {
			gone = append(gone, quote(tool))
		}
	}
	if len(added)+len(changed)+len(gone) > 0 {
		slog.Warn("mcp: a server offers other tools than before", "source", name, "added", some(added), "changed", some(changed), "gone", some(gone))
	}
}

// diff says what has changed of an offer.
func (o offer) diff(now offer) string {
	var parts []string
	if o.title != now.title || o.description != now.description {
		parts = append(parts, "description: "+cut(o.description, 120)+" -> "+cut(now.description, 120))
	}
	if !sameJSON(o.input, now.input) {
		parts = append(parts, "input schema")
	}
	if !sameJSON(o.output, now.output) {
		parts = append(parts, "output schema")
	}
	if o.destructive != now.destructive || o.idempotent != now.idempotent {
		parts = append(parts, "what it says of its effects")
	}
	if o.reads != now.reads {
		parts = append(parts, fmt.Sprintf("says that it only reads: %t -> %t", o.reads, now.reads))
	}
	return strings.Join(parts, "; ")
}

func sameJSON(a, b json.RawMessage) bool {
	x, errX := encode(canonical(a))
	y, errY := encode(canonical(b))
	return errors.Join(errX, errY) == nil && string(x) == string(y)
}
