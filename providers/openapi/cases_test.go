package openapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
)

// caseFile is a specification with calls, and what must come of each.
type caseFile struct {
	Spec  json.RawMessage `json:"spec"`
	Root  string          `json:"root"`
	Calls []caseCall      `json:"calls"`
}

type caseCall struct {
	Operation string                     `json:"operation"`
	Path      map[string]json.RawMessage `json:"path"`
	Query     map[string]json.RawMessage `json:"query"`
	Header    map[string]json.RawMessage `json:"header"`
	Body      json.RawMessage            `json:"body"`
	Upstream  *upstream                  `json:"upstream"`
	Expect    map[string]json.RawMessage `json:"expect"`
}

type upstream struct {
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers"`
	JSON      json.RawMessage   `json:"json"`
	Raw       string            `json:"raw"`
	RawBase64 []byte            `json:"raw_base64"`
}

// elsewhere are the cases that take more than one server; each has a test of its
// own.
var elsewhere = []string{"creds-scope-refs-redirects", "server-override-levels"}

func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil || len(files) < 23 {
		t.Fatalf("found %d cases, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if slices.Contains(elsewhere, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var c caseFile
			readYAML(t, file, &c)
			location := Location{Bytes: c.Spec}
			if c.Root != "" {
				location = Location{File: filepath.Join("testdata/cases", c.Root)}
			}
			began := time.Now()
			spec, err := Load(t.Context(), location, nil)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 10*time.Minute {
				t.Errorf("loading took %s", took)
			}
			for i, call := range c.Calls {
				t.Run(fmt.Sprint(i), func(t *testing.T) { runCase(t, spec, location, call) })
			}
		})
	}
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		text, err = yamlToJSON(text)
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func runCase(t *testing.T, spec *Spec, location Location, call caseCall) {
	server, requests := service(t, call.Upstream)
	b := newBroker(t, newSource(t, Options{Spec: location}, server.URL+"/v1"))
	i := slices.IndexFunc(spec.operations, func(o *operation) bool { return o.operationID == call.Operation })
	if i < 0 {
		t.Fatalf("there is no operation %s", call.Operation)
	}
	compiled, err := spec.compile(spec.operations[i])
	if err != nil {
		t.Fatal(err)
	}
	plan, out := dispatch(t, b, "svc."+call.Operation, call.input(t, compiled))
	c := checker{t: t, plan: plan, out: out, requests: *requests, compiled: compiled}
	for key, want := range call.Expect {
		c.check(key, want)
	}
}

// input puts what a case gives by place under the names of the tool's input.
func (call caseCall) input(t *testing.T, c *compiled) string {
	t.Helper()
	input := map[string]any{}
	for in, values := range map[string]map[string]json.RawMessage{"path": call.Path, "query": call.Query, "header": call.Header} {
		for name, value := range values {
			i := slices.IndexFunc(c.inputs, func(p parameter) bool { return p.in == in && p.name == name })
			if i < 0 {
				t.Fatalf("the tool has no input for the %s parameter %s", in, name)
			}
			input[c.inputs[i].input] = value
		}
	}
	if call.Body != nil {
		input["body"] = call.Body
	}
	return string(must(encode(input)))
}

// checker looks at what came of a call.
type checker struct {
	t        *testing.T
	plan     catalog.Plan
	out      catalog.Outcome
	requests []recorded
	compiled *compiled
}

func (c checker) check(key string, want json.RawMessage) {
	c.t.Helper()
	switch key {
	case "note":
	case "input_valid", "result_ok", "http_calls", "retries", "body_kind":
		c.outcome(key, want)
	case "error_path_contains", "error_mentions", "error_does_not_mention", "error_mentions_all":
		c.errorText(key, want)
	case "tool_has_input":
		if name := unquote(want); objectOf(objectOf(c.compiled.input)["properties"])[name] == nil {
			c.t.Errorf("the tool has no input %s: %s", name, c.compiled.input)
		}
	case "or_operation_skipped_with_reason":
	case "ref_left_in_schema":
		if bytes.Contains(c.compiled.input, []byte("x-shared")) || !bytes.Contains(c.compiled.input, []byte(`"guid":{"format":"uuid","type":"string"}`)) {
			c.t.Errorf("input schema is %s", c.compiled.input)
		}
	default:
		c.request(key, want)
	}
}

