package expression_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"

	"github.com/heddle-dev/heddle/catalog/expression"
)

func environment(t *testing.T) *cel.Env {
	t.Helper()
	env, err := expression.Environment(cel.Variable("input", cel.MapType(cel.StringType, cel.DynType)), cel.Variable("name", cel.StringType))
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// A member is given the value of its expression, as JSON has it.
func TestMapping(t *testing.T) {
	input, err := expression.DecodeInput(json.RawMessage(`{"id":9007199254740993,"name":"ä\u0000\"","none":null,"list":[1,2.5,{"a":true}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`input.id`:                    `{"m":9007199254740993}`,
		`input.name`:                  `{"m":"ä\u0000\""}`,
		`input.none`:                  `{"m":null}`,
		`input.list`:                  `{"m":[1,2.5,{"a":true}]}`,
		`{'id': input.id, 'n': name}`: `{"m":{"id":9007199254740993,"n":"x"}}`,
		`{?'id': input.?gone}`:        `{"m":{}}`,
		`input.?id`:                   `{"m":9007199254740993}`,
		`input.?gone`:                 `{}`,
		`input.?gone.orValue('-')`:    `{"m":"-"}`,
		`input.gone`:                  `input.m: no such key: gone`,
		`input.name.id`:               `input.m: `,
		`{1: 2}`:                      `input.m: has a member whose name is of type int`,
		`input.list.map(i, i)[7]`:     `input.m: index out of bounds: 7`,
	} {
		m, err := expression.CompileMapping(environment(t), map[string]string{"m": text})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := m.Input(map[string]any{"input": input, "name": "x"})
		said := string(got)
		if err != nil {
			said = err.Error()
		}
		if said != want && (err == nil || !strings.HasPrefix(said, want)) {
			t.Errorf("%s: %s, want %s", text, said, want)
		}
	}
}

func TestMappingsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"input.(":                 "input.m: 1:",
		"other":                   "input.m: 1:1: undeclared reference",
		"timestamp(name)":         "input.m: is of type google.protobuf.Timestamp, which JSON has not",
		"b'bytes'":                "input.m: is of type bytes, which JSON has not",
		strings.Repeat("1+", 3e3): "input.m: is 6000 bytes long",
	} {
		if _, err := expression.CompileMapping(environment(t), map[string]string{"m": text}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20s: error %v, want %q", text, err, want)
		}
	}
	many := map[string]string{}
	for i := range 65 {
		many[strings.Repeat("m", i+1)] = "1"
	}
	if _, err := expression.CompileMapping(environment(t), many); err == nil || !strings.Contains(err.Error(), "65 members") {
		t.Errorf("error %v of too many members", err)
	}
}

// Of a value that is written out all is known, of others the type where that is
// certain.
func TestShape(t *testing.T) {
	for text, want := range map[string]string{
		`1`:                `{"Type":"number","Constant":1}`,
		`'x'`:              `{"Type":"string","Constant":"x"}`,
		`null`:             `{"Type":"null","Constant":null}`,
		`name`:             `{"Type":"string"}`,
		`size(input) > 0`:  `{"Type":"boolean"}`,
		`input`:            `{"Type":"object"}`,
		`input.id`:         `{}`,
		`input.?id`:        `{"Optional":true}`,
		`[name, input.id]`: `{"Type":"array","Items":[{"Type":"string"},{}]}`,
		`{'a': 1, 'b': {'c': name}, ?'d': input.?d}`: `{"Type":"object","Members":[` +
			`{"Name":"a","Shape":{"Type":"number","Constant":1}},` +
			`{"Name":"b","Shape":{"Type":"object","Members":[{"Name":"c","Shape":{"Type":"string"}}]}},` +
			`{"Name":"d","Shape":{"Optional":true}}]}`,
		`{name: 1}`:                `{"Type":"object"}`,
		`name == '' ? 1 : input.x`: `{}`,
	} {
		m, err := expression.CompileMapping(environment(t), map[string]string{"m": text})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var wanted, got any
		encoded, err := json.Marshal(shown(m.Shape().Members[0].Shape))
		if err != nil || json.Unmarshal(encoded, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
			t.Fatal(err, string(encoded))
		}
		if a, b := mustJSON(t, got), mustJSON(t, wanted); a != b {
			t.Errorf("%s: %s, want %s", text, a, b)
		}
	}
}

// shown is a shape without what is not set.
func shown(s expression.Shape) map[string]any {
	all := map[string]any{}
	if s.Type != "" {
		all["Type"] = s.Type
	}
	if s.Optional {
		all["Optional"] = true
	}
	if s.Constant != nil {
		all["Constant"] = s.Constant
	}
	if s.Members != nil {
		var members []any
		for _, m := range s.Members {
			members = append(members, map[string]any{"Name": m.Name, "Shape": shown(m.Shape)})
		}
		all["Members"] = members
	}
	if s.Items != nil {
		var items []any
		for _, i := range s.Items {
			items = append(items, shown(i))
		}
		all["Items"] = items
	}
	return all
}

func mustJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDecodeInput(t *testing.T) {
	for text, want := range map[string]string{
		``: ``, ` `: ``, `{}`: ``, `null`: "no object", `[]`: "no object", `1`: "no object", `{`: "cannot be read", `{"a":1e999}`: ``,
	} {
		object, err := expression.DecodeInput(json.RawMessage(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && object == nil {
			t.Errorf("%q: %v, error %v, want %q", text, object, err, want)
		}
	}
}
