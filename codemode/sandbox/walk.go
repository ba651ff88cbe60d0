package sandbox

import (
	"reflect"

	"github.com/dop251/goja/ast"
)

// walk visits the nodes of a syntax tree, of which goja has no visitor, outer ones
// before inner ones. Each comes as the place that holds it, which can be set if it
// is of an interface type. Where visit reports false, it does not go further in.
func walk(v reflect.Value, visit func(reflect.Value) bool) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() || !visit(v) {
			return
		}
		walkInto(v.Elem(), visit)
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if _, isNode := v.Interface().(ast.Node); isNode && !visit(v) {
			return
		}
		walkInto(v, visit)
	case reflect.Struct:
		walkFields(v, visit)
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	default: // a leaf
	}
}

// walkInto goes into a node that has been visited.
func walkInto(v reflect.Value, visit func(reflect.Value) bool) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		walkFields(v, visit)
	}
}

func walkFields(v reflect.Value, visit func(reflect.Value) bool) {
	for i := range v.NumField() {
		// The list of hoisted variables repeats what stands in the body.
		if field := v.Type().Field(i); field.IsExported() && field.Name != "DeclarationList" {
			walk(v.Field(i), visit)
		}
	}
}

// inside walks the parts of a node.
func inside(node ast.Node, visit func(reflect.Value) bool) {
	walkInto(reflect.ValueOf(node), visit)
}
