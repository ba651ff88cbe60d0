package catalogtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

// Many are so many sources with so many tools each. Of the sources the last ten
// fail, each in a way of its own: see [Faults]. The ids of the tools are s0.t0,
// s0.t1 and so on.
func Many(sources, tools int) []catalog.Source {
	all := make([]catalog.Source, sources)
	for i := range all {
		all[i] = remote{name: fmt.Sprintf("s%d", i), tools: namesakes(fmt.Sprintf("s%d", i), tools)}
	}
	for i, fault := range Faults {
		at := sources - len(Faults) + i
		one := remote{name: fmt.Sprintf("s%d", at), tools: namesakes(fmt.Sprintf("s%d", at), tools)}
		one.list = fault.list
		all[at] = one
	}
	return all
}

// Fault is a way in which a source of [Many] fails.
type Fault struct {
	Name string
	// Unread says that the source is named among those that cannot be read, or not in
	// whole; Useless that none of its tools can be called.
	Unread, Useless bool
	list            func(ctx context.Context, own []catalog.Tool) ([]catalog.Tool, error)
}

// Faults are the ways in which sources of [Many] fail.
var Faults = []Fault{
	{"error", true, true, func(context.Context, []catalog.Tool) ([]catalog.Tool, error) {
		return nil, errors.New("connection refused")
	}},
	{"hangs", true, true, func(ctx context.Context, _ []catalog.Tool) ([]catalog.Tool, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}},
	{"never returns", true, true, func(context.Context, []catalog.Tool) ([]catalog.Tool, error) { select {} }},
	{"panics", true, true, func(context.Context, []catalog.Tool) ([]catalog.Tool, error) { panic("out of order") }},
	{"ends its goroutine", true, true, func(context.Context, []catalog.Tool) ([]catalog.Tool, error) { runtime.Goexit(); return nil, nil }},
	{"lies about its namespace", false, false, func(_ context.Context, own []catalog.Tool) ([]catalog.Tool, error) {
		return append(namesakes("s0", 3), own...), nil
	}},
	{"lists duplicates", false, false, func(_ context.Context, own []catalog.Tool) ([]catalog.Tool, error) { return append(own, own...), nil }},
	{"lists what is no tool", false, false, func(_ context.Context, own []catalog.Tool) ([]catalog.Tool, error) {
		bad := append([]catalog.Tool{}, own...)
		bad[0].ID, bad[1].Input, bad[2].Call = "no id", json.RawMessage(`{"type":`), nil
		return bad, nil
	}},
	{"is huge", false, true, func(_ context.Context, own []catalog.Tool) ([]catalog.Tool, error) {
		huge := append([]catalog.Tool{}, own...)
		for i := range huge {
			huge[i].Description = strings.Repeat("Does everything with anything. ", 5000)
		}
		return huge, nil
	}},
	{"lacks a part", true, false, func(_ context.Context, own []catalog.Tool) ([]catalog.Tool, error) {
		namespace := own[0].Namespace()
		return own[:len(own)/2], &catalog.PartialError{Parts: []catalog.Unavailable{{Source: namespace, Reason: "the second page is missing"}}}
	}},
}

// remote is a source whose tools lie elsewhere.
type remote struct {
	name  string
	tools []catalog.Tool
	list  func(ctx context.Context, own []catalog.Tool) ([]catalog.Tool, error)
}

func (r remote) Name() string      { return r.name }
func (r remote) Namespace() string { return r.name }

func (r remote) Tools(ctx context.Context) ([]catalog.Tool, error) {
	if r.list == nil {
		return r.tools, nil
	}
	return r.list(ctx, r.tools)
}

// namesakes are tools of a namespace that answer with their input.
func namesakes(namespace string, n int) []catalog.Tool {
	verbs := []string{"create", "get", "list", "update", "delete", "archive", "send", "merge", "restore", "export"}
	things := []string{"invoice", "ticket", "customer", "parcel", "branch", "message", "report", "payment", "calendar", "contract", "photo"}
	tools := make([]catalog.Tool, n)
	for i := range tools {
		verb, thing := verbs[i%len(verbs)], things[(i/len(verbs)+i)%len(things)]
		tools[i] = catalog.Tool{
			Descriptor: catalog.Descriptor{
				ID: fmt.Sprintf("%s.t%d", namespace, i), Title: fmt.Sprintf("%s %s %d", verb, thing, i), Operation: catalog.Read,
				Description: fmt.Sprintf("Use it to %s a %s in %s.", verb, thing, namespace),
				Input:       json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"%s_id":{"type":"string","description":"Number of the %s"}}}`, thing, thing)),
			},
			Call: func(_ context.Context, call catalog.Call) (json.RawMessage, error) { return call.Input, nil },
		}
	}
	return tools
}
