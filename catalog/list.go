package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Tools lists what the scope may use with its schemas, ordered by id. A source
// that cannot be read is left out, and a tool whose descriptor cannot be used too;
// both are logged. The error is that of ctx.
//
// All schemas are made at once: where there may be many tools, ask [Broker.List]
// what there is and [Broker.Lookup] for the ones that are wanted.
func (b *Broker) Tools(ctx context.Context, scope Scope) ([]Descriptor, error) {
	visible, err := b.visible(ctx, scope)
	if err != nil {
		return nil, err
	}
	var all []Descriptor
	for _, v := range visible {
		tool, err := complete(v.tool)
		if err != nil {
			v.leaveOut(ctx, err)
			continue
		}
		all = append(all, tool.Descriptor)
	}
	return all, nil
}

// List lists what the scope may use, ordered by id, as [Broker.Tools] does, and
// makes no schema: a descriptor whose schemas are made on demand ([Tool.Schemas])
// has none. The error is that of ctx.
func (b *Broker) List(ctx context.Context, scope Scope) ([]Descriptor, error) {
	visible, err := b.visible(ctx, scope)
	if err != nil {
		return nil, err
	}
	all := make([]Descriptor, len(visible))
	for i, v := range visible {
		all[i] = v.tool.Descriptor
	}
	return all, nil
}

// Lookup describes one tool, with its schemas. The error is an *[Error]: with code
// [CodeToolNotFound] if there is no such tool within the scope, and a hint that
// names the nearest; with [CodeSourceUnavailable], [CodeInvalidTool],
// [CodeTimeout] or [CodeCancelled] as from [Broker.Plan].
func (b *Broker) Lookup(ctx context.Context, scope Scope, id string) (Descriptor, error) {
	tool, fault := b.lookup(ctx, scope, id)
	if fault != nil {
		return Descriptor{}, fault.before(id)
	}
	return tool.Descriptor, nil
}

// lookup finds a tool within the scope and makes its schemas.
func (b *Broker) lookup(ctx context.Context, scope Scope, id string) (Tool, *Error) {
	found, fault := b.resolve(ctx, scope, id)
	if fault != nil {
		return Tool{}, fault
	}
	tool, err := complete(*found)
	if err != nil {
		return Tool{}, invalidTool("%s", err)
	}
	return tool, nil
}

// Nearest are the ids within the scope that someone may have meant by one that
// there is not, best first; at most three.
func (b *Broker) Nearest(ctx context.Context, scope Scope, id string) []string {
	visible, err := b.visible(ctx, scope)
	if err != nil {
		return nil
	}
	ids := make([]string, len(visible))
	for i, v := range visible {
		ids[i] = v.tool.ID
	}
	return near(id, ids)
}

// listed is a tool and the source that lists it.
type listed struct {
	tool   Tool
	source *source
}

func (l listed) leaveOut(ctx context.Context, err error) {
	slog.WarnContext(ctx, "catalog: a tool is left out", "source", l.source.Name(), "tool", l.tool.ID, "error", err)
}

// visible are the tools that the scope may use in its mode, ordered by id. The
// error is that of ctx.
func (b *Broker) visible(ctx context.Context, scope Scope) ([]listed, error) {
	var all []listed
	seen := map[string]bool{}
	mode, unknown := b.modes.Of(scope.Mode)
	if unknown != nil {
		return nil, ctx.Err()
	}
	for _, l := range b.list(ctx, scope) {
		for _, tool := range l.tools {
			if !scope.Allows(tool.ID) || seen[tool.ID] {
				continue
			}
			seen[tool.ID] = true
			found := listed{tool, l.source}
			if err := checkTool(tool); err != nil {
				found.leaveOut(ctx, err)
				continue
			}
			if mode.Admits(tool.Descriptor) != nil {
				continue
			}
			all = append(all, found)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("catalog: list tools: %w", err)
	}
	slices.SortFunc(all, func(a, b listed) int { return strings.Compare(a.tool.ID, b.tool.ID) })
	return all, nil
}

// complete returns a tool with its schemas, if it can be used.
func complete(tool Tool) (Tool, error) {
	tool, err := tool.Complete()
	if err == nil {
		err = checkTool(tool)
	}
	return tool, err
}
