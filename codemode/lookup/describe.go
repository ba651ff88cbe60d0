package lookup

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/typescript"
)

// MaxDescribed bounds the tools of one [Lookup.Describe].
const MaxDescribed = 20

const describeUsage = `describe({ id: "orders.refund", schema?: true }) or describe({ ids: ["orders.refund"] })`

// DescribeInput is the JSON Schema of what [Lookup.Describe] takes.
const DescribeInput = `{"type":"object","properties":{` +
	`"id":{"type":"string","description":"Id of a tool."},` +
	`"ids":{"type":"array","items":{"type":"string"},"maxItems":20,"description":"Several ids."},` +
	`"schema":{"type":"boolean","description":"Return the JSON Schemas too."}},"additionalProperties":false}`

// Description is how a tool is called.
type Description struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	// Declaration declares the tool, and the types of its input and output, in
	// TypeScript. The tool's description is in it.
	Declaration string            `json:"declaration"`
	Operation   catalog.Operation `json:"operation"`
	// Approval says why a person will be asked before a call is made. Empty: nobody
	// will.
	Approval string `json:"approval,omitempty"`
	// Hints are what else is said of calls: destructive, idempotent, independent.
	Hints    []string          `json:"hints,omitempty"`
	Examples []catalog.Example `json:"examples,omitempty"`
	// Degraded are the places of the schemas that the declaration says less of.
	Degraded []typescript.Degraded `json:"degraded,omitempty"`
	// Input and Output are the JSON Schemas, if they were asked for.
	Input  json.RawMessage `json:"input,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
}

// Unknown is an id that cannot be described.
type Unknown struct {
	ID string `json:"id"`
	// Error says why, and Nearest are ids that may be meant.
	Error   *catalog.Error `json:"error"`
	Nearest []string       `json:"nearest,omitempty"`
}

// Descriptions are several tools, in the order in which they were asked for.
type Descriptions struct {
	Items   []Description `json:"items"`
	Unknown []Unknown     `json:"unknown,omitempty"`
}

type describeInput struct {
	ID     *string  `json:"id"`
	IDs    []string `json:"ids"`
	Schema bool     `json:"schema"`
}

// Describe says how tools are called: the input is of [DescribeInput], the answer
// a [Description] for an id, and [Descriptions] for several, with those that are
// unknown beside them. The error is a *[catalog.Error].
func (l *Lookup) Describe(ctx context.Context, scope catalog.Scope, input json.RawMessage) (json.RawMessage, error) {
	var in describeInput
	if refused := read(input, describeUsage, &in); refused != nil {
		return nil, refused
	}
	switch {
	case in.ID != nil && in.IDs != nil:
		return nil, refused(describeUsage, "ids", "is given beside id; give one of them")
	case in.ID != nil:
		d, err := l.describe(ctx, scope, *in.ID, in.Schema)
		if err != nil {
			return nil, err
		}
		return answer(d)
	case in.IDs == nil:
		return nil, refused(describeUsage, "id", "is missing: the tool to describe")
	case len(in.IDs) > MaxDescribed:
		return nil, refused(describeUsage, "ids", "are %d, at most %d are allowed", len(in.IDs), MaxDescribed)
	}
	all := Descriptions{Items: []Description{}}
	for _, id := range in.IDs {
		d, err := l.describe(ctx, scope, id, in.Schema)
		switch {
		case ctx.Err() != nil:
			return nil, ended(ctx, "description")
		case err != nil:
			all.Unknown = append(all.Unknown, Unknown{beginning(id, catalog.MaxID), err, l.broker.Nearest(ctx, scope, id)})
		default:
			all.Items = append(all.Items, *d)
		}
	}
	return answer(all)
}

func (l *Lookup) describe(ctx context.Context, scope catalog.Scope, id string, schemas bool) (*Description, *catalog.Error) {
	began := time.Now()
	described, fault := l.declare(ctx, scope, id, schemas)
	e := catalog.Entry{Kind: catalog.EntryDescribe, Asked: []string{id}, DurationMS: time.Since(began).Milliseconds()}
	if fault != nil {
		e.Code, e.Message = fault.Code, fault.Message
	} else {
		e.Tool, e.Operation, e.Hits = described.ID, described.Operation, 1
	}
	l.broker.Note(scope, e)
	return described, fault
}

func (l *Lookup) declare(ctx context.Context, scope catalog.Scope, id string, schemas bool) (*Description, *catalog.Error) {
	d, err := l.broker.Lookup(ctx, scope, id)
	if err != nil {
		var typed *catalog.Error
		if !errors.As(err, &typed) {
			typed = &catalog.Error{Code: catalog.CodeInvalidTool, Message: err.Error(), Effect: catalog.EffectNone}
		}
		return nil, typed
	}
	_, reason := l.broker.Asks(ctx, scope, d)
	declared := render(d)
	described := &Description{
		ID: d.ID, Title: d.Title, Declaration: declared.Source, Operation: d.Operation, Approval: reason,
		Hints: d.Hints(), Examples: d.Examples, Degraded: declared.Degraded,
	}
	if schemas {
		described.Input, described.Output = d.Input, d.Output
	}
	return described, nil
}