func (c checker) outcome(key string, want json.RawMessage) {
	c.t.Helper()
	switch key {
	case "input_valid":
		got := c.plan.Error == nil
		if got != (string(want) == "true") {
			c.t.Errorf("input valid: %t (%v)", got, c.plan.Error)
		}
		if !got && (c.plan.Error.Code != catalog.CodeInvalidInput || len(c.requests) > 0) {
			c.t.Errorf("error is %v, and %d requests were sent", c.plan.Error, len(c.requests))
		}
	case "result_ok":
		if c.out.Error != nil || len(c.requests) != 1 {
			c.t.Errorf("outcome is %+v after %d requests", c.out.Error, len(c.requests))
		}
	case "retries":
		if len(c.requests) != 1 {
			c.t.Errorf("%d requests were sent", len(c.requests))
		}
	case "http_calls":
		if fmt.Sprint(len(c.requests)) != string(want) || c.out.Error == nil {
			c.t.Errorf("%d requests were sent; error is %v", len(c.requests), c.out.Error)
		}
	case "body_kind":
		if unquote(want) == "text" {
			if kindOf(c.out.Result) != "a string" || c.out.Warning == "" {
				c.t.Errorf("result is %s with the warning %q", c.out.Result, c.out.Warning)
			}
			return
		}
		content, err := base64.StdEncoding.DecodeString(objectOf(c.out.Result).text("bytes_base64"))
		if err != nil || !bytes.Equal(content, []byte{0, 0xff, 0}) && !bytes.Equal(content, []byte{0, 0xff, 0, 0}[:len(content)]) {
			c.t.Errorf("result is %s (%v)", c.out.Result, err)
		}
	}
}

func (c checker) errorText(key string, want json.RawMessage) {
	c.t.Helper()
	if c.plan.Error == nil {
		c.t.Fatal("there is no error")
	}
	text := string(must(encode(c.plan.Error)))
	words := []string{unquote(want)}
	if key == "error_mentions_all" {
		words = nil
		for _, w := range elements(want) {
			words = append(words, unquote(w))
		}
	}
	for _, word := range words {
		if strings.Contains(text, word) == (key == "error_does_not_mention") {
			c.t.Errorf("%s %q: error is %s", key, word, text)
		}
	}
}

func (c checker) request(key string, want json.RawMessage) {
	c.t.Helper()
	if len(c.requests) != 1 {
		c.t.Fatalf("%d requests were sent, want one; outcome is %+v", len(c.requests), c.out.Error)
	}
	r := c.requests[0]
	switch key {
	case "url_path", "raw_path":
		if path, _, _ := strings.Cut(r.raw, "?"); path != unquote(want) {
			c.t.Errorf("path is %s, want %s", path, want)
		}
	case "decoded_query_pairs", "decoded_query_pairs_include":
		var pairs [][2]string
		c.decode(want, &pairs)
		values := url.Values{}
		for _, p := range pairs {
			values.Add(p[0], p[1])
		}
		got := r.URL.Query()
		for name := range got {
			if values[name] == nil && key == "decoded_query_pairs_include" {
				delete(got, name)
			}
		}
		if diff := cmp.Diff(values, got); diff != "" {
			c.t.Errorf("query (-want +got):\n%s", diff)
		}
	case "query_keys_forbidden":
		for _, item := range elements(want) {
			if r.URL.Query().Has(unquote(item)) {
				c.t.Errorf("the query is %s", r.URL.RawQuery)
			}
		}
	case "decoded_query_json":
		for _, m := range members(want) {
			c.sameJSON(m.value, []byte(r.URL.Query().Get(m.key)))
		}
	case "json_body":
		c.sameJSON(want, r.body)
	case "header", "header_prefix":
		for _, m := range members(want) {
			got := r.Header.Get(m.key)
			if got != unquote(m.value) && (key == "header" || !strings.HasPrefix(got, unquote(m.value))) {
				c.t.Errorf("header %s is %q, want %s", m.key, got, m.value)
			}
		}
	case "multipart_parts":
		c.parts(r, want)
	default:
		c.t.Errorf("nobody checks %s", key)
	}
}

