package sandbox

import "github.com/dop251/goja/ast"

// returnTail makes the snippet's last expression its result, as if it had been
// returned. It works on the tree, so that no position moves. It reports whether
// the result is a function that stands for the snippet and is to be called.
func returnTail(body *ast.BlockStatement) (callsResult bool) {
	if exportsDefault(body.List) {
		if _, returns := last(body.List).(*ast.ReturnStatement); !returns {
			at := body.RightBrace
			body.List = append(body.List, &ast.ReturnStatement{Return: at, Argument: &ast.Identifier{Name: defaultName, Idx: at}})
		}
		return true
	}
	t := tail{}
	body.List = t.returning(body.List)
	return t.function
}

// snippetBody finds the function around the snippet: the last statement but the
// return of the function around all. Anything else there got out of the body by
// a brace too many.
func snippetBody(tree *ast.Program) *ast.FunctionDeclaration {
	statement, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok || len(tree.Body) != 1 {
		return nil
	}
	call, ok := statement.Expression.(*ast.CallExpression)
	if !ok {
		return nil
	}
	outer, ok := call.Callee.(*ast.FunctionLiteral)
	if !ok || len(outer.Body.List) < 2 {
		return nil
	}
	body, ok := outer.Body.List[len(outer.Body.List)-2].(*ast.FunctionDeclaration)
	if !ok || body.Function.Name == nil || body.Function.Name.Name != bodyName {
		return nil
	}
	return body
}

// exportsDefault reports whether a statement assigns what the snippet exports.
func exportsDefault(statements []ast.Statement) bool {
	for _, statement := range statements {
		expression, ok := statement.(*ast.ExpressionStatement)
		if !ok {
			continue
		}
		assign, ok := expression.Expression.(*ast.AssignExpression)
		if !ok {
			continue
		}
		if name, ok := assign.Left.(*ast.Identifier); ok && name.Name == defaultName {
			return true
		}
	}
	return false
}

type tail struct {
	// function says that the last expression is a function written out.
	function bool
}

// returning gives statements of which the last returns its value, where it has
// one.
func (t *tail) returning(statements []ast.Statement) []ast.Statement {
	for len(statements) > 0 {
		if _, empty := last(statements).(*ast.EmptyStatement); !empty {
			break
		}
		statements = statements[:len(statements)-1]
	}
	if len(statements) == 0 {
		return statements
	}
	end := len(statements) - 1
	switch final := statements[end].(type) {
	case *ast.LexicalDeclaration:
		return t.returningBinding(statements, final.List)
	case *ast.VariableStatement:
		return t.returningBinding(statements, final.List)
	case *ast.FunctionDeclaration:
		return t.returningFunction(statements)
	default:
		statements[end] = t.one(final)
		return statements
	}
}

// one gives a statement that returns its value, where it has one.
func (t *tail) one(statement ast.Statement) ast.Statement {
	switch s := statement.(type) {
	case *ast.ExpressionStatement:
		switch s.Expression.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
			t.function = true
		}
		return &ast.ReturnStatement{Return: s.Idx0(), Argument: s.Expression}
	case *ast.BlockStatement:
		s.List = t.returning(s.List)
	case *ast.IfStatement:
		s.Consequent = t.one(s.Consequent)
		if s.Alternate != nil {
			s.Alternate = t.one(s.Alternate)
		}
	case *ast.TryStatement:
		s.Body.List = t.returning(s.Body.List)
		if s.Catch != nil {
			s.Catch.Body.List = t.returning(s.Catch.Body.List)
		}
	}
	return statement
}

// returningBinding returns what the last statement declares, if that is one name.
func (t *tail) returningBinding(statements []ast.Statement, bindings []*ast.Binding) []ast.Statement {
	if len(bindings) != 1 {
		return statements
	}
	name, ok := bindings[0].Target.(*ast.Identifier)
	if !ok {
		return statements
	}
	return append(statements, &ast.ReturnStatement{Return: name.Idx, Argument: &ast.Identifier{Name: name.Name, Idx: name.Idx}})
}

// returningFunction returns the function that stands for the snippet when the
// snippet only declares functions: main or run if there is one, else the last.
func (t *tail) returningFunction(statements []ast.Statement) []ast.Statement {
	var entry *ast.Identifier
	for _, statement := range statements {
		declaration, ok := statement.(*ast.FunctionDeclaration)
		if !ok {
			return statements
		}
		name := declaration.Function.Name
		if entry == nil || entry.Name != "main" && entry.Name != "run" {
			entry = name
		}
	}
	t.function = true
	return append(statements, &ast.ReturnStatement{Return: entry.Idx, Argument: &ast.Identifier{Name: entry.Name, Idx: entry.Idx}})
}

func last(statements []ast.Statement) ast.Statement {
	if len(statements) == 0 {
		return nil
	}
	return statements[len(statements)-1]
}
