package catalog

import (
	"context"
	"log/slog"
)

// Tools lists what the scope may use with its schemas, ordered by id. Of a
// source that cannot be read the last listing holds; a tool whose descriptor cannot
// be used is left out. Both are logged. The error is that of ctx.
//
// All schemas are made at once: where there may be many tools, ask [Broker.List]
// what there is and [Broker.Lookup] for the ones that are wanted.
func (b *Broker) Tools(ctx context.Context, scope Scope) ([]Descriptor, error) {
	visible, err := b.visible(ctx, scope)
	if err != nil {
		return nil, err
	}
	var all []Descriptor
	for _, listed := range visible {
		tool, err := complete(*listed)
		if err != nil {
			slog.WarnContext(ctx, "catalog: a tool is left out", "tool", listed.ID, "error", err)
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
	for i, tool := range visible {
		all[i] = tool.Descriptor
	}
	return all, nil
}

// Lookup describes one tool, with its schemas. The error is an *[Error]: with code
// [CodeToolNotFound] if there is no such tool within the scope, and a hint that
// names the nearest; with [CodeSourceUnavailable], [CodeInvalidTool],
// [CodeTimeout] or [CodeCancelled] as from [Broker.Plan].
func (b *Broker) Lookup(ctx context.Context, scope Scope, id string) (Descriptor, error) {
	tool, _, fault := b.lookup(ctx, scope, id)
	if fault != nil {
		return Descriptor{}, fault.before(id)
	}
	return tool.Descriptor, nil
}

// lookup finds a tool within the scope, and its source, and makes its schemas.
func (b *Broker) lookup(ctx context.Context, scope Scope, id string) (*made, *source, *Error) {
	found, listed, owner, fault := b.resolve(ctx, scope, id)
	if fault != nil {
		return nil, nil, fault
	}
	tool, err := listed.made.of(found)
	if err != nil {
		return nil, nil, invalidTool("%s", err)
	}
	return tool, owner, nil
}

// Nearest are the ids within the scope that someone may have meant by one that
// there is not, best first; at most three.
func (b *Broker) Nearest(ctx context.Context, scope Scope, id string) []string {
	visible, err := b.visible(ctx, scope)
	if err != nil {
		return nil
	}
	ids := make([]string, len(visible))
	for i, tool := range visible {
		ids[i] = tool.ID
	}
	return near(id, ids)
}

// visible are the tools that the scope may use in its mode, ordered by id. The
// error is that of ctx.
func (b *Broker) visible(ctx context.Context, scope Scope) ([]*Tool, error) {
	view, _, err := b.view(ctx, scope)
	if err != nil {
		return nil, err
	}
	var all []*Tool
	for _, tool := range view.tools {
		if b.shows(scope, tool) {
			all = append(all, tool)
		}
	}
	return all, nil
}

// shows reports whether the scope may use a tool in its mode.
func (b *Broker) shows(scope Scope, tool *Tool) bool {
	mode, unknown := b.modes.Of(scope.Mode)
	return unknown == nil && scope.Allows(tool.ID) && mode.Admits(tool.Descriptor) == nil
}

// complete returns a tool with its schemas, if it can be used.
func complete(tool Tool) (Tool, error) {
	tool, err := tool.Complete()
	if err == nil {
		err = checkTool(tool)
	}
	return tool, err
}
