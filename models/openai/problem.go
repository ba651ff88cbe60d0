package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/activities"
)

// problem is what a server says of an error.
type problem struct{ message, code, class string }

// readProblem reads the forms in which servers report an error: {"error": {...}},
// {"error": "..."}, {"message": ...}, {"detail": ...}, and each of them in a list.
func readProblem(body []byte) problem {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 && string(outer.Error) != "null" {
		body = outer.Error
	}
	var text string
	if json.Unmarshal(body, &text) == nil {
		return problem{message: text}
	}
	var fields struct {
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
	}
	if json.Unmarshal(body, &fields) != nil {
		return problem{}
	}
	return problem{
		message: cmp.Or(plain(fields.Message), plain(fields.Detail)),
		code:    plain(fields.Code),
		class:   plain(fields.Type),
	}
}

// plain returns a JSON string's text, nothing for null, and of any other value
// the JSON.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// kind says what an error means for the next attempt. Status 0 is unknown.
func (p problem) kind(status int) activities.ModelErrorKind {
	names := []string{p.code, p.class}
	has := func(part string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, part) })
	}
	switch {
	// An account without money answers 429, and will tomorrow.
	case has("insufficient_quota"), has("billing_not_active"):
		return activities.ModelUnauthorized
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired,
		status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return activities.ModelUnauthorized
	case status == http.StatusTooManyRequests:
		return activities.ModelRateLimited
	case status == http.StatusRequestTimeout, status == http.StatusConflict,
		status == http.StatusTooEarly, status >= 500:
		return activities.ModelUnavailable
	case status >= 300:
		return activities.ModelInvalid
	case has("rate_limit"):
		return activities.ModelRateLimited
	case has("invalid_api_key"), has("authentication"), has("permission"):
		return activities.ModelUnauthorized
	case has("invalid_request"), has("context_length"):
		return activities.ModelInvalid
	default:
		return activities.ModelUnavailable
	}
}
