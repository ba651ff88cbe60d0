package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// resolve finds a tool within the scope. A tool out of scope is refused in
// exactly the words of one that does not exist, so that nobody learns of it.
//
// A tool belongs to the source that listed it first. While that source cannot
// be read the tool is unavailable: no other source may step in with one of the
// same id.
func (b *Broker) resolve(ctx context.Context, scope Scope, id string) (*Tool, *Error) {
	if !scope.Allows(id) {
		return nil, b.unknown(ctx, scope, id)
	}
	var unread error
	for _, s := range b.owners(id) {
		if !s.holds(id) {
			continue
		}
		tools, err := s.list(ctx)
		if ctx.Err() != nil {
			return nil, ended(ctx, "before the tool was called")
		}
		had, known := s.had(id)
		switch {
		case err != nil && had:
			return nil, unavailable(s, id, err)
		case err != nil && !known:
			unread = errors.Join(unread, fmt.Errorf("source %s: %w", quote(s.Name()), err))
		}
		if tool := find(tools, id); tool != nil {
			return tool, nil
		}
	}
	if unread != nil {
		return nil, &Error{
			Code:      CodeSourceUnavailable,
			Message:   fmt.Sprintf("tool %s is not known, and not every source can be read: %s", quote(id), plain(unread.Error(), maxMessage)),
			Retryable: true,
		}
	}
	return nil, b.unknown(ctx, scope, id)
}

// owners are the sources in the order in which to look for the tool: the one
// that had it comes first.
func (b *Broker) owners(id string) []*source {
	for i, s := range b.sources {
		if had, _ := s.had(id); had {
			if i == 0 {
				break
			}
			ordered := append([]*source{s}, b.sources[:i]...)
			return append(ordered, b.sources[i+1:]...)
		}
	}
	return b.sources
}

func unavailable(s *source, id string, err error) *Error {
	return &Error{
		Code:      CodeSourceUnavailable,
		Message:   fmt.Sprintf("tool %s: its source %s cannot be read: %s", quote(id), quote(s.Name()), plain(err.Error(), maxMessage)),
		Retryable: true,
	}
}

func (b *Broker) unknown(ctx context.Context, scope Scope, id string) *Error {
	names := b.Nearest(ctx, scope, id)
	if ctx.Err() != nil {
		return ended(ctx, "before the tool was called")
	}
	e := &Error{Code: CodeToolNotFound, Message: fmt.Sprintf("there is no tool %s", quote(id))}
	if len(names) > 0 {
		e.Hint = "did you mean " + strings.Join(names, " or ") + "?"
	}
	return e
}