func (c checker) decode(text json.RawMessage, into any) {
	c.t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		c.t.Fatal(err)
	}
}

func (c checker) sameJSON(want, got []byte) {
	c.t.Helper()
	var w, g any
	c.decode(want, &w)
	c.decode(got, &g)
	if diff := cmp.Diff(w, g); diff != "" {
		c.t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func (c checker) parts(r recorded, want json.RawMessage) {
	c.t.Helper()
	_, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		c.t.Fatal(err)
	}
	var got []string
	reader := multipart.NewReader(bytes.NewReader(r.body), parameters["boundary"])
	for {
		p, err := reader.NextPart()
		if err != nil {
			break
		}
		body, _ := io.ReadAll(p)
		got = append(got, fmt.Sprint(p.FormName(), "|", p.FileName(), "|", p.Header.Get("Content-Type"), "|", string(body)))
	}
	for _, item := range elements(want) {
		o := objectOf(item)
		body := o.text("body")
		if o["json"] != nil {
			body = string(o["json"])
		}
		found := slices.ContainsFunc(got, func(s string) bool {
			f := strings.SplitN(s, "|", 4)
			return f[0] == o.text("name") && f[1] == o.text("filename") && (o["content_type"] == nil || f[2] == o.text("content_type")) && f[3] == body
		})
		if !found {
			c.t.Errorf("there is no part %s among %q", item, got)
		}
	}
	if len(got) != len(elements(want)) {
		c.t.Errorf("parts are %q", got)
	}
}

func TestSlipsOfTheAuthorCostThemselves(t *testing.T) {
	var c caseFile
	readYAML(t, "testdata/cases/yaml-scalars.yaml", &c)
	s, err := Load(t.Context(), Location{Bytes: c.Spec}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Report("slip")
	if r.Operations != 4 || r.Tools != 4 || len(r.Skipped) != 0 {
		t.Errorf("report is %+v", r)
	}
	want := []string{"/paths/~1q/get/parameters/0/required", "/paths/~1r/get/responses/200"}
	for _, pointer := range want {
		if !slices.ContainsFunc(r.Degraded, func(n Note) bool { return n.Pointer == pointer && n.Reason != "" }) {
			t.Errorf("nothing is said of %s: %+v", pointer, r.Degraded)
		}
	}
}

func TestServersOfEachLevel(t *testing.T) {
	var c caseFile
	readYAML(t, "testdata/cases/server-override-levels.yaml", &c)
	s := newSource(t, Options{Spec: Location{Bytes: c.Spec}}, "")
	if _, err := s.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"byPath": "https://path.case.example/p/w", "byOp": "https://eu.case.example/v2/w", "byRoot": "https://api.case.example/v1/r"}
	for _, o := range s.spec.operations {
		compiled, err := s.spec.compile(o)
		if err != nil {
			t.Fatal(err)
		}
		server, err := s.where(s.spec, compiled)
		if err != nil {
			t.Fatal(err)
		}
		out, err := compiled.build(json.RawMessage("{}"), server, nil)
		if err != nil || out.url.String() != want[o.operationID] {
			t.Errorf("%s: %v, %v, want %s", o.operationID, out.url, err, want[o.operationID])
		}
		if trusted := s.trusted(netguard.Origin(server)); trusted != (o.operationID == "byRoot") {
			t.Errorf("%s: credentials are sent to %s: %t", o.operationID, server, trusted)
		}
	}
}
