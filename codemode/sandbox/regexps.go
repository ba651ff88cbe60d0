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
	if strings.Contains(code, `\p`) || strings.Contains(code, `\P`) {
		w := rewriter{seen: map[any]bool{}}
		w.walk(reflect.ValueOf(tree.Body))
	}
}

// rewriter walks a syntax tree, of which goja knows no visitor.
type rewriter struct{ seen map[any]bool }

func (w *rewriter) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if literal, ok := v.Interface().(*ast.RegExpLiteral); ok && v.CanSet() {
			if strings.Contains(literal.Flags, "u") {
				v.Set(reflect.ValueOf(construct(literal)))
			}
			return
		}
		w.walk(v.Elem())
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().Kind() == reflect.Struct && !w.seen[v.Interface()] {
			w.seen[v.Interface()] = true
			w.walk(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				w.walk(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	default: // a leaf
	}
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
