package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/heddle-dev/heddle/catalog"
)

// metaKey is under what a write's idempotency key is sent, for servers that know it.
const metaKey = "dev.heddle/idempotency-key"

// call carries one call of a tool out.
func (s *Source) call(ctx context.Context, o offer, write bool, c catalog.Call) (json.RawMessage, error) {
	act := func(ctx context.Context, l *link) (json.RawMessage, error) { return s.callTool(ctx, l, o, c) }
	result, err := s.with(ctx, c.Scope, write, act, func(ctx context.Context, l *link) (json.RawMessage, error) {
		// A new session may be with another server than the one that was agreed to.
		if err := unchanged(ctx, l, o, s.options.MaxTools); err != nil {
			return nil, err
		}
		return act(ctx, l)
	})
	if err != nil {
		return nil, err
	}
	return s.outcome(ctx, result, len(o.output) > 0)
}

func (s *Source) callTool(ctx context.Context, l *link, o offer, c catalog.Call) (json.RawMessage, error) {
	ask := func(a *asking) error {
		if !c.CanAsk {
			return unanswerable(methodElicit)
		}
		return a.question(s.Name() + " (" + s.place + ")")
	}
	var more map[string]any
	if told := takeAnswer(c.Answer); told != nil {
		if len(told.Open) > 0 {
			return nil, ask(told)
		}
		more = told.more(l.modern)
	}
	result, err := l.rounds(ctx, more, ask, func(more map[string]any) (json.RawMessage, error) {
		return l.followed(c.Progress, func(id int64) (json.RawMessage, error) {
			meta := map[string]any{"progressToken": id}
			if c.IdempotencyKey != "" {
				meta[metaKey] = c.IdempotencyKey
			}
			if l.canAsk(c) {
				declare(meta)
			}
			params := map[string]any{"name": o.name, "arguments": c.Input, "_meta": meta}
			for name, value := range more {
				params[name] = value
			}
			header, err := o.header(params)
			if err != nil {
				return nil, err
			}
			return l.send(ctx, id, "tools/call", params, header)
		})
	})
	if f := (*fault)(nil); c.CanAsk && errors.As(err, &f) && f.rpc == rpcURLElicitation {
		if pages := readPages(f); pages != nil {
			return nil, ask(pages)
		}
	}
	return result, err
}

// header repeats what the tool's schema wants to have repeated.
func (o offer) header(params map[string]any) (http.Header, error) {
	if !o.mirrors {
		return nil, nil
	}
	text, err := encode(params)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	for name, value := range mcp.GenerateParamHeaders(&mcp.Tool{RawInputSchema: o.input}, text) {
		header.Set(name, value)
	}
	return header, nil
}

// unchanged refuses a call of a tool that the server no longer offers as it was.
func unchanged(ctx context.Context, l *link, o offer, most int) error {
	entries, err := l.list(ctx, "tools/list", "tools", most, &Report{})
	if err != nil {
		return err
	}
	offers, _ := readOffers(entries, l.modern, &Report{})
	switch now, ok := offers[o.name]; {
	case !ok:
		return &fault{
			code: catalog.CodeToolNotFound, message: "the server no longer offers " + quote(o.name), effect: catalog.EffectNone,
		}
	case now.digest != o.digest:
		return &fault{
			code: catalog.CodeDescriptorChanged, effect: catalog.EffectNone,
			message: "the server has changed " + quote(o.name) + " since the call was planned: " + cut(o.diff(now), maxText),
			hint:    "make the call again, so that it is planned and approved as it is now",
		}
	}
	return nil
}
