package lookup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/search"
)

const (
	// MaxReranked is how many of the best hits a [Reranker] puts in order.
	MaxReranked = 50
	// rerankTimeout is how long it may take.
	rerankTimeout = time.Second
	// maxReranking bounds the rerankers that run at once, those included that do not
	// end when they are told to.
	maxReranking = 32
)

// Reranker puts tools that were found for some wants into the order in which they
// are to be shown, and returns their ids. What it leaves out follows in the order
// that it was given; what it was not given counts for nothing. It should end with its
// context, which is within a second, and answer alike each time: a further page is
// made of the same hits. It may be called by several goroutines, and changes nothing of
// the tools.
type Reranker func(ctx context.Context, scope catalog.Scope, wants []string, tools []catalog.Descriptor) ([]string, error)

// reranking is a Reranker at work.
type reranking struct {
	order   Reranker
	running atomic.Int32
	// failed says that it did not answer the last time, so that its failures are
	// logged once and not with every search.
	failed atomic.Bool
}

// Rerank has a function put the best hits of each search in order, but for tools that
// were named exactly, which come first. If it fails or takes too long the search is
// answered in its own order. To be called before the first search.
func (l *Lookup) Rerank(order Reranker) { l.reranking = &reranking{order: order} }

// page finds the hits that a query wants. The note says why they are not in the order
// that the application wants.
func (l *Lookup) page(ctx context.Context, scope catalog.Scope, index *search.Index, query search.Query) (result search.Result, note string) {
	if l.reranking == nil || len(query.Texts) == 0 || query.Offset >= MaxReranked {
		return index.Search(query), ""
	}
	from, n := query.Offset, query.Limit
	if n == 0 {
		n = search.DefaultLimit
	}
	query.Offset, query.Limit = 0, max(from+n, MaxReranked)
	result = index.Search(query)
	named := 0
	for named < len(result.Hits) && result.Hits[named].Score == 1 {
		named++
	}
	best := result.Hits[named:min(len(result.Hits), MaxReranked)]
	if len(best) > 1 {
		note = l.rerank(ctx, scope, query.Texts, best)
	}
	result.Hits = result.Hits[min(from, len(result.Hits)):min(from+n, len(result.Hits))]
	return result, note
}

// rerank puts hits in order, or says why not.
func (l *Lookup) rerank(ctx context.Context, scope catalog.Scope, wants []string, hits []search.Hit) (note string) {
	var tools []catalog.Descriptor
	for _, hit := range hits {
		if d, err := l.broker.Lookup(ctx, scope, hit.ID); err == nil {
			tools = append(tools, d)
		}
	}
	ids, err := l.reranking.run(ctx, scope, slices.Clone(wants), tools)
	if ctx.Err() != nil {
		return ""
	}
	if failed := err != nil; l.reranking.failed.Swap(failed) != failed {
		if failed {
			slog.WarnContext(ctx, "lookup: the application's order of tools cannot be used", "error", err)
		} else {
			slog.InfoContext(ctx, "lookup: the application's order of tools is used again")
		}
	}
	if err != nil {
		return "in the order of the search itself: the application's own order cannot be used now"
	}
	places := make(map[string]int, len(ids))
	for i, id := range ids {
		if _, twice := places[id]; !twice {
			places[id] = i
		}
	}
	place := func(hit search.Hit) int {
		if at, known := places[hit.ID]; known {
			return at
		}
		return len(ids)
	}
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return place(a) - place(b) })
	return ""
}

var (
	errRerankBusy = errors.New("too many of its runs have not ended")
	errRerankSlow = fmt.Errorf("it took more than %s", rerankTimeout)
)

// run runs the function, and leaves it behind if it does not end in time.
func (r *reranking) run(ctx context.Context, scope catalog.Scope, wants []string, tools []catalog.Descriptor) ([]string, error) {
	if r.running.Add(1) > maxReranking {
		r.running.Add(-1)
		return nil, errRerankBusy
	}
	// Ended by the caller alone: a function that ended it could make its own answer late.
	ctx, stop := context.WithTimeout(ctx, rerankTimeout)
	defer stop()
	type outcome struct {
		ids []string
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		defer r.running.Add(-1)
		o := outcome{err: errors.New("it ended its goroutine")}
		defer func() {
			if cause := recover(); cause != nil {
				slog.Error("lookup: the application's order of tools panicked", "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
				o.err = errors.New("it panicked")
			}
			done <- o
		}()
		o.ids, o.err = r.order(ctx, scope, wants, tools)
	}()
	if o, ok := await(ctx, done); ok {
		return o.ids, o.err
	}
	return nil, errRerankSlow
}

// await takes what comes before the context ends, or at its end: on a machine that is
// busy both may be there when somebody looks.
func await[T any](ctx context.Context, done <-chan T) (came T, ok bool) {
	select {
	case came = <-done:
		return came, true
	case <-ctx.Done():
	}
	select {
	case came = <-done:
		return came, true
	default:
		return came, false
	}
}
