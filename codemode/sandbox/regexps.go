package sandbox

import (
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

// constructRegExps turns the regular expressions with Unicode properties that are
// written out in a snippet into calls of RegExp, which is where properties are
// spelled out. esbuild does so too, but overlooks those in a character class.
func constructRegExps(tree *ast.Program, code string) {
	if !strings.Contains(code, `\p`) && !strings.Contains(code, `\P`) {
		return
	}
	walk(reflect.ValueOf(tree.Body), func(v reflect.Value) bool {
		literal, ok := v.Interface().(*ast.RegExpLiteral)
		if ok && v.CanSet() && strings.Contains(literal.Flags, "u") {
			v.Set(reflect.ValueOf(construct(literal)))
			return false
		}
		return true
	})
}

func construct(literal *ast.RegExpLiteral) *ast.NewExpression {
	text := func(s string) ast.Expression {
		return &ast.StringLiteral{Idx: literal.Idx, Literal: s, Value: unistring.NewFromString(s)}
	}
	return &ast.NewExpression{
		New: literal.Idx, Callee: &ast.Identifier{Name: "RegExp", Idx: literal.Idx},
		ArgumentList:     []ast.Expression{text(literal.Pattern), text(literal.Flags)},
		RightParenthesis: literal.Idx,
	}
}
