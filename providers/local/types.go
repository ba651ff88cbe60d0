package local

import (
	stdencoding "encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
)

// direction is whether a type is read from JSON or written to it.
type direction int

const (
	decoding direction = iota
	encoding
)

// mapper gives the schemas of types that encoding/json treats in a way of their
// own. nil leaves the type to the reflector.
func (d direction) mapper(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{}
	case reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	case reflect.TypeFor[big.Int]():
		return &jsonschema.Schema{Type: "integer"}
	}
	if t.Kind() == reflect.Interface {
		return nil
	}
	if _, ok := reflect.PointerTo(t).MethodByName("JSONSchema"); ok {
		return nil
	}
	switch {
	case d.customJSON(t):
		return &jsonschema.Schema{}
	case d.customText(t):
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// customJSON reports whether the type reads or writes its own JSON: it may be
// anything.
func (d direction) customJSON(t reflect.Type) bool {
	if d == decoding {
		return implements[json.Unmarshaler](t)
	}
	return implements[json.Marshaler](t)
}

// customText reports whether the type reads or writes itself as a string.
func (d direction) customText(t reflect.Type) bool {
	if d == decoding {
		return implements[stdencoding.TextUnmarshaler](t)
	}
	return implements[stdencoding.TextMarshaler](t)
}

func implements[I any](t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[I]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[I]())
}

// leaf reports whether the type is one whose parts encoding/json does not look
// at.
func (d direction) leaf(t reflect.Type) bool { return d.mapper(t) != nil }

// field is a field of a struct as encoding/json sees it.
type field struct {
	reflect.StructField
	// key is its name in JSON.
	key string
}

// fields lists the fields of a struct, those of embedded structs included.
func fields(t reflect.Type) []field {
	all, _ := collect(t, nil)
	return all
}

// collect lists the fields of a struct within the structs that embed it. cyclic
// says that one of them embeds itself.
func collect(t reflect.Type, within []reflect.Type) (all []field, cyclic bool) {
	if slices.Contains(within, t) {
		return nil, true
	}
	within = append(within, t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		if f.Anonymous && name == "" && embedded.Kind() == reflect.Struct {
			inner, again := collect(embedded, within)
			all, cyclic = append(all, inner...), cyclic || again
			continue
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		all = append(all, field{f, name})
	}
	return all, cyclic
}

func hasOption(options, option string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == option {
			return true
		}
	}
	return false
}

// checker refuses types that have no form in JSON, naming the field.
type checker struct {
	direction direction
	seen      map[reflect.Type]bool
}

func (c *checker) check(t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		if t.Name() != "" {
			return refuse(path, "is the named pointer type %s, which may have no end; use what it points to", t)
		}
		t = t.Elem()
	}
	if t == reflect.TypeFor[url.URL]() {
		return refuse(path, "is a url.URL, which encoding/json does not write as a string; use string")
	}
	if c.seen[t] || c.direction.leaf(t) {
		return nil
	}
	if c.seen == nil {
		c.seen = map[reflect.Type]bool{}
	}
	c.seen[t] = true
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer, reflect.Uintptr:
		return refuse(path, "is a %s, which has no form in JSON", t)
	case reflect.Slice, reflect.Array:
		return c.check(t.Elem(), path+"[]")
	case reflect.Map:
		return c.checkMap(t, path)
	case reflect.Struct:
		return c.checkStruct(t, path)
	}
	return nil
}

func (c *checker) checkMap(t reflect.Type, path string) error {
	switch k := t.Key().Kind(); {
	case k == reflect.String, k >= reflect.Int && k <= reflect.Int64, c.direction.customText(t.Key()):
	default:
		return refuse(path, "is a %s, and JSON has only string keys; use a string or an int", t)
	}
	return c.check(t.Elem(), path+"[]")
}

func (c *checker) checkStruct(t reflect.Type, path string) error {
	all, cyclic := collect(t, nil)
	if cyclic {
		return refuse(path, "%s embeds itself", t)
	}
	keys := map[string]string{}
	for _, f := range all {
		at := path + "." + f.Name
		if first, twice := keys[f.key]; twice {
			return refuse(at, "and %s have the same name in JSON, %q", first, f.key)
		}
		keys[f.key] = f.Name
		if err := c.check(f.Type, at); err != nil {
			return err
		}
		if err := checkTags(f); err != nil {
			return refuse(at, "%s", err)
		}
	}
	return nil
}

func refuse(path, format string, args ...any) error {
	what := "the type"
	if path != "" {
		what = "field " + strings.TrimPrefix(path, ".")
	}
	return fmt.Errorf(what+" "+format, args...)
}
