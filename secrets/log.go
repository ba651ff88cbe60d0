package secrets

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// handler takes values out of log records.
type handler struct {
	next     slog.Handler
	redactor *Redactor
}

// NewHandler returns a handler that passes records on to next without the values that
// a redactor knows of any tenant. An attribute that holds one becomes text.
func NewHandler(next slog.Handler, redactor *Redactor) slog.Handler {
	return handler{next, redactor}
}

func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h handler) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, h.redactor.All(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return handler{h.next.WithAttrs(clean), h.redactor}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.next.WithGroup(name), h.redactor}
}

func (h handler) attr(a slog.Attr) slog.Attr {
	a.Key, a.Value = h.redactor.All(a.Key), a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(h.redactor.All(a.Value.String()))
	case slog.KindGroup:
		members := a.Value.Group()
		clean := make([]slog.Attr, len(members))
		for i, member := range members {
			clean[i] = h.attr(member)
		}
		a.Value = slog.GroupValue(clean...)
	case slog.KindAny:
		a.Value = h.any(a.Value)
	}
	return a
}

// any looks at a value as a handler may write it: as text and as JSON.
func (h handler) any(v slog.Value) slog.Value {
	text := fmt.Sprintf("%+v", v.Any())
	if clean := h.redactor.All(text); clean != text {
		return slog.StringValue(clean)
	}
	doc, err := json.Marshal(v.Any())
	if err != nil {
		return v
	}
	if clean := h.redactor.JSON(Everyone, doc); string(clean) != string(doc) {
		return slog.StringValue(string(clean))
	}
	return v
}
