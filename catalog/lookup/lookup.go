package lookup

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/expression"
)

// Declaration says how to find out what became of the calls of a write. The
// expressions see key, the idempotency key of the call, and input, what it was called
// with; those that judge see output, what the read returned, and error, why it
// failed: its code, such as http_404, and message. Of the two the one that there is not
// is null.
type Declaration struct {
	// Write is the id of the tool that writes, Read that of one that reads.
	Write, Read string
	// Input is what the read is called with: an expression for each member.
	Input map[string]string
	// Applied says, of what the read returned, whether the write was applied.
	Applied string
	// NotApplied says that it was not, and is asked of an error too. Empty: it was not
	// where the read has returned and Applied is false. Where neither holds nothing
	// was found out; an error of which neither holds is tried again.
	NotApplied string
	// Result is what the write would have returned. Empty: all that the read did.
	Result string
}

// Lookup is a compiled [Declaration].
type Lookup struct {
	read                        string
	input                       expression.Mapping
	applied, notApplied, result *expression.Expression
}

var _ catalog.Lookup = (*Lookup)(nil)

// asked is what the expressions of an input see, judged what the others see.
var (
	asked = sync.OnceValues(func() (*cel.Env, error) { return environment() })

	judged = sync.OnceValues(func() (*cel.Env, error) {
		return environment(cel.Variable("output", cel.DynType), cel.Variable("error", cel.DynType))
	})
)

func environment(more ...cel.EnvOption) (*cel.Env, error) {
	return expression.Environment(append([]cel.EnvOption{
		cel.Variable("key", cel.StringType),
		cel.Variable("input", cel.MapType(cel.StringType, cel.DynType)),
	}, more...)...)
}

// Compile checks a declaration. The error names the field that is wrong.
func Compile(d Declaration) (*Lookup, error) {
	for _, tool := range []struct{ field, id string }{{"write", d.Write}, {"read", d.Read}} {
		if err := catalog.CheckID(tool.id); err != nil {
			return nil, fmt.Errorf("%s: %w", tool.field, err)
		}
	}
	if d.Applied == "" {
		return nil, errors.New("applied: is empty; say which answer means that the write was applied")
	}
	l := &Lookup{read: d.Read}
	env, err := asked()
	if err != nil {
		return nil, err
	}
	if l.input, err = expression.CompileMapping(env, d.Input); err != nil {
		return nil, err
	}
	if env, err = judged(); err != nil {
		return nil, err
	}
	for _, e := range []struct {
		field, text string
		into        **expression.Expression
		compile     func(*cel.Env, string) (*expression.Expression, error)
	}{
		{"applied", d.Applied, &l.applied, expression.CompileTruth},
		{"not_applied", d.NotApplied, &l.notApplied, expression.CompileTruth},
		{"result", d.Result, &l.result, expression.Compile},
	} {
		if e.text == "" {
			continue
		}
		if *e.into, err = e.compile(env, e.text); err != nil {
			return nil, fmt.Errorf("%s: %w", e.field, err)
		}
	}
	return l, nil
}

// Tool is the id of the tool that reads.
func (l *Lookup) Tool() string { return l.read }

// Input is what the read is called with.
func (l *Lookup) Input(key string, input json.RawMessage) (json.RawMessage, error) {
	sees, err := seen(key, input)
	if err != nil {
		return nil, err
	}
	return l.input.Input(sees)
}

// Shape is what is known of what the read is called with.
func (l *Lookup) Shape() expression.Shape { return l.input.Shape() }

// Judge says what the answer of the read tells of the write. An error says that it
// tells nothing yet.
func (l *Lookup) Judge(key string, input json.RawMessage, outcome catalog.Outcome) (catalog.Reconciled, error) {
	sees, err := seen(key, input)
	if err != nil {
		return catalog.Reconciled{}, err
	}
	sees["output"], sees["error"] = types.NullValue, types.NullValue
	if failed := outcome.Error; failed != nil {
		sees["error"] = failure(failed)
		if l.notApplied != nil && l.notApplied.Holds(sees) == nil {
			return catalog.Reconciled{Found: catalog.FoundNotApplied}, nil
		}
		return catalog.Reconciled{}, failed
	}
	if sees["output"], err = expression.Decode(outcome.Result); err != nil {
		return catalog.Reconciled{}, err
	}
	applied := l.applied.Holds(sees)
	switch {
	case applied == nil:
		return l.applies(sees, outcome)
	case !errors.Is(applied, expression.ErrFalse):
		return catalog.Reconciled{Found: catalog.FoundNothing, Reason: "applied: " + applied.Error()}, nil
	case l.notApplied == nil || l.notApplied.Holds(sees) == nil:
		return catalog.Reconciled{Found: catalog.FoundNotApplied}, nil
	}
	return catalog.Reconciled{Found: catalog.FoundNothing, Reason: "the answer of " + l.read + " says neither that it was applied nor that it was not"}, nil
}

// applies is what was found of a write that was applied.
func (l *Lookup) applies(sees map[string]any, outcome catalog.Outcome) (catalog.Reconciled, error) {
	if l.result == nil {
		return catalog.Reconciled{Found: catalog.FoundApplied, Result: outcome.Result}, nil
	}
	text, err := l.result.Value(sees)
	if err != nil {
		return catalog.Reconciled{Found: catalog.FoundNothing, Reason: "it was applied, and result: " + err.Error()}, nil
	}
	return catalog.Reconciled{Found: catalog.FoundApplied, Result: text}, nil
}

// seen is what every expression sees of a call.
func seen(key string, input json.RawMessage) (map[string]any, error) {
	value, err := expression.DecodeInput(input)
	if err != nil {
		return nil, err
	}
	return map[string]any{"key": key, "input": value}, nil
}

// failure is an error as expressions see it.
func failure(e *catalog.Error) map[string]any {
	return map[string]any{"code": e.Code, "message": e.Message}
}
