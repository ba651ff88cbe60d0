package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/heddle-dev/heddle/activities"
)

var _ activities.Model = (*Model)(nil)

// Generate implements [activities.Model].
func (m *Model) Generate(ctx context.Context, req activities.ModelRequest, stream func(activities.ModelDelta)) (activities.ModelResponse, error) {
	params, err := m.params(req)
	if err != nil {
		return activities.ModelResponse{}, &activities.ModelError{Kind: activities.ModelInvalid, Message: err.Error()}
	}
	key, err := m.apiKey(ctx)
	if err != nil {
		return activities.ModelResponse{}, err
	}
	c := m.begin(ctx, key, stream != nil)
	defer c.end()
	r := reply{stream: stream}
	if stream == nil {
		err = c.ask(params, &r)
	} else {
		err = c.askStreaming(params, &r)
	}
	if err != nil {
		return activities.ModelResponse{}, c.failure(err)
	}
	resp, err := r.response(req)
	if err != nil {
		return activities.ModelResponse{}, c.failure(err)
	}
	return resp, nil
}

// apiKey returns the key to send, or "" for none.
func (m *Model) apiKey(ctx context.Context) (string, error) {
	if m.key == nil {
		return "", nil
	}
	key, err := m.key(ctx)
	var known *activities.ModelError
	switch {
	case errors.As(err, &known):
		return "", known
	case err != nil:
		return "", &activities.ModelError{Kind: activities.ModelUnavailable, Message: "the API key cannot be read: " + err.Error(), Err: err}
	case key == "":
		return "", &activities.ModelError{Kind: activities.ModelUnauthorized, Message: "the API key is empty"}
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", &activities.ModelError{Kind: activities.ModelUnauthorized, Message: "the API key holds a line break or another control character"}
	}
	return key, nil
}

// ask reads the reply from one JSON document.
func (c *call) ask(params sdk.ChatCompletionNewParams, r *reply) error {
	var res *http.Response
	var body []byte
	_, err := c.chat.New(c.ctx, params, append(c.options(), option.WithResponseInto(&res), option.WithResponseBodyInto(&body))...)
	if res != nil && res.StatusCode >= 300 {
		return c.statusError(res)
	}
	if err != nil {
		return err
	}
	return c.addDocument(body, res.Header, r)
}

// askStreaming reads the reply from an event stream.
func (c *call) askStreaming(params sdk.ChatCompletionNewParams, r *reply) error {
	var res *http.Response
	params.StreamOptions.IncludeUsage = sdk.Bool(true)
	// The SDK's stream is lazy: nothing of it is read here. Its own reader tells
	// neither a finished stream from one that was cut off, nor "error": null
	// from an error.
	sent := c.chat.NewStreaming(c.ctx, params, append(c.options(), option.WithResponseInto(&res))...)
	if res != nil && res.StatusCode >= 300 {
		return c.statusError(res)
	}
	if err := sent.Err(); err != nil {
		return err
	}
	defer res.Body.Close()
	switch mediaType(res.Header) {
	case "application/json", "text/html":
		return c.readDocument(res, r)
	default:
		return r.readEvents(res)
	}
}

// readDocument reads the answer of a server that did not stream.
func (c *call) readDocument(res *http.Response, r *reply) error {
	body, err := readAll(res.Body)
	if err != nil {
		return err
	}
	return c.addDocument(body, res.Header, r)
}

// addDocument takes a whole answer in.
func (c *call) addDocument(body []byte, header http.Header, r *reply) error {
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return unavailable("the answer is no chat completion: %v%s", err, c.describe(body, header))
	}
	r.complete = true
	return r.add(p, false)
}
