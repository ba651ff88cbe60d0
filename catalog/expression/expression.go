package expression

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
)

const (
	// maxCost bounds the evaluation of one expression, in CEL's units: about one for
	// each operation and each element that is looked at.
	maxCost = 1_000_000
	// maxLength bounds an expression, in bytes.
	maxLength = 4 << 10
)

// Environment is what expressions see: the variables given, and the dialect that all
// share.
func Environment(variables ...cel.EnvOption) (*cel.Env, error) {
	return cel.NewEnv(append([]cel.EnvOption{cel.CrossTypeNumericComparisons(true), cel.OptionalTypes()}, variables...)...)
}

// Expression is a compiled expression.
type Expression struct {
	program cel.Program
	shape   Shape
}

// Compile makes an expression whose value JSON has. The error says what is wrong and,
// where it can, at which line and column.
func Compile(env *cel.Env, text string) (*Expression, error) {
	ast, err := parse(env, text)
	if err != nil {
		return nil, err
	}
	if kind := ast.OutputType(); !hasJSON(kind) {
		return nil, fmt.Errorf("is of type %s, which JSON has not", kind)
	}
	return program(env, ast)
}

// CompileTruth makes an expression that is true or false.
func CompileTruth(env *cel.Env, text string) (*Expression, error) {
	ast, err := parse(env, text)
	if err != nil {
		return nil, err
	}
	if kind := ast.OutputType(); !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("is of type %s, want true or false", kind)
	}
	return program(env, ast)
}

func parse(env *cel.Env, text string) (*cel.Ast, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("is %d bytes long, at most %d are allowed", len(text), maxLength)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, fmt.Errorf("%d:%d: %s", first.Location.Line(), first.Location.Column()+1, first.Message)
	}
	return ast, nil
}

func program(env *cel.Env, ast *cel.Ast) (*Expression, error) {
	made, err := env.Program(ast, cel.CostLimit(maxCost))
	if err != nil {
		return nil, err
	}
	return &Expression{program: made, shape: shapeOf(ast.NativeRep())}, nil
}

// Value is the value of an expression.
func (e *Expression) Value(sees map[string]any) (json.RawMessage, error) {
	value, err := e.eval(sees)
	if err != nil {
		return nil, err
	}
	return encode(value)
}

func (e *Expression) eval(sees map[string]any) (ref.Val, error) {
	value, _, err := e.program.Eval(sees)
	return value, err
}

// ErrFalse says that an expression is false.
var ErrFalse = errors.New("is false")

// Holds is nil where an expression is true, [ErrFalse] where it is false, and else why
// it has no value.
func (e *Expression) Holds(sees map[string]any) error {
	value, err := e.eval(sees)
	if err != nil {
		return err
	}
	switch truth, ok := value.Value().(bool); {
	case !ok:
		return fmt.Errorf("is of type %s, want true or false", value.Type().TypeName())
	case !truth:
		return ErrFalse
	}
	return nil
}
