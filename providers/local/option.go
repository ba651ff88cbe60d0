package local

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// Option changes what a tool is, beyond its function.
type Option func(*catalog.Tool)

// Write declares that the tool changes something. Without it a tool is a read.
func Write() Option { return func(t *catalog.Tool) { t.Operation = catalog.Write } }

// Destructive declares a write that removes or overwrites what cannot be brought
// back.
func Destructive() Option {
	return func(t *catalog.Tool) { t.Operation, t.Destructive = catalog.Write, true }
}

// HonoursKeys declares that the target of a write honours idempotency keys.
func HonoursKeys() Option { return func(t *catalog.Tool) { t.HonoursKeys = true } }

// Idempotent declares that a call made twice with the same input does no more
// than one.
func Idempotent() Option { return func(t *catalog.Tool) { t.Idempotent = true } }

// Independent declares a write whose calls touch nothing that other writes do.
func Independent() Option {
	return func(t *catalog.Tool) { t.Operation, t.Independent = catalog.Write, true }
}

// Title names the tool for people.
func Title(title string) Option { return func(t *catalog.Tool) { t.Title = title } }

// Approval says when a person must agree to a call.
func Approval(rule catalog.Approval) Option { return func(t *catalog.Tool) { t.Approval = rule } }

// Timeout bounds one call, at most [catalog.MaxTimeout].
func Timeout(d time.Duration) Option { return func(t *catalog.Tool) { t.Timeout = d } }

// Approvers makes so many people agree to each call, each another and none of
// them who asked.
func Approvers(n int) Option {
	return func(t *catalog.Tool) { t.Approval, t.Approvers = catalog.ApprovalAlways, n }
}

// Capabilities are what using the tool takes, for modes and policy.
func Capabilities(names ...string) Option {
	return func(t *catalog.Tool) { t.Capabilities = append(t.Capabilities, names...) }
}

// Tags say what else the tool is, for search and policy.
func Tags(names ...string) Option {
	return func(t *catalog.Tool) { t.Tags = append(t.Tags, names...) }
}

// Secrets are references to the secrets that a call may use; see [catalog.SecretRef].
func Secrets(names ...string) Option {
	return func(t *catalog.Tool) { t.Secrets = append(t.Secrets, names...) }
}

// ResourceKey names what a call works on: see [catalog.Descriptor.ResourceKey].
func ResourceKey(template string) Option {
	return func(t *catalog.Tool) { t.ResourceKey = template }
}

// Resource names what a call works on, where no template can: see
// [catalog.Tool.Resource]. In is the input type of the tool.
func Resource[In any](name func(in In) string) Option {
	return func(t *catalog.Tool) {
		t.Resource = func(input json.RawMessage) (string, error) {
			in, err := decode[In](input)
			if err != nil {
				return "", err
			}
			return name(in), nil
		}
	}
}

// Preview says what a call will do, for the person who is asked about it: see
// [catalog.Tool.Preview]. In is the input type of the tool.
func Preview[In any](say func(in In) string) Option {
	return func(t *catalog.Tool) {
		t.Preview = func(input json.RawMessage) string {
			in, err := decode[In](input)
			if err != nil {
				return "" // it is refused before it is shown
			}
			return say(in)
		}
	}
}

// Reconcile finds out what became of a call of a write that may or may not have been
// applied: see [catalog.Tool.Reconcile]. In is the input type of the tool.
func Reconcile[In any](find func(ctx context.Context, key string, in In) (catalog.Reconciled, error)) Option {
	return func(t *catalog.Tool) {
		t.Reconcile = func(ctx context.Context, call catalog.Call) (catalog.Reconciled, error) {
			in, err := decode[In](call.Input)
			if err != nil {
				return catalog.Reconciled{}, err
			}
			return find(context.WithValue(ctx, callKey{}, call), call.IdempotencyKey, in)
		}
	}
}

// Undo says how a call of the tool is undone that was applied: see [catalog.Tool.Undo].
// In and Out are the input and output types of the tool.
func Undo[In, Out any](tool string, input func(in In, out Out) any) Option {
	return func(t *catalog.Tool) {
		t.Undo = func(given, result json.RawMessage) (catalog.Undo, error) {
			in, err := decode[In](given)
			if err != nil {
				return catalog.Undo{}, err
			}
			out, err := decode[Out](result)
			if err != nil {
				return catalog.Undo{}, fmt.Errorf("the result cannot be read: %w", err)
			}
			text, err := json.Marshal(input(in, out))
			if err != nil {
				return catalog.Undo{}, fmt.Errorf("the input of %s cannot be written as JSON: %w", tool, err)
			}
			return catalog.Undo{Tool: tool, Input: text}, nil
		}
	}
}

// Example shows how the tool is called. The input is what encoding/json makes of
// a value, and fits the tool's schema.
func Example(description string, input any) Option {
	return func(t *catalog.Tool) {
		text, err := json.Marshal(input)
		if err != nil {
			text = nil // refused below: no JSON
		}
		t.Examples = append(t.Examples, catalog.Example{Description: description, Input: text})
	}
}

// DefinedAt says where the tool is defined, where that is not the line of the
// [Func] call.
func DefinedAt(place string) Option { return func(t *catalog.Tool) { t.Source = place } }

// checkAgainst says what of a descriptor does not fit its input schema.
func checkAgainst(d catalog.Descriptor) error {
	if err := catalog.CheckResourceKey(d.ResourceKey, d.Input); err != nil {
		return err
	}
	for i, e := range d.Examples {
		violations, err := catalog.Validate(d.Input, e.Input)
		if err != nil {
			return fmt.Errorf("example number %d: %w", i+1, err)
		}
		if len(violations) > 0 {
			return fmt.Errorf("example number %d does not fit the input: %s %s", i+1, violations[0].Pointer, violations[0].Message)
		}
	}
	return nil
}
