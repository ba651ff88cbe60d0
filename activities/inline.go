package activities

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/signals/contract"
)

// excerpt is how many bytes of a value that travels by reference stand beside
// the reference.
const excerpt = 4 << 10

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
	if r.Body != nil || len(r.Result) <= limit {
		return r, nil
	}
	ref, err := a.Blobs.Put(ctx, r.Result)
	if err != nil {
		return r, unavailable(ErrTypeBlobs, "store the result of call "+r.ID, err)
	}
	r.Body = &ref
	if r.Result, err = json.Marshal(beginning(string(r.Result), excerpt)); err != nil {
		return r, err
	}
	return r, nil
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
	quoted, err := json.Marshal(beginning(string(r.Result), excerpt))
	if err != nil {
		quoted = []byte(`""`)
	}
	r.Result = quoted
	r.Warning = "the result was too long for the thread and could not be stored; this is its beginning"
	return r
}
