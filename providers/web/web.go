package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/heddle-dev/heddle/catalog"
)

const (
	// Namespace begins the ids of the tools.
	Namespace = "web"
	// Endpoint is the service that is asked where the operator names no other. It
	// answers without a credential.
	Endpoint = "https://search.parallel.ai/mcp"
)

// Caller calls a tool of the service by its name.
type Caller func(ctx context.Context, tool string, call catalog.Call) (json.RawMessage, error)

// Key gives the key that session ids are made with, the same on all workers. None,
// and ids are digests: who knows a thread's id can tell its session's.
type Key func(ctx context.Context) ([]byte, error)

// Source is the tools web.search and web.fetch.
type Source struct {
	call  Caller
	key   Key
	tools []catalog.Tool
}

var _ catalog.Lasting = (*Source)(nil)

// New returns the source. A nil key is none.
func New(call Caller, key Key) *Source {
	s := &Source{call: call, key: key}
	s.tools = []catalog.Tool{
		s.tool("search", "Search the web",
			"Searches the web. Returns pages with their addresses and the passages that matter. State in objective what you want to know and why, and in queries a few short searches by keyword.",
			searchInput, searchArguments, "web_search"),
		s.tool("fetch", "Read web pages",
			"Reads web pages by their addresses and returns their text, or the passages that matter for the objective.",
			fetchInput, fetchArguments, "web_fetch"),
	}
	return s
}

// Name is web.
func (s *Source) Name() string { return Namespace }

// Tools lists the two tools.
func (s *Source) Tools(context.Context) ([]catalog.Tool, error) { return s.tools, nil }

// Freshness is for ever: the tools are always the same.
func (*Source) Freshness() time.Duration { return math.MaxInt64 }

const searchInput = `{"type":"object","properties":{
"objective":{"type":"string","minLength":1,"maxLength":4000,"description":"What you want to know, in a sentence or two"},
"queries":{"type":"array","items":{"type":"string","minLength":1,"maxLength":200},"minItems":1,"maxItems":5,"description":"Short searches by keyword; the objective if left out"}
},"required":["objective"],"additionalProperties":false}`

const fetchInput = `{"type":"object","properties":{
"urls":{"type":"array","items":{"type":"string","pattern":"^https?://[^/]","maxLength":2000},"minItems":1,"maxItems":10},
"objective":{"type":"string","minLength":1,"maxLength":4000,"description":"What you look for on the pages"}
},"required":["urls"],"additionalProperties":false}`

func (s *Source) tool(name, title, description, input string, arguments func(json.RawMessage) (map[string]any, error), remote string) catalog.Tool {
	return catalog.Tool{
		Descriptor: catalog.Descriptor{
			ID: Namespace + "." + name, Title: title, Description: description,
			Input: json.RawMessage(input), Operation: catalog.Read, Source: "built in",
		},
		Call: func(ctx context.Context, c catalog.Call) (json.RawMessage, error) {
			wire, err := arguments(c.Input)
			if err != nil {
				return nil, err
			}
			if wire["session_id"], err = s.session(ctx, c.Scope); err != nil {
				return nil, err
			}
			if c.Input, err = json.Marshal(wire); err != nil {
				return nil, err
			}
			return s.call(ctx, remote, c)
		},
	}
}

func searchArguments(input json.RawMessage) (map[string]any, error) {
	var in struct {
		Objective string   `json:"objective"`
		Queries   []string `json:"queries"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	if len(in.Queries) == 0 {
		in.Queries = []string{in.Objective}
	}
	return map[string]any{"objective": in.Objective, "search_queries": in.Queries}, nil
}

func fetchArguments(input json.RawMessage) (map[string]any, error) {
	var wire map[string]any
	err := json.Unmarshal(input, &wire)
	return wire, err
}

func (s *Source) session(ctx context.Context, scope catalog.Scope) (string, error) {
	var key []byte
	if s.key != nil {
		var err error
		if key, err = s.key(ctx); err != nil {
			return "", fmt.Errorf("the key of session ids: %w", err)
		}
	}
	return SessionID(key, scope), nil
}

// SessionID is the id by which the service knows the calls of one thread: a UUID
// that is the same as often as it is made, and from which nothing can be read.
func SessionID(key []byte, scope catalog.Scope) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "heddle web session %q %q", scope.Tenant, scope.Thread)
	id := uuid.UUID(mac.Sum(nil)[:16])
	id[6] = id[6]&0x0f | 0x50 // version 5: made of a name
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
