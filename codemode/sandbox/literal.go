package sandbox

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/ftoa"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"github.com/heddle-dev/heddle/codemode/check"
	"github.com/heddle-dev/heddle/codemode/internal/outline"
)

// node tells what is known of an argument from the source alone.
func (f *siteFinder) node(expression ast.Expression, depth int) check.Node {
	if expression == nil { // a hole of an array
		return check.Node{Kind: check.Undefined}
	}
	node := check.Node{Position: f.at(expression)}
	if f.nodes++; f.nodes > check.MaxNodes || depth > check.MaxDepth {
		return node
	}
	if value, ok := literal(expression); ok {
		node.Kind, node.Value = check.Literal, value
		return node
	}
	switch n := bare(expression).(type) {
	case *ast.Identifier:
		if n.Name == "undefined" && !f.declared("undefined") {
			node.Kind = check.Undefined
		}
	case *ast.ObjectLiteral:
		node.Kind, node.Members = check.Object, f.members(n, depth)
	case *ast.ArrayLiteral:
		node.Kind = check.Array
		for _, item := range n.Value {
			node.Items = append(node.Items, f.node(item, depth+1))
		}
	case *ast.SpreadElement:
		node.Kind = check.Spread
	case *ast.UnaryExpression:
		f.unary(n, &node)
	default:
		node.Type = certainType(n)
	}
	return node
}

func (f *siteFinder) unary(n *ast.UnaryExpression, node *check.Node) {
	switch n.Operator {
	case token.VOID:
		if _, ok := literal(n.Operand); ok {
			node.Kind = check.Undefined
		}
	case token.NOT:
		node.Type = "boolean"
	case token.TYPEOF:
		node.Type = "string"
	}
}

// certainType is the JSON type that an expression has whatever its parts are.
func certainType(expression ast.Expression) string {
	switch n := expression.(type) {
	case *ast.TemplateLiteral:
		if n.Tag == nil {
			return "string"
		}
	case *ast.BinaryExpression:
		if n.Comparison || n.Operator == token.IN || n.Operator == token.INSTANCEOF {
			return "boolean"
		}
	}
	return ""
}

func (f *siteFinder) members(object *ast.ObjectLiteral, depth int) []check.Member {
	var members []check.Member
	for _, property := range object.Value {
		switch n := property.(type) {
		case *ast.PropertyShort:
			members = append(members, check.Member{Name: n.Name.Name.String(), Value: check.Node{Position: f.at(&n.Name)}})
			continue
		case *ast.PropertyKeyed:
			name, ok := text(n.Key)
			if ok && n.Kind == ast.PropertyKindValue && name != "__proto__" {
				value := f.node(n.Value, depth+1)
				value.Position = f.at(n.Key)
				members = append(members, check.Member{Name: name, Value: value})
				continue
			}
		}
		members = append(members, check.Member{Value: check.Node{Kind: check.Spread, Position: f.at(property)}})
	}
	return members
}

// literal is the JSON of a value that is written out.
func literal(expression ast.Expression) (json.RawMessage, bool) {
	switch n := expression.(type) {
	case *ast.NullLiteral:
		return json.RawMessage("null"), true
	case *ast.BooleanLiteral:
		return strconv.AppendBool(nil, n.Value), true
	case *ast.NumberLiteral, *ast.UnaryExpression:
		if value, ok := number(expression); ok && !math.IsInf(value, 0) {
			return numberText(value), true
		}
	default:
		if value, ok := wellFormed(expression); ok {
			return outline.AppendString(nil, value), true
		}
	}
	return nil, false
}

// number is the value of a number that is written out, with a sign or without.
func number(expression ast.Expression) (float64, bool) {
	switch n := expression.(type) {
	case *ast.NumberLiteral:
		switch value := n.Value.(type) {
		case int64:
			return float64(value), true
		case float64:
			return value, true
		}
	case *ast.UnaryExpression:
		value, ok := number(n.Operand)
		if _, signed := n.Operand.(*ast.UnaryExpression); !ok || signed {
			return 0, false
		}
		switch n.Operator {
		case token.MINUS:
			return -value, true
		case token.PLUS:
			return value, true
		}
	}
	return 0, false
}

// numberText writes a number as JSON.stringify does.
func numberText(value float64) json.RawMessage {
	if value == 0 {
		return json.RawMessage("0")
	}
	return ftoa.FToStr(value, ftoa.ModeStandard, 0, nil)
}

// text is a string that is written out, or a number as the name that it is.
func text(expression ast.Expression) (string, bool) {
	if value, ok := number(expression); ok {
		return string(numberText(value)), true
	}
	return wellFormed(expression)
}

// wellFormed is a string that is written out and has no half of a surrogate pair.
func wellFormed(expression ast.Expression) (string, bool) {
	var value unistring.String
	switch n := expression.(type) {
	case *ast.StringLiteral:
		value = n.Value
	case *ast.TemplateLiteral:
		if n.Tag != nil || len(n.Expressions) > 0 || len(n.Elements) != 1 || !n.Elements[0].Valid {
			return "", false
		}
		value = n.Elements[0].Parsed
	default:
		return "", false
	}
	units := value.AsUtf16()
	if units == nil {
		return string(value), true
	}
	for _, r := range utf16.Decode(units[1:]) { // after the byte order mark
		if r == utf8.RuneError {
			return "", false
		}
	}
	return value.String(), true
}
