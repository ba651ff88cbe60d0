package policy

import (
	"context"
	"fmt"
	"strings"
	"sync"
	_ "time/tzdata" // time zones in conditions, wherever the worker runs

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/expression"
)

// maxCost bounds the evaluation of one condition, in CEL's units: about one for
// each operation and each element that is looked at.
const maxCost = 100_000

// environment is what conditions are about.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return expression.Environment(
		cel.DefaultUTCTimeZone(true),
		cel.Variable("input", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("tenant", cel.StringType),
		cel.Variable("user", cel.StringType),
		cel.Variable("roles", cel.ListType(cel.StringType)),
		cel.Variable("agent", cel.StringType),
		cel.Variable("thread", cel.StringType),
		cel.Variable("mode", cel.StringType),
		cel.Variable("now", cel.TimestampType),
	)
})

// whenFault is a fault of a condition. Line and column count from 1; 0 is the
// whole.
type whenFault struct {
	line, column int
	message      string
}

// compile makes a condition of an expression.
func compile(text string) (cel.Program, []whenFault) {
	whole := func(format string, args ...any) []whenFault {
		return []whenFault{{message: fmt.Sprintf(format, args...)}}
	}
	if len(text) > MaxWhen {
		return nil, whole("the condition is %d bytes long, at most %d are allowed", len(text), MaxWhen)
	}
	env, err := environment()
	if err != nil {
		return nil, whole("cannot set up CEL: %s", err)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		var faults []whenFault
		for _, issue := range issues.Errors() {
			message := strings.TrimSuffix(issue.Message, " (in container '')")
			faults = append(faults, whenFault{issue.Location.Line(), issue.Location.Column() + 1, message})
		}
		return nil, faults
	}
	if kind := ast.OutputType(); !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return nil, whole("the condition is of type %s, want one that is true or false", kind)
	}
	if fault := constant(env, ast); fault != "" {
		return nil, whole("%s", fault)
	}
	program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost), cel.InterruptCheckFrequency(1000))
	if err != nil {
		return nil, whole("%s", err)
	}
	return program, nil
}

// constant says that a condition has no use whatever the call is: it is evaluated
// with nothing known.
func constant(env *cel.Env, ast *cel.Ast) string {
	program, err := env.Program(ast, cel.EvalOptions(cel.OptPartialEval), cel.CostLimit(maxCost))
	if err != nil {
		return err.Error()
	}
	switch value, _, err := program.Eval(env.UnknownVars()); {
	case err != nil:
		return "the condition fails for every call: " + err.Error()
	case value == types.False:
		return "can never match: the condition is false for every call"
	}
	return ""
}

// activation is what a condition sees of a call. The input is decoded on first
// use.
type activation struct {
	q     catalog.Question
	input func() (map[string]any, error)
}

func newActivation(q catalog.Question) *activation {
	return &activation{q: q, input: sync.OnceValues(func() (map[string]any, error) { return expression.DecodeInput(q.Input) })}
}

// holds evaluates a condition.
func (a *activation) holds(program cel.Program) (bool, error) {
	input, err := a.input()
	if err != nil {
		return false, err
	}
	scope := a.q.Scope
	roles := scope.Roles
	if roles == nil {
		roles = []string{}
	}
	value, _, err := program.ContextEval(context.Background(), map[string]any{
		"input": input, "tenant": scope.Tenant, "user": scope.User, "roles": roles,
		"agent": scope.Agent, "thread": scope.Thread, "mode": scope.Mode, "now": a.q.Now,
	})
	if err != nil {
		return false, err
	}
	holds, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Errorf("it is of type %s, not true or false", value.Type().TypeName())
	}
	return holds, nil
}
