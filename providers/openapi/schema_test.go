package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// schemaSpec is a specification whose one operation takes and answers a schema,
// beside which the components stand.
func schemaSpec(version, schema, components string) Location {
	content := fmt.Sprintf(`content: {application/json: {schema: %s}}`, schema)
	return yamlSpec(fmt.Sprintf(`
openapi: %s
info: {title: T, version: '1'}
paths:
  /a:
    post:
      operationId: a
      requestBody: {required: true, %s}
      responses: {'200': {description: ok, %s}}
components: {schemas: {%s}}
`, version, content, content, components))
}

func compileOne(t *testing.T, location Location) *compiled {
	t.Helper()
	s, err := Load(t.Context(), location, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.compile(s.operations[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fits(t *testing.T, schema json.RawMessage, value string) bool {
	t.Helper()
	violations, err := catalog.Validate(schema, json.RawMessage(value))
	if err != nil {
		t.Fatalf("%v: %s", err, schema)
	}
	return len(violations) == 0
}

func TestSchemas(t *testing.T) {
	const order = `Order: {type: object, additionalProperties: false, required: [id, name, pin], properties: {id: {type: integer, readOnly: true}, name: {type: string}, pin: {$ref: '#/components/schemas/Pin'}}}, Pin: {type: string, writeOnly: true}`
	for name, tt := range map[string]struct {
		version, schema, components string
		good, bad                   []string // bodies
		goodOut, badOut             []string
	}{
		"readOnly and writeOnly": {
			"3.0.3", `{$ref: '#/components/schemas/Order'}`, order,
			[]string{`{"name":"x","pin":"1"}`},
			[]string{`{"name":"x","pin":"1","id":3}`, `{"name":"x"}`},
			[]string{`{"id":3,"name":"x"}`},
			[]string{`{"id":3,"name":"x","pin":"1"}`, `{"name":"x"}`},
		},
		"readOnly through allOf": {
			"3.1.0", `{allOf: [{$ref: '#/components/schemas/Base'}, {required: [id, name]}]}`, `Base: {type: object, properties: {id: {type: integer, readOnly: true}, name: {type: string}}}`,
			[]string{`{"name":"x"}`},
			[]string{`{}`},
			[]string{`{"id":1,"name":"x"}`},
			[]string{`{"name":"x"}`},
		},
		"exclusive bounds as booleans": {
			"3.0.3", `{type: number, minimum: 5, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false}`, "",
			[]string{"6", "9"},
			[]string{"5", "10"},
			nil, nil,
		},
		"exclusive bounds as numbers": {"3.1.0", `{type: number, exclusiveMinimum: 5}`, "", []string{"6"}, []string{"5"}, nil, nil},
		"what stands beside a reference counts in 3.1": {
			"3.1.0", `{$ref: '#/components/schemas/S', maxLength: 2}`, `S: {type: string}`, []string{`"ab"`}, []string{`"abc"`, "1"}, nil, nil,
		},
		"and not in 3.0":               {"3.0.3", `{$ref: '#/components/schemas/S', maxLength: 2}`, `S: {type: string}`, []string{`"abc"`}, []string{"1"}, nil, nil},
		"nullable beside a reference":  {"3.0.3", `{$ref: '#/components/schemas/S', nullable: true}`, `S: {type: string}`, []string{`"abc"`, "null"}, []string{"1"}, nil, nil},
		"a list for each place":        {"3.1.0", `{type: array, prefixItems: [{type: string}], items: false}`, "", []string{`["a"]`}, []string{`[1]`, `["a",1]`}, nil, nil},
		"a reference to itself":        {"3.0.3", `{$ref: '#/components/schemas/A'}`, `A: {$ref: '#/components/schemas/B'}, B: {$ref: '#/components/schemas/A'}`, []string{"1"}, nil, nil, nil},
		"a reference to nothing":       {"3.0.3", `{type: object, properties: {a: {$ref: '#/components/schemas/None'}, b: {type: integer}}}`, "", []string{`{"a":1,"b":2}`}, []string{`{"b":"x"}`}, nil, nil},
		"slips cost the keyword alone": {"3.0.3", `{type: object, required: true, properties: {n: {type: integer, minimum: '1'}, s: {type: text}, e: {enum: []}}}`, "", []string{`{"n":0,"s":1,"e":2}`}, []string{`{"n":"x"}`}, nil, nil},
		"a property called $ref":       {"3.1.0", `{type: object, properties: {$ref: {type: string}, type: {type: integer}}}`, "", []string{`{"$ref":"x","type":1}`}, []string{`{"$ref":1}`, `{"type":"x"}`}, nil, nil},
		"discriminator without mapping": {
			"3.0.3", `{oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}], discriminator: {propertyName: kind}}`,
			`Cat: {type: object, properties: {kind: {type: string}}}, Dog: {type: object, properties: {kind: {type: string}}}`,
			[]string{`{"kind":"Cat"}`, `{"kind":"Dog"}`},
			[]string{`{"kind":"cow"}`, `{}`},
			nil, nil,
		},
		"discriminator that the alternatives name themselves": {
			"3.1.0", `{oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}], discriminator: {propertyName: kind}}`,
			`Cat: {type: object, required: [kind], properties: {kind: {const: cat}}}, Dog: {type: object, required: [kind], properties: {kind: {enum: [dog]}}}`,
			[]string{`{"kind":"cat"}`, `{"kind":"dog"}`},
			[]string{`{"kind":"Cat"}`},
			nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := compileOne(t, schemaSpec(tt.version, tt.schema, tt.components))
			for _, value := range tt.good {
				if !fits(t, c.input, `{"body":`+value+`}`) {
					t.Errorf("the input refuses %s: %s", value, c.input)
				}
			}
			for _, value := range tt.bad {
				if fits(t, c.input, `{"body":`+value+`}`) {
					t.Errorf("the input takes %s: %s", value, c.input)
				}
			}
			for _, value := range tt.goodOut {
				if !fits(t, c.output, value) {
					t.Errorf("the output refuses %s: %s", value, c.output)
				}
			}
			for _, value := range tt.badOut {
				if fits(t, c.output, value) {
					t.Errorf("the output takes %s: %s", value, c.output)
				}
			}
		})
	}
}

// TestLongSchemasAreCut describes a chain of a thousand schemas: near ones whole,
// far ones as anything, and that is said.
func TestLongSchemasAreCut(t *testing.T) {
	var components strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&components, "S%d: {type: object, properties: {next: {$ref: '#/components/schemas/S%d'}, text: {type: string, description: %s}}}, ", i, i+1, strings.Repeat("x", 400))
	}
	components.WriteString("S1000: {type: string}")
	c := compileOne(t, schemaSpec("3.1.0", `{$ref: '#/components/schemas/S0'}`, components.String()))
	if len(c.input) > catalog.MaxSchema/2 || len(c.output) > catalog.MaxSchema/2 {
		t.Errorf("the schemas are %d and %d bytes long", len(c.input), len(c.output))
	}
	if !fits(t, c.input, `{"body":{"next":{"text":"x"}}}`) || fits(t, c.input, `{"body":{"next":{"text":1}}}`) {
		t.Errorf("what is near is not described: %.300s", c.input)
	}
	if len(c.notes) != 2 || c.notes[0].Pointer != "/paths/~1a/post" {
		t.Errorf("notes are %v", c.notes)
	}
}

func TestSeveralMediaTypes(t *testing.T) {
	server, requests := service(t, nil)
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(`
openapi: 3.0.3
info: {title: T, version: '1'}
paths:
  /a:
    post:
      operationId: a
      responses: {'200': {description: ok}}
      requestBody:
        content:
          text/plain: {}
          application/json: {schema: {type: object, required: [n], properties: {n: {type: integer}}}}
`)}, server.URL))
	for input, want := range map[string]string{
		`{"body":{"n":1}}`: "application/json", `{"body":"x","content_type":"text/plain"}`: "text/plain",
		`{}`: "", `{"body":"x"}`: "refused", `{"body":{"n":1},"content_type":"text/plain"}`: "refused", `{"body":{},"content_type":"application/json"}`: "refused",
	} {
		*requests = nil
		plan, _ := dispatch(t, b, "svc.a", input)
		switch {
		case want == "refused":
			if plan.Error == nil || plan.Error.Code != catalog.CodeInvalidInput || len(*requests) != 0 {
				t.Errorf("%s: plan is %+v", input, plan)
			}
		case len(*requests) != 1 || (*requests)[0].Header.Get("Content-Type") != want:
			t.Errorf("%s: plan is %+v, requests %v", input, plan.Error, *requests)
		}
	}
}
