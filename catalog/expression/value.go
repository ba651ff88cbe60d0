package expression

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// Decode reads JSON for CEL: whole numbers as int where they fit, and all others as
// double. No JSON at all is null.
func Decode(text json.RawMessage) (any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return types.NullValue, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return native(value), nil
}

// DecodeInput reads the input of a call, an object. No JSON at all is an empty one.
func DecodeInput(text json.RawMessage) (map[string]any, error) {
	value, err := Decode(text)
	if err != nil {
		return nil, fmt.Errorf("the input %w", err)
	}
	object, ok := value.(map[string]any)
	switch {
	case ok:
		return object, nil
	case len(bytes.TrimSpace(text)) == 0:
		return map[string]any{}, nil
	}
	return nil, errors.New("the input is no object")
}

func native(value any) any {
	switch v := value.(type) {
	case nil:
		return types.NullValue
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // out of range it is infinite, which compares as it should
		return f
	case []any:
		for i := range v {
			v[i] = native(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = native(v[key])
		}
	}
	return value
}

// encode writes a value of CEL as JSON.
func encode(value ref.Val) (json.RawMessage, error) {
	plain, err := outside(value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(plain)
}

// outside is a value of CEL as encoding/json takes it.
func outside(value ref.Val) (any, error) {
	switch v := value.(type) {
	case types.Null:
		return nil, nil
	case types.Bool, types.Int, types.Uint, types.Double, types.String:
		return v.Value(), nil
	case *types.Optional:
		if !v.HasValue() {
			return nil, nil
		}
		return outside(v.GetValue())
	case traits.Mapper:
		object := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.Value().(string)
			if !ok {
				return nil, fmt.Errorf("has a member whose name is of type %s", key.Type().TypeName())
			}
			member, err := outside(v.Get(key))
			if err != nil {
				return nil, err
			}
			object[name] = member
		}
		return object, nil
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			element, err := outside(it.Next())
			if err != nil {
				return nil, err
			}
			list = append(list, element)
		}
		return list, nil
	}
	return nil, fmt.Errorf("is of type %s, which JSON has not", value.Type().TypeName())
}
