package sandbox

import (
	"github.com/dop251/goja/ast"
)

// scope is the names that a part of a snippet declares.
type scope map[string]bool

// scopeOf gives the names that a node declares for what is in it. It reports
// false for nodes that are no scope of their own.
func scopeOf(node ast.Node) (scope, bool) {
	s := scope{}
	switch n := node.(type) {
	case *ast.FunctionLiteral:
		if n.Name != nil {
			s.declare(n.Name)
		}
		s.parameters(n.ParameterList)
		s.hoisted(n.DeclarationList)
	case *ast.ArrowFunctionLiteral:
		s.parameters(n.ParameterList)
		s.hoisted(n.DeclarationList)
	case *ast.ClassLiteral:
		if n.Name != nil {
			s.declare(n.Name)
		}
	case *ast.ClassStaticBlock:
		s.hoisted(n.DeclarationList)
	case *ast.BlockStatement:
		s.statements(n.List)
	case *ast.SwitchStatement:
		for _, part := range n.Body {
			s.statements(part.Consequent)
		}
	case *ast.CatchStatement:
		if n.Parameter != nil {
			s.declare(n.Parameter)
		}
	case *ast.ForStatement:
		if initial, ok := n.Initializer.(*ast.ForLoopInitializerLexicalDecl); ok {
			s.bindings(initial.LexicalDeclaration.List)
		}
	case *ast.ForOfStatement:
		s.into(n.Into)
	case *ast.ForInStatement:
		s.into(n.Into)
	default:
		return nil, false
	}
	return s, true
}

// statements declares what statements declare for those beside them.
func (s scope) statements(list []ast.Statement) {
	for _, statement := range list {
		switch n := statement.(type) {
		case *ast.LexicalDeclaration:
			s.bindings(n.List)
		case *ast.FunctionDeclaration:
			s.declare(n.Function.Name)
		case *ast.ClassDeclaration:
			s.declare(n.Class.Name)
		}
	}
}

func (s scope) into(into ast.ForInto) {
	if declaration, ok := into.(*ast.ForDeclaration); ok {
		s.declare(declaration.Target)
	}
}

func (s scope) parameters(list *ast.ParameterList) {
	if list != nil {
		s.bindings(list.List)
		s.declare(list.Rest)
	}
}

func (s scope) hoisted(declarations []*ast.VariableDeclaration) {
	for _, declaration := range declarations {
		s.bindings(declaration.List)
	}
}

func (s scope) bindings(list []*ast.Binding) {
	for _, binding := range list {
		s.declare(binding.Target)
	}
}

// declare adds the names of a target: a name, or a pattern of names.
func (s scope) declare(target ast.Node) {
	switch n := target.(type) {
	case *ast.Identifier:
		if n != nil {
			s[n.Name.String()] = true
		}
	case *ast.Binding:
		s.declare(n.Target)
	case *ast.AssignExpression: // with a default
		s.declare(n.Left)
	case *ast.ArrayPattern:
		for _, element := range n.Elements {
			s.declare(element)
		}
		s.declare(n.Rest)
	case *ast.ObjectPattern:
		for _, property := range n.Properties {
			s.declare(property)
		}
		s.declare(n.Rest)
	case *ast.PropertyShort:
		s.declare(&n.Name)
	case *ast.PropertyKeyed:
		s.declare(n.Value)
	}
}
