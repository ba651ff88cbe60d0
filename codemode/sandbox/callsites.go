package sandbox

import (
	"reflect"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/heddle-dev/heddle/codemode/check"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// callSites finds the calls in a snippet's syntax tree that begin with a name
// which is none of the snippet's own, as codemode/check wants them. With takesInput
// the global input is the snippet's own.
func callSites(body *ast.FunctionDeclaration, source *file.File, takesInput bool) []check.Call {
	f := &siteFinder{source: source, dropped: map[ast.Expression]bool{}}
	if takesInput {
		f.scopes = append(f.scopes, scope{inputName: true})
	}
	inside(body, f.visit)
	return f.calls
}

type siteFinder struct {
	source  *file.File
	calls   []check.Call
	nodes   int
	scopes  []scope
	dropped map[ast.Expression]bool // calls whose promise nothing can notice
}

func (f *siteFinder) visit(v reflect.Value) bool {
	node, ok := v.Interface().(ast.Node)
	if !ok {
		return true
	}
	switch n := node.(type) {
	case *ast.ExpressionStatement:
		f.drop(n.Expression)
	case *ast.SequenceExpression:
		for _, expression := range n.Sequence[:max(len(n.Sequence)-1, 0)] {
			f.drop(expression)
		}
	case *ast.CallExpression:
		f.call(n)
	}
	names, isScope := scopeOf(node)
	if !isScope {
		return true
	}
	f.scopes = append(f.scopes, names)
	inside(node, f.visit)
	f.scopes = f.scopes[:len(f.scopes)-1]
	return false
}

// drop marks the call that makes the promise which an expression gives, where
// nothing takes what the expression gives.
func (f *siteFinder) drop(expression ast.Expression) {
	switch n := bare(expression).(type) {
	case *ast.SequenceExpression:
		f.drop(n.Sequence[len(n.Sequence)-1])
	case *ast.CallExpression:
		f.dropped[n] = true
		if left, name := member(n.Callee); slices.Contains([]string{"then", "catch", "finally"}, name) {
			f.drop(left)
		}
	}
}

func (f *siteFinder) call(n *ast.CallExpression) {
	if _, name := member(n.Callee); name == "forEach" && len(n.ArgumentList) > 0 {
		if arrow, ok := n.ArgumentList[0].(*ast.ArrowFunctionLiteral); ok {
			if body, ok := arrow.Body.(*ast.ExpressionBody); ok {
				f.drop(body.Expression)
			}
		}
	}
	path := f.path(n.Callee)
	if len(path) < 2 || len(f.calls) >= check.MaxCalls {
		return
	}
	call := check.Call{Path: path, Dropped: f.dropped[n], Position: f.at(n)}
	for _, argument := range n.ArgumentList {
		call.Args = append(call.Args, f.node(argument, 0))
	}
	f.calls = append(f.calls, call)
}

// path is the names of a callee, if it is a chain of names that begins with a
// global which is the API's or nobody's.
func (f *siteFinder) path(callee ast.Expression) []string {
	var names []string
	at := bare(callee)
	for {
		left, name := member(at)
		if left == nil {
			break
		}
		names = append(names, name)
		at = bare(left)
	}
	root, ok := at.(*ast.Identifier)
	if !ok {
		return nil
	}
	first := root.Name.String()
	if snippet.Reserved(first) && first != "tools" || f.declared(first) {
		return nil
	}
	names = append(names, first)
	slices.Reverse(names)
	return names
}

func (f *siteFinder) declared(name string) bool {
	return slices.ContainsFunc(f.scopes, func(s scope) bool { return s[name] })
}

// member takes a property access apart: a.b, a?.b, a["b"]. The left is nil for any
// other expression.
func member(expression ast.Expression) (left ast.Expression, name string) {
	switch n := bare(expression).(type) {
	case *ast.DotExpression:
		return n.Left, n.Identifier.Name.String()
	case *ast.BracketExpression:
		if text, ok := text(n.Member); ok {
			return n.Left, text
		}
	}
	return nil, ""
}

// bare takes off what optional chaining puts around an expression.
func bare(expression ast.Expression) ast.Expression {
	for {
		switch n := expression.(type) {
		case *ast.OptionalChain:
			expression = n.Expression
		case *ast.Optional:
			expression = n.Expression
		default:
			return expression
		}
	}
}

// at is the position of a node in the model's source.
func (f *siteFinder) at(node ast.Node) snippet.Position {
	at := f.source.Position(int(node.Idx0()) - f.source.Base())
	return snippet.Position{Line: at.Line, Column: at.Column}
}
