package mcp

import (
	"context"
	"encoding/json"
	"fmt"
)

// Report says what of a listing is not offered, and why.
type Report struct {
	// Tools counts those that are offered.
	Tools int
	// Left are the reasons, bounded: the tool, or the page, and what is wrong.
	Left []Reason
	// More counts the reasons beyond those.
	More int
}

// Reason is why something is not offered, or not as the server says.
type Reason struct{ Subject, Why string }

func (r *Report) add(subject, format string, args ...any) {
	if len(r.Left) >= maxReasons {
		r.More++
		return
	}
	r.Left = append(r.Left, Reason{plain(cut(subject, maxName), maxName), fmt.Sprintf(format, args...)})
}

// list reads all pages of a listing, each entry as it is. A server that does not
// come to an end is cut off, and that is in the report.
func (l *link) list(ctx context.Context, method, member string, most int, report *Report) ([]json.RawMessage, error) {
	var all []json.RawMessage
	size := 0
	seen := map[string]bool{}
	params := map[string]any(nil)
	for page := 1; ; page++ {
		result, err := l.request(ctx, method, params, nil)
		if err != nil {
			return nil, err
		}
		var answer struct {
			NextCursor json.RawMessage `json:"nextCursor"`
		}
		entries, err := pageOf(result, member)
		if err != nil || json.Unmarshal(result, &answer) != nil {
			return nil, &fault{code: CodeProtocol, message: "the server breaks the protocol: its answer to " + method + " is no page of a listing", sick: true}
		}
		size += len(result)
		all = append(all, entries...)
		next := textOf(answer.NextCursor)
		switch {
		case len(all) > most:
			report.add(method, "only the first %d entries are read", most)
			return all[:most], nil
		case next == "":
			return all, nil
		case seen[next]:
			report.add(method, "page %d names a cursor that was followed before; the listing ends there", page)
			return all, nil
		case page >= maxPages:
			report.add(method, "only the first %d pages are read", maxPages)
			return all, nil
		case size > maxListing:
			report.add(method, "only the first %d bytes are read", maxListing)
			return all, nil
		}
		seen[next] = true
		params = map[string]any{"cursor": next}
	}
}

// pageOf reads the entries of a page.
func pageOf(result json.RawMessage, member string) ([]json.RawMessage, error) {
	object := members(result)
	if object == nil {
		return nil, fmt.Errorf("it is no object")
	}
	var entries []json.RawMessage
	if isNull(object[member]) {
		return nil, nil
	}
	err := json.Unmarshal(object[member], &entries)
	return entries, err
}
