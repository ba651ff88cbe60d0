package openapi

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A sent parameter is one way to write a value; received reads it back as a
// server does that knows the specification and nothing of this package.
type sentParameter struct {
	in, style string
	explode   bool
	shape     string // string, array, object
	reserved  bool
}

func (p sentParameter) name() string {
	if p.reserved {
		return "reserved_" + p.in + "_" + p.shape
	}
	return fmt.Sprintf("%s_%s_%t_%s", p.in, p.style, p.explode, p.shape)
}

func (p sentParameter) schema() string {
	switch p.shape {
	case "array":
		return `{type: array, items: {type: string}}`
	case "object":
		return `{type: object, additionalProperties: {type: string}}`
	}
	return `{type: string}`
}

func allParameters() []sentParameter {
	var all []sentParameter
	for in, styles := range map[string][]string{
		"path": {"simple", "label", "matrix"}, "query": {"form", "deepObject", "spaceDelimited", "pipeDelimited"}, "header": {"simple"}, "cookie": {"form"},
	} {
		for _, style := range styles {
			for _, explode := range []bool{false, true} {
				for _, shape := range []string{"string", "array", "object"} {
					delimited := strings.HasSuffix(style, "Delimited")
					if style == "deepObject" && (shape != "object" || !explode) || delimited && (shape == "string" || explode) {
						continue // what has no meaning
					}
					all = append(all, sentParameter{in: in, style: style, explode: explode, shape: shape})
				}
			}
		}
	}
	for _, in := range []string{"path", "query"} {
		all = append(all, sentParameter{in: in, style: map[string]string{"path": "simple", "query": "form"}[in], explode: true, shape: "string", reserved: true})
	}
	return append(all, sentParameter{in: "query", style: "form", explode: true, shape: "array", reserved: true})
}

// text makes a string of characters that mean something somewhere.
func (p sentParameter) text(r *rand.Rand) string {
	letters := []rune(`aZ09 &=+%/?#[],;|é漢.~:@!$'()*"<>\{}_-`)
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteRune(letters[r.IntN(len(letters))])
	}
	s := b.String()
	switch {
	case p.style == "spaceDelimited":
		s = strings.ReplaceAll(s, " ", "_")
	case p.style == "pipeDelimited":
		s = strings.ReplaceAll(s, "|", "_")
	case p.in == "header":
		s = "h" + strings.NewReplacer(",", "_", "=", "_", " ", "_").Replace(s)
	}
	if p.in == "path" && p.reserved {
		s = strings.ReplaceAll(s, "/", "_") // one that is kept makes another segment
	}
	if p.in == "path" && (s == "." || s == "..") {
		return "dot"
	}
	return s
}

func (p sentParameter) value(r *rand.Rand) any {
	switch p.shape {
	case "array":
		var items []any
		for range 1 + r.IntN(3) {
			items = append(items, p.text(r))
		}
		return items
	case "object":
		// An exploded object's keys stand beside those of others.
		prefix := p.name() + "."
		if p.style == "deepObject" || !p.explode {
			prefix = ""
		}
		if p.style == "label" {
			prefix = strings.ReplaceAll(prefix, ".", "")
		}
		return map[string]any{prefix + "k1": p.text(r), prefix + "k2": p.text(r)}
	}
	return p.text(r)
}

// received reads the value of a parameter from a request.
func (p sentParameter) received(t *testing.T, r *http.Request, segment string) any {
	switch p.in {
	case "path":
		return p.fromPath(t, segment)
	case "header":
		return p.fromList(r.Header.Get(p.name()), ",", func(s string) string { return s })
	case "cookie":
		return p.fromPairs(t, strings.Split(r.Header.Get("Cookie"), "; "))
	}
	return p.fromPairs(t, strings.Split(r.URL.RawQuery, "&"))
}

// fromList reads items that a separator keeps apart, each escaped.
func (p sentParameter) fromList(text, separator string, unescape func(string) string) any {
	if p.shape == "string" {
		return unescape(text)
	}
	items := strings.Split(text, separator)
	if p.shape == "array" {
		var list []any
		for _, item := range items {
			list = append(list, unescape(item))
		}
		return list
	}
	object := map[string]any{}
	if p.explode {
		for _, item := range items {
			key, value, _ := strings.Cut(item, "=")
			object[unescape(key)] = unescape(value)
		}
		return object
	}
	for i := 0; i+1 < len(items); i += 2 {
		object[unescape(items[i])] = unescape(items[i+1])
	}
	return object
}

func unescaping(t *testing.T) func(string) string {
	return func(s string) string {
		plain, err := url.PathUnescape(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
		}
		return plain
	}
}

