package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// resolve finds a tool within the scope, and its listing and source. A tool out of
// scope is refused in exactly the words of one that does not exist, so that nobody
// learns of it.
//
// A tool belongs to the first source that lists it. While that source cannot be
// read its last listing holds: no other source may step in with a tool of the same
// id.
func (b *Broker) resolve(ctx context.Context, scope Scope, id string) (*Tool, *listing, *source, *Error) {
	if !scope.Allows(id) {
		return nil, nil, nil, b.unknown(ctx, scope, id)
	}
	for _, s := range b.sources {
		if !s.mayHave(namespaceOf(id)) {
			continue
		}
		shelf, err := s.shelf(scope)
		if err != nil {
			continue
		}
		if shelf.peek().find(id) != nil {
			l, _ := shelf.get(ctx, forOne)
			if ctx.Err() != nil {
				return nil, nil, nil, ended(ctx, "before the tool was called")
			}
			if tool := l.find(id); tool != nil {
				return tool, l, s, nil
			}
		}
	}
	return b.resolveAnew(ctx, scope, id)
}

// resolveAnew asks the sources that may have a tool which none is known to have.
func (b *Broker) resolveAnew(ctx context.Context, scope Scope, id string) (*Tool, *listing, *source, *Error) {
	var unread error
	for _, s := range b.sources {
		if !s.mayHave(namespaceOf(id)) {
			continue
		}
		l, err := s.get(ctx, scope, forOne)
		if ctx.Err() != nil {
			return nil, nil, nil, ended(ctx, "before the tool was called")
		}
		if tool := l.find(id); tool != nil {
			return tool, l, s, nil
		}
		if fault := l.missing(namespaceOf(id)); fault != nil {
			fault.Tool = id
			return nil, nil, nil, fault
		}
		if err != nil {
			unread = errors.Join(unread, fmt.Errorf("source %s: %w", quote(s.Name()), err))
		}
	}
	if unread != nil {
		return nil, nil, nil, &Error{
			Code:      CodeSourceUnavailable,
			Message:   fmt.Sprintf("tool %s is not known, and not every source can be read: %s", quote(id), plain(unread.Error(), maxMessage)),
			Retryable: true,
		}
	}
	return nil, nil, nil, b.unknown(ctx, scope, id)
}

// missing is why tools of a namespace are not in the listing, where that is known.
func (l *listing) missing(namespace string) *Error {
	if l == nil {
		return nil
	}
	for _, part := range l.parts {
		if part.Source == namespace && part.Cause != nil {
			fault := *part.Cause
			return &fault
		}
	}
	return nil
}

func namespaceOf(id string) string { return Descriptor{ID: id}.Namespace() }

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
