package codemode

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

// resultRequest is the input of tools.result.
type resultRequest struct {
	// Handle is the id of the call whose result is wanted.
	Handle string `json:"handle"`
	// Path leads to a part of it: names and indices joined by dots.
	Path string `json:"path"`
	// Offset and Limit cut an array, or the characters of a string.
	Offset int  `json:"offset"`
	Limit  *int `json:"limit"`
}

// kept reads a large result of the thread, or a part of one. The handle means
// something within the thread only.
func (s *stretch) kept(input json.RawMessage) (json.RawMessage, error) {
	var in resultRequest
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, invalid("tools.result takes a handle and { path, offset, limit }: %v", err)
	}
	ref, ok := s.in.Results[in.Handle]
	if !ok {
		return nil, invalid("the thread keeps no result %q; a handle stands beside the outline of a large result", clip(in.Handle, 80))
	}
	if in.Offset < 0 || in.Limit != nil && *in.Limit < 0 {
		return nil, invalid("offset and limit must not be negative")
	}
	whole, err := s.runner.Blobs.Get(s.ctx, ref)
	if err != nil {
		return nil, &catalog.Error{Code: catalog.CodeSourceUnavailable, Retryable: true, Message: "cannot read the kept result: " + err.Error()}
	}
	part, err := at(whole, in.Path)
	if err != nil {
		return nil, err
	}
	return in.slice(part)
}

// at follows a path into a JSON text.
func at(value json.RawMessage, path string) (json.RawMessage, error) {
	if path == "" {
		return value, nil
	}
	for segment := range strings.SplitSeq(path, ".") {
		var next json.RawMessage
		switch first(value) {
		case '{':
			var object map[string]json.RawMessage
			if err := json.Unmarshal(value, &object); err != nil {
				return nil, err
			}
			next = object[segment]
		case '[':
			var array []json.RawMessage
			if err := json.Unmarshal(value, &array); err != nil {
				return nil, err
			}
			if i, err := strconv.Atoi(segment); err == nil && i >= 0 && i < len(array) {
				next = array[i]
			}
		}
		if next == nil {
			return nil, invalid("path %q: there is no %q", clip(path, 200), clip(segment, 80))
		}
		value = next
	}
	return value, nil
}

// slice cuts an array, or a string.
func (r resultRequest) slice(value json.RawMessage) (json.RawMessage, error) {
	if r.Offset == 0 && r.Limit == nil {
		return value, nil
	}
	switch first(value) {
	case '[':
		var array []json.RawMessage
		if err := json.Unmarshal(value, &array); err != nil {
			return nil, err
		}
		return json.Marshal(window(array, r))
	case '"':
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return nil, err
		}
		return json.Marshal(string(window([]rune(text), r)))
	}
	return nil, invalid("offset and limit cut an array or a string, and this is neither")
}

func window[T any](all []T, r resultRequest) []T {
	from := min(r.Offset, len(all))
	to := len(all)
	if r.Limit != nil {
		to = min(to, from+min(*r.Limit, len(all)))
	}
	return all[from:to]
}

func first(value json.RawMessage) byte {
	if len(value) == 0 {
		return 0
	}
	return value[0]
}

func invalid(format string, args ...any) *catalog.Error {
	return &catalog.Error{Code: catalog.CodeInvalidInput, Effect: catalog.EffectNone, Message: fmt.Sprintf(format, args...)}
}
