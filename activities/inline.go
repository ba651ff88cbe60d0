package activities

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/signals/contract"
)

const (
	// excerpt is how many bytes of a value that travels by reference stand beside
	// the reference, at most.
	excerpt = 4 << 10
	// maxInlineSum bounds, in bytes of JSON, the results of a batch, or the inputs of
	// a model turn, that stand in one payload. The server refuses one of 2 MiB.
	maxInlineSum = 512 << 10
)

// inlineText keeps a short text as it is and stores a long one.
func (a *Activities) inlineText(ctx context.Context, text string) (string, *contract.Ref, error) {
	if len(text) <= contract.MaxInline {
		return text, nil, nil
	}
	ref, err := a.Blobs.Put(ctx, []byte(text))
	if err != nil {
		return "", nil, unavailable(ErrTypeBlobs, "store the model's reply", err)
	}
	return beginning(text, excerpt), &ref, nil
}

// inlineResult keeps a result of at most limit bytes as it is and stores a
// longer one.
func (a *Activities) inlineResult(ctx context.Context, r CallResult, limit int) (CallResult, error) {
	if len(r.Result) <= limit {
		return r, nil
	}
	return a.storeResult(ctx, r, min(limit, excerpt))
}

// storeResult stores a result, unless it is, and leaves at most limit bytes of
// JSON beside the reference.
func (a *Activities) storeResult(ctx context.Context, r CallResult, limit int) (CallResult, error) {
	if r.Body != nil {
		var begins string
		if err := json.Unmarshal(r.Result, &begins); err != nil {
			return r, unavailable(ErrTypeBlobs, "read the excerpt of call "+r.ID, err)
		}
		r.Result = quoted(begins, limit)
		return r, nil
	}
	ref, err := a.Blobs.Put(ctx, r.Result)
	if err != nil {
		return r, unavailable(ErrTypeBlobs, "store the result of call "+r.ID, err)
	}
	r.Body, r.Result = &ref, quoted(string(r.Result), limit)
	return r, nil
}

// fitResults makes results fit into one payload: each that is long is stored, and
// then the longest of the rest, until the sum is short enough.
func (a *Activities) fitResults(ctx context.Context, results []CallResult) ([]CallResult, error) {
	if len(results) == 0 {
		return results, nil
	}
	sum := 0
	order := make([]int, len(results))
	for i, r := range results {
		small, err := a.inlineResult(ctx, r, contract.MaxInline)
		if err != nil {
			return nil, err
		}
		results[i], order[i] = small, i
		sum += encodedLen(small.Result)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(encodedLen(results[j].Result), encodedLen(results[i].Result))
	})
	share := min(excerpt, maxInlineSum/len(results))
	for _, i := range order {
		before := encodedLen(results[i].Result)
		if sum <= maxInlineSum || before <= share {
			break
		}
		small, err := a.storeResult(ctx, results[i], share)
		if err != nil {
			return nil, err
		}
		results[i] = small
		sum += encodedLen(small.Result) - before
	}
	return results, nil
}

// encodedLen is the length of a JSON value within a payload, where the encoder
// escapes <, > and &.
func encodedLen(value json.RawMessage) int {
	return len(value) + 5*(bytes.Count(value, []byte("<"))+bytes.Count(value, []byte(">"))+bytes.Count(value, []byte("&")))
}

// quoted returns the beginning of s as a JSON string of at most limit bytes, or
// "" if limit is less than the quotes.
func quoted(s string, limit int) json.RawMessage {
	for room := limit; ; room /= 2 {
		text, err := json.Marshal(beginning(s, room)) // of a string: cannot fail
		if err != nil || room == 0 {
			return json.RawMessage(`""`)
		}
		if len(text) <= limit {
			return text
		}
	}
}

// beginning returns at most limit bytes of s and cuts no character in two.
func beginning(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// cut shortens a result that could not be stored.
func cut(r CallResult) CallResult {
	r.Result = quoted(string(r.Result), excerpt)
	r.Warning = "the result was too long for the thread and could not be stored; this is its beginning"
	return r
}
