package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Protect gives the broker's tools their secrets, and takes these out of all that
// plans and calls bring to light. It must be called before the broker is used.
// Without it no tool has a secret.
func (b *Broker) Protect(secrets Secrets) { b.secrets = secrets }

// know has the secrets that a tool declares found in what it answers.
func (b *Broker) know(ctx context.Context, c *call) *Error {
	if b.secrets == nil || len(c.tool.Secrets) == 0 {
		return nil
	}
	if err := b.secrets.Know(ctx, c.scope, c.tool.Secrets); err != nil {
		e := secretUnavailable(c.tool.Secrets[0], err)
		e.Tool = c.tool.ID
		e.Message = fmt.Sprintf("the secrets of the tool cannot be read: %s", plain(err.Error(), maxMessage))
		return e
	}
	return nil
}

// redactPlan takes secrets out of what a plan shows.
func (b *Broker) redactPlan(scope Scope, p Plan) Plan {
	secrets := CallSecrets{from: b.secrets, scope: scope}
	p.Preview, p.Described = secrets.json(p.Preview), secrets.json(p.Described)
	p.Error = secrets.error(p.Error)
	return p
}

// redact takes secrets out of how a call ended. Of its result they were taken out where
// that was judged ([call.result]).
func (b *Broker) redact(scope Scope, o Outcome) Outcome {
	secrets := CallSecrets{from: b.secrets, scope: scope}
	o.Warning = secrets.text(o.Warning)
	o.Error = secrets.error(o.Error)
	o.Undo = secrets.undo(o.Undo)
	return o
}

// undo takes secrets out of a copy of how a write is undone.
func (s CallSecrets) undo(u *Undo) *Undo {
	if u == nil {
		return nil
	}
	return &Undo{Tool: u.Tool, Input: s.json(u.Input), Reason: s.text(u.Reason)}
}

// text takes secrets out of a text. Where one is cut too, this comes first: a part
// of a secret cannot be told from other text.
func (s CallSecrets) text(text string) string {
	if s.from == nil || text == "" {
		return text
	}
	return s.from.Text(s.scope, text)
}

// json takes secrets out of a JSON value.
func (s CallSecrets) json(value json.RawMessage) json.RawMessage {
	if s.from == nil || len(value) == 0 {
		return value
	}
	return s.from.JSON(s.scope, value)
}

// error takes secrets out of a copy of an error.
func (s CallSecrets) error(e *Error) *Error {
	if s.from == nil || e == nil {
		return e
	}
	clean := *e
	clean.Code, clean.Message, clean.Tool, clean.Hint = s.text(e.Code), s.text(e.Message), s.text(e.Tool), s.text(e.Hint)
	clean.Violations = slices.Clone(e.Violations)
	for i, v := range clean.Violations {
		clean.Violations[i] = Violation{Pointer: s.text(v.Pointer), Message: s.text(v.Message)}
	}
	clean.Details = s.json(e.Details)
	return &clean
}
