package lookup

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/heddle-dev/heddle/catalog"
)

const (
	// maxCost bounds the evaluation of one expression, in CEL's units.
	maxCost = 1_000_000
	// maxExpression bounds an expression, in bytes.
	maxExpression = 4 << 10
	// maxInput bounds the members of an input.
	maxInput = 64
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
	members                     []member
	applied, notApplied, result cel.Program
}

type member struct {
	name  string
	value cel.Program
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
	return cel.NewEnv(append([]cel.EnvOption{
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
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
	if len(d.Input) > maxInput {
		return nil, fmt.Errorf("input: has %d members, at most %d are allowed", len(d.Input), maxInput)
	}
	l := &Lookup{read: d.Read}
	names := make([]string, 0, len(d.Input))
	for name := range d.Input {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		program, err := compile(asked, d.Input[name], false)
		if err != nil {
			return nil, fmt.Errorf("input.%s: %w", name, err)
		}
		l.members = append(l.members, member{name, program})
	}
	for _, e := range []struct {
		field, text string
		into        *cel.Program
		truth       bool
	}{{"applied", d.Applied, &l.applied, true}, {"not_applied", d.NotApplied, &l.notApplied, true}, {"result", d.Result, &l.result, false}} {
		if e.text == "" {
			continue
		}
		program, err := compile(judged, e.text, e.truth)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.field, err)
		}
		*e.into = program
	}
	return l, nil
}

// compile makes a program of an expression, which is to be true or false where truth
// says so.
func compile(in func() (*cel.Env, error), text string, truth bool) (cel.Program, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("is %d bytes long, at most %d are allowed", len(text), maxExpression)
	}
	env, err := in()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, fmt.Errorf("%d:%d: %s", first.Location.Line(), first.Location.Column()+1, first.Message)
	}
	if kind := ast.OutputType(); truth && !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("is of type %s, want true or false", kind)
	}
	return env.Program(ast, cel.CostLimit(maxCost))
}

// Tool is the id of the tool that reads.
func (l *Lookup) Tool() string { return l.read }

// Input is what the read is called with.
func (l *Lookup) Input(key string, input json.RawMessage) (json.RawMessage, error) {
	sees, err := seen(key, input)
	if err != nil {
		return nil, err
	}
	members := map[string]json.RawMessage{}
	for _, m := range l.members {
		value, _, err := m.value.Eval(sees)
		if err != nil {
			return nil, fmt.Errorf("input.%s: %w", m.name, err)
		}
		if members[m.name], err = encode(value); err != nil {
			return nil, fmt.Errorf("input.%s: %w", m.name, err)
		}
	}
	return json.Marshal(members)
}

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
		if l.notApplied != nil && holds(l.notApplied, sees) == nil {
			return catalog.Reconciled{Found: catalog.FoundNotApplied}, nil
		}
		return catalog.Reconciled{}, failed
	}
	if sees["output"], err = decode(outcome.Result); err != nil {
		return catalog.Reconciled{}, err
	}
	applied := holds(l.applied, sees)
	switch {
	case applied == nil:
		return l.applies(sees, outcome)
	case !errors.Is(applied, errFalse):
		return catalog.Reconciled{Found: catalog.FoundNothing, Reason: "applied: " + applied.Error()}, nil
	case l.notApplied == nil || holds(l.notApplied, sees) == nil:
		return catalog.Reconciled{Found: catalog.FoundNotApplied}, nil
	}
	return catalog.Reconciled{Found: catalog.FoundNothing, Reason: "the answer of " + l.read + " says neither that it was applied nor that it was not"}, nil
}

// applies is what was found of a write that was applied.
func (l *Lookup) applies(sees map[string]any, outcome catalog.Outcome) (catalog.Reconciled, error) {
	if l.result == nil {
		return catalog.Reconciled{Found: catalog.FoundApplied, Result: outcome.Result}, nil
	}
	value, _, err := l.result.Eval(sees)
	var text json.RawMessage
	if err == nil {
		text, err = encode(value)
	}
	if err != nil {
		return catalog.Reconciled{Found: catalog.FoundNothing, Reason: "it was applied, and result: " + err.Error()}, nil
	}
	return catalog.Reconciled{Found: catalog.FoundApplied, Result: text}, nil
}

var errFalse = errors.New("is false")

// holds is nil where an expression is true, errFalse where it is false, and else why
// it has no value.
func holds(program cel.Program, sees map[string]any) error {
	value, _, err := program.Eval(sees)
	if err != nil {
		return err
	}
	switch truth, ok := value.Value().(bool); {
	case !ok:
		return fmt.Errorf("is of type %s, want true or false", value.Type().TypeName())
	case !truth:
		return errFalse
	}
	return nil
}
