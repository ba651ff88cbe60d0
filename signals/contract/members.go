package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// members are those of a JSON object, in the order in which they stand there.
type members []member

type member struct {
	name  string
	value json.RawMessage
}

func (m members) get(name string) (json.RawMessage, bool) {
	for _, one := range m {
		if one.name == name {
			return one.value, true
		}
	}
	return nil, false
}

// UnmarshalJSON refuses what is no object, and one that names a member twice.
func (m *members) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if opening, err := decoder.Token(); err != nil || opening != json.Delim('{') {
		return fmt.Errorf("want a JSON object")
	}
	*m = nil
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		name, ok := token.(string)
		if !ok {
			return fmt.Errorf("want a JSON object")
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		if _, twice := m.get(name); twice {
			return fmt.Errorf("%q stands there twice", name)
		}
		*m = append(*m, member{name, value})
	}
	return nil
}

// encode writes the object.
func (m members) encode() (json.RawMessage, error) {
	text := []byte("{")
	for i, one := range m {
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), ':'), bytes.TrimSpace(one.value)...)
	}
	return append(text, '}'), nil
}
