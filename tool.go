package heddle

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/local"
)

// ToolOption changes what a tool is, beyond its function.
type ToolOption = local.Option

// Tool adds a Go function as a tool. The id has a namespace, such as
// orders.find; the description tells the model, and people, what the tool does.
//
// In is a struct, or a map with string keys; Out is any type that encoding/json
// writes. Their JSON Schemas are derived from the types. The names are those of
// the json tags; a field without omitempty or omitzero is required; a pointer may
// be null; a struct takes no other properties; time.Time is a date-time, []byte
// is base64, json.RawMessage and any are any value. Further tags say more:
//
//	type RefundInput struct {
//		Order  string   `json:"order" jsonschema:"pattern=^[A-Z]-[0-9]+$" jsonschema_description:"Number of the order, such as A-17"`
//		Cents  int64    `json:"cents" jsonschema:"minimum=1,maximum=50000"`
//		Reason string   `json:"reason,omitempty" jsonschema:"enum=damaged,enum=late,enum=other,default=other"`
//		Notify []string `json:"notify,omitempty" jsonschema:"format=email,maxItems=5"`
//	}
//
// The keywords of the jsonschema tag are title, description, enum, default,
// example, format, pattern, minLength, maxLength for strings; minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf for numbers; minItems, maxItems,
// uniqueItems for lists; and required alone. A comma within a value is written
// \\, ; a description with commas is easier in a jsonschema_description tag.
//
// An input that does not fit is refused with the JSON pointer of each fault, and
// the function is not called. Defaults are filled in before a person is asked to
// approve the call, so that what was shown is what runs. Numbers keep their
// digits; in a field of type any they are [json.Number].
//
// A tool is a read unless [Write] is given: reads may be called at once and
// repeated, writes need approval. The function should return when its context
// ends. An error means that the call failed; one that is a *[catalog.Error] is
// handed to the model as it is, and can say whether a write was applied.
//
// Tool does not panic: what is wrong with the definition is returned by [New],
// with the file and line of this call.
//
// [json.Number]: https://pkg.go.dev/encoding/json#Number
func Tool[In, Out any](id, description string, fn func(ctx context.Context, in In) (Out, error), options ...ToolOption) Function {
	place := local.DefinedAt(local.Caller(1))
	return Function{id: id, build: func(id string, shared []ToolOption) (catalog.Tool, error) {
		return local.Func(id, description, fn, slices.Concat([]ToolOption{place}, shared, options)...)
	}}
}

// Function is a tool made of a Go function, by [Tool]. As an [Option] it adds the
// tool by itself, in a [Toolset] together with others.
type Function struct {
	id    string
	build func(id string, shared []ToolOption) (catalog.Tool, error)
}

func (f Function) apply(p *parts) { f.add(p, f.id, nil) }

// add adds the tool under an id, with options that it shares with others.
func (f Function) add(p *parts, id string, shared []ToolOption) {
	if f.build == nil {
		p.problem(errors.New("a tool is empty: make it with heddle.Tool"))
		return
	}
	tool, err := f.build(id, shared)
	if err != nil {
		p.problem(err)
		return
	}
	p.tools = append(p.tools, tool)
}

// Write declares that a tool changes something outside: calls of it run one at a
// time, need approval by default, and are never repeated blindly.
func Write() ToolOption { return local.Write() }

// Destructive declares a write that removes or overwrites what cannot be brought
// back, which people who approve it are told.
func Destructive() ToolOption { return local.Destructive() }

// Idempotent declares that a call made twice with the same input does no more
// than one.
func Idempotent() ToolOption { return local.Idempotent() }

// Independent declares a write whose calls touch nothing that other writes do, so that
// their order is of no matter. It is a hint for whoever calls the tool: a thread makes
// one write at a time all the same. See [catalog.Descriptor].
func Independent() ToolOption { return local.Independent() }

// Secrets are references to the secrets that a tool's function may use, with
// [Secret]: github.token is the user's secret of that name, else the tenant's, else
// the application's; app:github.token is the application's alone. See
// [catalog.SecretRef].
func Secrets(names ...string) ToolOption { return local.Secrets(names...) }

// ResourceKey names what a call works on, as a template over the input: with
// order/{order} the writes of one order run one after another, across threads of
// a tenant too. [catalog.ExpandResourceKey] describes its form.
func ResourceKey(template string) ToolOption { return local.ResourceKey(template) }

// Resource names what a call works on where no [ResourceKey] can: a function of
// the input, which is of the tool's input type. It does nothing outside and always
// answers alike.
func Resource[In any](name func(in In) string) ToolOption { return local.Resource(name) }

// Preview says what a call of a write will do, for the person who is asked about it,
// where the input alone does not show it: a difference ([Diff]), a sum, a place. In is
// the tool's input type. It may look, such as at a file, and changes nothing. Secrets
// are taken out, and at most 2 KiB of it are shown.
//
//	heddle.Preview(func(in WriteInput) string {
//		before, _ := os.ReadFile(in.Path)
//		return heddle.Diff(in.Path, string(before), in.Content)
//	})
func Preview[In any](say func(in In) string) ToolOption { return local.Preview(say) }

// Diff tells the lines of two texts apart in the form of diff -u. Texts that are equal
// have none.
func Diff(name, before, after string) string { return catalog.Diff(name, before, after) }

