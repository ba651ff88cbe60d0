package openapi

import (
	"slices"
	"testing"
)

// TestSketch names what search needs, in each dialect, and compiles nothing.
func TestSketch(t *testing.T) {
	for name, tt := range map[string]struct {
		spec          string
		input, output []string
	}{
		"3": {`
openapi: 3.1.0
info: {title: S, version: '1'}
paths:
  /a/{id}:
    parameters: [{$ref: '#/components/parameters/Id'}]
    post:
      parameters: [{name: dry, in: query, description: Tries only.}]
      requestBody: {$ref: '#/components/requestBodies/B'}
      responses: {'201': {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Issue'}}}}}}
components:
  parameters: {Id: {name: id, in: path, required: true}}
  requestBodies: {B: {content: {application/json: {schema: {allOf: [{$ref: '#/components/schemas/Issue'}, {properties: {note: {}}}]}}}}}
  schemas: {Issue: {type: object, properties: {title: {description: Its title.}, next: {$ref: '#/components/schemas/Issue'}}}}
`, []string{"dry", "id", "next", "note", "title"}, []string{"next", "title"}},
		"2": {`
swagger: '2.0'
info: {title: S, version: '1'}
paths: {/a: {post: {parameters: [{name: b, in: body, schema: {properties: {title: {}}}}, {name: q, in: query, type: string}], responses: {'200': {schema: {properties: {id: {}}}}}}}}
`, []string{"q", "title"}, []string{"id"}},
		"nothing that can be read": {`{"openapi":"3.0.0","paths":{"/a":{"get":{"parameters":[7,{"$ref":"#/no"},{"$ref":"#/paths/~1a/get/parameters/2"}],"requestBody":[],"responses":7}}}}`, nil, nil},
	} {
		tools, err := newSource(t, Options{Spec: yamlSpec(tt.spec)}, "").Tools(t.Context())
		if err != nil || len(tools) != 1 {
			t.Fatalf("%s: %d tools, %v", name, len(tools), err)
		}
		input, output := tools[0].Sketch()
		for _, check := range []struct {
			got  object
			want []string
		}{{objectOf(input), tt.input}, {objectOf(output), tt.output}} {
			var names []string
			for name := range objectOf(check.got["properties"]) {
				names = append(names, name)
			}
			if slices.Sort(names); !slices.Equal(names, check.want) {
				t.Errorf("%s: properties are %v, want %v", name, names, check.want)
			}
		}
		if text := objectOf(objectOf(objectOf(input)["properties"])["title"]).text("description"); name == "3" && text != "Its title." {
			t.Errorf("the description is %q", text)
		}
	}
}
