package expression

import (
	"encoding/json"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// Shape is what is known of the value of an expression before it is evaluated: of
// what is written out, all; of the rest, the type at most.
type Shape struct {
	// Type is its type as JSON names it. Empty: it may be any.
	Type string
	// Optional says that it may not be there at all.
	Optional bool
	// Constant is a string, number or truth value, or null, that is written out.
	Constant json.RawMessage
	// Members are those of an object that is written out, nil where it is not, and
	// Items are those of a list.
	Members []Member
	Items   []Shape
}

// Member is a member of an object.
type Member struct {
	Name  string
	Shape Shape
}

func shapeOf(a *ast.AST) Shape { return shape(a, a.Expr()) }

func shape(a *ast.AST, e ast.Expr) Shape {
	kind := a.GetType(e.ID())
	s := Shape{Type: jsonType(kind), Optional: isOptional(kind)}
	switch e.Kind() {
	case ast.LiteralKind:
		s.Constant, _ = encode(e.AsLiteral()) // bytes have none
	case ast.ListKind:
		if list := e.AsList(); len(list.OptionalIndices()) == 0 {
			s.Items = []Shape{}
			for _, element := range list.Elements() {
				s.Items = append(s.Items, shape(a, element))
			}
		}
	case ast.MapKind:
		s.Members = members(a, e.AsMap())
	}
	return s
}

// members are those of a map that is written out, nil where a name is not.
func members(a *ast.AST, m ast.MapExpr) []Member {
	all := []Member{}
	for _, e := range m.Entries() {
		entry := e.AsMapEntry()
		if entry.Key().Kind() != ast.LiteralKind {
			return nil
		}
		name, ok := entry.Key().AsLiteral().Value().(string)
		if !ok {
			return nil
		}
		value := shape(a, entry.Value())
		value.Optional = entry.IsOptional()
		all = append(all, Member{name, value})
	}
	return all
}

// jsonType is a type as JSON names it, empty where it may be any.
func jsonType(kind *types.Type) string {
	switch kind.Kind() {
	case types.NullTypeKind:
		return "null"
	case types.BoolKind:
		return "boolean"
	case types.IntKind, types.UintKind, types.DoubleKind:
		return "number"
	case types.StringKind:
		return "string"
	case types.ListKind:
		return "array"
	case types.MapKind:
		return "object"
	}
	return ""
}

// hasJSON reports whether JSON has values of a type.
func hasJSON(kind *cel.Type) bool {
	return jsonType(kind) != "" || isOptional(kind) || kind.IsExactType(cel.DynType) || kind.Kind() == types.TypeParamKind
}

func isOptional(kind *types.Type) bool {
	return kind.Kind() == types.OpaqueKind && kind.TypeName() == "optional_type"
}
