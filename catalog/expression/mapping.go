package expression

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// maxMembers bounds the members of an input.
const maxMembers = 64

// Mapping makes the input of one call of what is known of another: an expression for
// each member. The zero value makes an empty input.
type Mapping struct{ members []member }

type member struct {
	name  string
	value *Expression
}

// CompileMapping compiles the expressions by the names of the members. The error
// names the one that is wrong, as in input.id.
func CompileMapping(env *cel.Env, members map[string]string) (Mapping, error) {
	if len(members) > maxMembers {
		return Mapping{}, fmt.Errorf("input: has %d members, at most %d are allowed", len(members), maxMembers)
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	var m Mapping
	for _, name := range names {
		value, err := Compile(env, members[name])
		if err != nil {
			return Mapping{}, fmt.Errorf("input.%s: %w", name, err)
		}
		m.members = append(m.members, member{name, value})
	}
	return m, nil
}

// Input is the input that the mapping makes. A member whose expression is an optional
// without a value, as of input.?note, is left out. The error names the member that has
// none.
func (m Mapping) Input(sees map[string]any) (json.RawMessage, error) {
	input := map[string]json.RawMessage{}
	for _, m := range m.members {
		value, err := m.value.eval(sees)
		if err != nil {
			return nil, fmt.Errorf("input.%s: %w", m.name, err)
		}
		if optional, ok := value.(*types.Optional); ok && !optional.HasValue() {
			continue
		}
		if input[m.name], err = encode(value); err != nil {
			return nil, fmt.Errorf("input.%s: %w", m.name, err)
		}
	}
	return json.Marshal(input)
}

// Shape is what is known of every input that the mapping makes.
func (m Mapping) Shape() Shape {
	s := Shape{Type: "object", Members: []Member{}}
	for _, m := range m.members {
		s.Members = append(s.Members, Member{m.name, m.value.shape})
	}
	return s
}
