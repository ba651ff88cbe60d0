package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/catalog"
)

// FuzzSpec mutates specifications: none may panic or hang, each tool that comes
// of one is legal, and what is no GET, HEAD or OPTIONS is never a read.
func FuzzSpec(f *testing.F) {
	for _, text := range []string{issuesSpec, securedSpec, oauthSpec, bodiesSpec} {
		f.Add([]byte(text))
		if asJSON, err := yamlToJSON([]byte(text)); err == nil {
			f.Add(asJSON)
		}
	}
	for _, text := range []string{
		`{"openapi":"3.0.0","paths":{"/a":{"$ref":"#/paths/~1b"},"/b":{"$ref":"#/paths/~1a"}}}`,
		`{"openapi":"3.1.0","paths":{"/a":{"get":{"requestBody":{"$ref":"#/x"}},"POST":{},"post":{}}},"x":{"$ref":"#/x"}}`,
		`{"swagger":"2.0","host":"a","paths":{"/a/{b}":{"post":{"parameters":[{"in":"formData","type":"file","name":"f"},{"in":"body","schema":{"items":{"$ref":"#/"}}}]}}}}`,
		`{"openapi":"3.0.0","paths":{"/a":{"put":{"operationId":"get","x-operation":"read"},"get":{"operationId":"get"}}}}`,
		"a: &a [*a, *a]\n", "openapi: 3.0.0\npaths: &p {/a: {get: *p}}\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		began := time.Now()
		spec, err := Load(context.Background(), Location{Bytes: append([]byte{}, text...)}, nil)
		if err != nil {
			return
		}
		source, err := New(Options{Namespace: "svc", Spec: Location{Bytes: text}})
		if err != nil {
			t.Fatal(err)
		}
		tools, err := source.Tools(context.Background())
		if err != nil {
			t.Fatalf("a specification that was read has no tools: %v", err)
		}
		seen := map[string]bool{}
		for i, tool := range tools {
			if seen[tool.ID] {
				t.Errorf("%s is there twice", tool.ID)
			}
			seen[tool.ID] = true
			method, _, _ := strings.Cut(tool.Source, " ")
			safe := method == "GET" || method == "HEAD" || method == "OPTIONS"
			if tool.Operation == catalog.Read && !safe || tool.Approval != catalog.ApprovalDefault {
				t.Errorf("%s is %+v", tool.Source, tool.Descriptor)
			}
			if err := catalog.CheckID(tool.ID); err != nil {
				t.Error(err)
			}
			complete, err := tool.Complete()
			if err != nil || i > 50 {
				continue
			}
			if violations, err := catalog.Validate(complete.Input, json.RawMessage("{}")); err != nil {
				t.Errorf("%s: %v in %s", tool.Source, err, complete.Input)
			} else if len(violations) == 0 {
				_, _ = tool.Prepare(json.RawMessage("{}"))
			}
		}
		_ = spec.Report("svc")
		if took := time.Since(began); took > 10*time.Minute {
			t.Errorf("it took %s for %d bytes", took, len(text))
		}
	})
}

// FuzzMembers splits JSON as encoding/json reads it.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{`{"a":1,"b":[{"c":"}\\"}],"\u0061\"":null}`, `{ }`, `[1, "]", {"a":[]}, []]`, `{"a":{"b":"\\\""}}`, `"x"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !valid(text) {
			return
		}
		text = bytes.TrimSpace(text)
		var object map[string]json.RawMessage
		if text[0] == '{' && json.Unmarshal(text, &object) == nil {
			got := objectOf(text)
			if len(got) != len(object) {
				t.Fatalf("%s: %v, want %v", text, got, object)
			}
			for key, value := range object {
				if !bytes.Equal(got[key], value) {
					t.Errorf("%s: %q is %s, want %s", text, key, got[key], value)
				}
			}
		}
		var list []json.RawMessage
		if text[0] == '[' && json.Unmarshal(text, &list) == nil {
			got := elements(text)
			if len(got) != len(list) {
				t.Fatalf("%s: %q, want %q", text, got, list)
			}
			for i := range list {
				if !bytes.Equal(got[i], list[i]) {
					t.Errorf("%s: item %d is %s, want %s", text, i, got[i], list[i])
				}
			}
		}
	})
}

// FuzzNextLink reads the header Link: what it finds stands in the header between
// angle brackets, and nothing in it hangs or panics.
func FuzzNextLink(f *testing.F) {
	for _, text := range []string{
		`<https://a.b/c?page=2>; rel="next", <https://a.b/c?page=9>; rel="last"`, `<a>; title="x, <b>; rel=next"; rel=prev, <c>;REL=Next`,
		`<a>; rel="last next"`, `<a`, `>; rel=next`, `<>;rel=next,<b>;rel=next`, `<a>; rel="\"`, `,,,<a>;;;rel=next`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if address := nextLink([]string{text}); address != "" && !strings.Contains(text, "<"+address+">") {
			t.Errorf("%q: found %q", text, address)
		}
	})
}

// FuzzReplace writes a value into JSON: it is found there again, and all else stays.
func FuzzReplace(f *testing.F) {
	f.Add(`{"a":{"b":[1]},"c":"}"}`, "a", "b")
	f.Add(`{"a/b":{"~":1}}`, "a/b", "~")
	f.Add(`[]`, "", "x")
	f.Fuzz(func(t *testing.T, text, first, second string) {
		if !valid([]byte(text)) || !utf8.ValidString(first) || !utf8.ValidString(second) {
			return
		}
		pointer := at("", first, second)
		out := replace([]byte(text), pointer, []byte(`["new"]`))
		if !valid(out) {
			t.Fatalf("%s at %s makes %s", text, pointer, out)
		}
		if got, ok := lookup(out, pointer); !ok || string(got) != `["new"]` {
			t.Errorf("%s at %s makes %s", text, pointer, out)
		}
		for _, m := range members([]byte(text)) {
			if m.key != first && !bytes.Equal(objectOf(out)[m.key], objectOf([]byte(text))[m.key]) {
				t.Errorf("%s at %s changes %s: %s", text, pointer, m.key, out)
			}
		}
	})
}
