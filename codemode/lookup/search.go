package lookup

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/search"
	"github.com/heddle-dev/heddle/codemode/typescript"
)

const (
	// MaxHits bounds the hits of one search.
	MaxHits = 50
	// maxQueries bounds the queries of one search.
	maxQueries = 8
	// perNamespace is how many hits of one namespace may come before hits of others
	// that match about as well.
	perNamespace = 4
	// maxSummary bounds the description in a hit, in bytes.
	maxSummary = 200
)

const searchUsage = `search({ query: "refund an order", namespace?, operation?: "read" | "write", limit?, offset? })`

// SearchInput is the JSON Schema of what [Lookup.Search] takes.
const SearchInput = `{"type":"object","properties":{` +
	`"query":{"type":"string","description":"What a tool is wanted for, in words, or its name."},` +
	`"queries":{"type":"array","items":{"type":"string"},"maxItems":8,"description":"Several wants at once."},` +
	`"namespace":{"type":"string","description":"Only tools of this namespace."},` +
	`"operation":{"enum":["read","write"]},` +
	`"limit":{"type":"integer","minimum":1,"maximum":50},` +
	`"offset":{"type":"integer","minimum":0,"description":"next of the page before."}},"additionalProperties":false}`

// Found is what a search found.
type Found struct {
	// Items are the tools, best first.
	Items []Hit `json:"items"`
	// Total is how many match in any way, on this page and others.
	Total int `json:"total"`
	// Next is the offset of the next page. 0: this is the last one.
	Next int `json:"next,omitempty"`
	// Nearest are ids that resemble the query, and Namespaces those there are, if
	// nothing matches.
	Nearest    []string `json:"nearest,omitempty"`
	Namespaces []string `json:"namespaces,omitempty"`
	// Note says why the items are not in the order that the application wants.
	Note string `json:"note,omitempty"`
	// Unavailable says of which sources the tools may be out of date or missing.
	Unavailable []catalog.Unavailable `json:"unavailable,omitempty"`
}

// Hit is a tool that was found.
type Hit struct {
	ID string `json:"id"`
	// Signature is how a snippet calls it, on one line of TypeScript.
	Signature string `json:"signature"`
	// Description is its beginning.
	Description string            `json:"description,omitempty"`
	Operation   catalog.Operation `json:"operation"`
	// Approval says why a person will be asked before a call is made. Empty: nobody
	// will.
	Approval string `json:"approval,omitempty"`
	// Matched says which words of the query were found where. Empty: all tools were
	// asked for.
	Matched string `json:"matched,omitempty"`
}

type searchInput struct {
	Query     string   `json:"query"`
	Queries   []string `json:"queries"`
	Namespace string   `json:"namespace"`
	Operation string   `json:"operation"`
	Limit     *int     `json:"limit"`
	Offset    int      `json:"offset"`
}

// Search finds tools: the input is of [SearchInput], the answer a [Found]. Without
// a query it lists all tools in the order of their ids. The error is a
// *[catalog.Error].
func (l *Lookup) Search(ctx context.Context, scope catalog.Scope, input json.RawMessage) (json.RawMessage, error) {
	began := time.Now()
	query, refused := readQuery(input)
	if refused != nil {
		return nil, refused
	}
	snapshot, err := l.broker.Snapshot(ctx, scope)
	if err != nil {
		return nil, ended(ctx, "search")
	}
	result, note := l.page(ctx, scope, l.indexes.of(snapshot, scope), query)
	found := Found{
		Items: []Hit{}, Total: result.Total, Nearest: result.Nearest, Namespaces: result.Namespaces, Note: note,
		Unavailable: snapshot.Unavailable(),
	}
	for _, hit := range result.Hits {
		d, err := l.broker.Lookup(ctx, scope, hit.ID)
		if ctx.Err() != nil {
			return nil, ended(ctx, "search")
		}
		if err == nil { // else it went while we looked
			found.Items = append(found.Items, l.hit(ctx, scope, d, hit.Matched))
		}
	}
	if end := query.Offset + len(result.Hits); end < result.Total {
		found.Next = end
	}
	l.broker.Note(scope, catalog.Entry{
		Kind: catalog.EntrySearch, Asked: query.Texts, Hits: found.Total, DurationMS: time.Since(began).Milliseconds(),
	})
	return answer(found)
}

func readQuery(input json.RawMessage) (search.Query, *catalog.Error) {
	var in searchInput
	if refused := read(input, searchUsage, &in); refused != nil {
		return search.Query{}, refused
	}
	query := search.Query{Namespace: in.Namespace, Operation: in.Operation, Offset: in.Offset, PerNamespace: perNamespace}
	if in.Query != "" {
		query.Texts = append(query.Texts, in.Query)
	}
	query.Texts = append(query.Texts, in.Queries...)
	if in.Limit != nil {
		query.Limit = *in.Limit
	}
	switch {
	case len(in.Queries) > maxQueries:
		return query, refused(searchUsage, "queries", "are %d, at most %d are allowed", len(in.Queries), maxQueries)
	case in.Operation != "" && in.Operation != string(catalog.Read) && in.Operation != string(catalog.Write):
		return query, refused(searchUsage, "operation", `is %q, want "read" or "write"`, beginning(in.Operation, 40))
	case in.Limit != nil && (*in.Limit < 1 || *in.Limit > MaxHits):
		return query, refused(searchUsage, "limit", "is %d, want 1 to %d", *in.Limit, MaxHits)
	case in.Offset < 0:
		return query, refused(searchUsage, "offset", "is %d, want 0 or more", in.Offset)
	}
	return query, nil
}

func (l *Lookup) hit(ctx context.Context, scope catalog.Scope, d catalog.Descriptor, matched []search.Match) Hit {
	_, reason := l.broker.Asks(ctx, scope, d)
	return Hit{
		ID: d.ID, Signature: render(d).Signature, Description: beginning(d.Description, maxSummary),
		Operation: d.Operation, Approval: reason, Matched: why(matched),
	}
}

func render(d catalog.Descriptor) typescript.Declaration {
	return typescript.Render(typescript.Tool{ID: d.ID, Description: d.Description, Input: d.Input, Output: d.Output})
}

// why words what was matched: refund in name; money (related) in description.
func why(matched []search.Match) string {
	const shown = 5
	var parts []string
	for _, m := range matched[:min(len(matched), shown)] {
		word := m.Word
		if m.Related {
			word += " (related)"
		}
		parts = append(parts, word+" in "+strings.Join(m.Fields, ", "))
	}
	return strings.Join(parts, "; ")
}