func (p sentParameter) fromPath(t *testing.T, segment string) any {
	unescape := unescaping(t)
	switch p.style {
	case "label":
		separator := ","
		if p.explode {
			separator = "."
		}
		return p.fromList(strings.TrimPrefix(segment, "."), separator, unescape)
	case "matrix":
		if !p.explode || p.shape == "string" {
			return p.fromList(strings.TrimPrefix(segment, ";"+p.name()+"="), ",", unescape)
		}
		return p.fromPairs(t, strings.Split(strings.TrimPrefix(segment, ";"), ";"))
	}
	return p.fromList(segment, ",", unescape)
}

// fromPairs reads name=value pairs of a query, of cookies or of a matrix.
func (p sentParameter) fromPairs(t *testing.T, pairs []string) any {
	unescape := unescaping(t)
	var list []any
	object := map[string]any{}
	for _, text := range pairs {
		key, value, _ := strings.Cut(text, "=")
		key = unescape(key)
		switch {
		case p.style == "deepObject":
			if inner, ok := strings.CutPrefix(key, p.name()+"["); ok {
				object[strings.TrimSuffix(inner, "]")] = unescape(value)
			}
		case p.explode && p.shape == "object":
			if strings.HasPrefix(key, p.name()+".") {
				object[key] = unescape(value)
			}
		case key != p.name():
		case p.explode && p.shape == "array":
			list = append(list, unescape(value))
		default:
			separator := map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C"}[p.style]
			if separator == "" {
				separator = ","
			}
			return p.fromList(value, separator, unescape)
		}
	}
	if p.shape == "object" {
		return object
	}
	return list
}

func TestParametersArriveAsTheyWereGiven(t *testing.T) {
	parameters := allParameters()
	var path, spec strings.Builder
	for _, p := range parameters {
		if p.in == "path" {
			path.WriteString("/{" + p.name() + "}")
		}
	}
	spec.WriteString("openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths:\n  /base" + path.String() + ":\n    get:\n      operationId: op\n      responses: {'200': {description: ok}}\n      parameters:\n")
	for _, p := range parameters {
		fmt.Fprintf(&spec, "      - {name: %s, in: %s, required: true, style: %s, explode: %t, allowReserved: %t, schema: %s}\n", p.name(), p.in, p.style, p.explode, p.reserved, p.schema())
	}
	server, requests := service(t, nil)
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(spec.String())}, server.URL+"/v1"))
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		*requests = nil
		input := map[string]any{}
		for _, p := range parameters {
			input[p.name()] = p.value(r)
		}
		if _, out := dispatch(t, b, "svc.op", string(must(encode(input)))); out.Error != nil || len(*requests) != 1 {
			t.Fatalf("input %s: %+v", must(encode(input)), out.Error)
		}
		request := (*requests)[0]
		raw, _, _ := strings.Cut(request.raw, "?")
		segments := strings.Split(strings.TrimPrefix(raw, "/v1/base/"), "/")
		got, next := map[string]any{}, 0
		for _, p := range parameters {
			segment := ""
			if p.in == "path" {
				segment = segments[next]
				next++
			}
			got[p.name()] = p.received(t, request.Request, segment)
		}
		if diff := cmp.Diff(input, got); diff != "" {
			t.Fatalf("the server received (-sent +received):\n%s", diff)
		}
	}
}

func TestWhatCannotBeSentIsRefusedBeforeApproval(t *testing.T) {
	spec := `
openapi: 3.0.3
info: {title: T, version: '1'}
paths:
  /a/{p}/{r}:
    put:
      operationId: op
      responses: {'200': {description: ok}}
      parameters:
      - {name: p, in: path, required: true, schema: {type: string}}
      - {name: r, in: path, required: true, schema: {type: string}}
      - {name: h, in: header, schema: {type: array, items: {type: string}}}
      - {name: s, in: query, style: spaceDelimited, explode: false, schema: {type: array, items: {type: string}}}
`
	server, requests := service(t, nil)
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(spec)}, server.URL))
	for _, input := range []string{
		`{"p":"..","r":"x"}`, `{"p":".","r":"x"}`, `{"p":"","r":"x"}`, `{"p":"a","r":"b","h":["a,b"]}`, `{"p":"a","r":"b","h":["a\r\nEvil: 1"]}`, `{"p":"a","r":"b","s":["a b","c"]}`,
	} {
		plan, _ := dispatch(t, b, "svc.op", input)
		if plan.Error == nil || plan.Error.Code != "invalid_input" || len(*requests) != 0 {
			t.Errorf("%s: plan is %+v", input, plan)
		}
	}
	if _, out := dispatch(t, b, "svc.op", `{"p":"../x","r":"{p}"}`); out.Error != nil || (*requests)[0].raw != "/a/..%2Fx/%7Bp%7D" {
		t.Errorf("%+v, %s", out, (*requests)[0].raw)
	}
}