// Undo says how a call of a write is undone that was applied: by a call of another
// tool, with an input made of the first one's input and result. In and Out are the
// types of the write itself.
//
//	heddle.Undo("orders.reopen", func(in CloseInput, out Closed) any {
//		return ReopenInput{Order: in.Order, State: out.Before}
//	})
//
// Nothing is undone by itself: a person asks for a turn to be undone, and each undo is
// a write of its own, with the approval that its tool needs. The input may be at most
// [catalog.MaxUndoInput] bytes long. The agent of the thread must have that tool.
func Undo[In, Out any](tool string, input func(in In, out Out) any) ToolOption {
	return local.Undo(tool, input)
}

// Example shows the model how a tool is called. The input, written as JSON, must
// fit the tool's input type.
func Example(description string, input any) ToolOption { return local.Example(description, input) }

// Title names a tool for people. Without it the title is made from the id.
func Title(title string) ToolOption { return local.Title(title) }

// Approval makes a person agree to each call of a tool, be it a read.
func Approval() ToolOption { return local.Approval(catalog.ApprovalAlways) }

// WithoutApproval lets a write run without a person's consent.
func WithoutApproval() ToolOption { return local.Approval(catalog.ApprovalNever) }

// Approvers makes n people agree to each call of a tool, be it a read: each of
// them another, and none the user who asked. At most [catalog.MaxApprovers].
func Approvers(n int) ToolOption { return local.Approvers(n) }

// Capabilities are what using a tool takes, such as payments.refund: modes allow
// and deny them, and rules of a policy match them. A tool that names none takes
// its namespace and operation, such as orders.write.
func Capabilities(names ...string) ToolOption { return local.Capabilities(names...) }

// Tags say what else a tool is, for search and for rules of a policy.
func Tags(names ...string) ToolOption { return local.Tags(names...) }

// Timeout bounds one call of a tool: [catalog.DefaultTimeout] without it,
// [catalog.MaxTimeout] at most.
func Timeout(d time.Duration) ToolOption { return local.Timeout(d) }

// HonoursKeys declares that the system that a write goes to honours idempotency
// keys, and that the function hands it [IdempotencyKey]: two requests with one key
// have one effect. A write whose outcome is unknown is then sent again.
func HonoursKeys() ToolOption { return local.HonoursKeys() }

// Reconcile gives a write a way of finding out what became of a call that may or may
// not have been applied: since its worker was lost, the connection broke, the target
// answered with a fault. The function asks the target for the key, which is what
// [IdempotencyKey] was in that call, or for what the input says, and changes nothing.
//
//	heddle.Reconcile(func(ctx context.Context, key string, in RefundInput) (heddle.Reconciled, error) {
//		refund, err := shop.RefundByKey(ctx, key)
//		switch {
//		case errors.Is(err, shop.ErrNotFound):
//			return heddle.NeverApplied(), nil // the call is made again, under the same key
//		case err != nil:
//			return heddle.Reconciled{}, err // the function is called again later
//		}
//		return heddle.Applied(refund), nil // the call ends with this result
//	})
//
// Without such a function, and where it answers [CannotTell] or has failed for ten
// minutes, a person is asked. In is the input type of the tool.
func Reconcile[In any](find func(ctx context.Context, key string, in In) (Reconciled, error)) ToolOption {
	return local.Reconcile(find)
}

// Reconciled is what a function of [Reconcile] has found.
type Reconciled = catalog.Reconciled

// Applied says that the target has applied a write, with a result such as the tool's
// own function would have returned: any value that encoding/json writes.
func Applied(result any) Reconciled { return catalog.Applied(result) }

// NeverApplied says that the target has not applied a write, and will not: the write
// is then made again. It counts only once the call's time is over, so a function need
// not wait for that.
func NeverApplied() Reconciled { return Reconciled{Found: catalog.FoundNotApplied} }

// CannotTell says that it cannot be found out what became of a write, and why. A
// person is then asked.
func CannotTell(reason string) Reconciled {
	return Reconciled{Found: catalog.FoundNothing, Reason: reason}
}

// NotApplied returns an error with which a write says that nothing was applied
// and that it may be made again, as when its target could not be reached. Heddle
// does so by itself, a few times.
func NotApplied(err error) error { return catalog.NotApplied(err) }

// Unknown returns an error with which a write says that it may or may not have
// been applied, as when the connection broke before the answer came.
func Unknown(err error) error { return catalog.Unknown(err) }

// IdempotencyKey returns the key of the write that a tool's function is carrying
// out, to be handed to the system that it writes to: it is the same for every
// attempt of the call and differs from that of every other call. It is empty in
// a read and outside of a tool.
func IdempotencyKey(ctx context.Context) string {
	call, _ := local.CallFrom(ctx)
	return call.IdempotencyKey
}

// Secret calls use with the value of a secret that the tool declares with [Secrets].
// The value is overwritten when use returns: keep no part of it. Its exact value, in
// whatever encoding, is taken out of the tool's result and error, and of all else that
// leaves the worker; see the package secrets.
//
// An error of use is returned as it is. Any other says that the secret is not
// declared, not there or cannot be read now; the function may return it.
func Secret(ctx context.Context, ref string, use func(value []byte) error) error {
	call, _ := local.CallFrom(ctx)
	return call.Secrets.Use(ctx, ref, use)
}

// ScopeFrom returns on whose behalf a tool's function is called: tenant, user,
// roles, thread and agent. It comes from the backend that opened the thread and
// never from the model. Outside of a tool it is empty.
func ScopeFrom(ctx context.Context) catalog.Scope {
	call, _ := local.CallFrom(ctx)
	return call.Scope
}
