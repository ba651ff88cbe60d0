package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
)

// validate checks one value and fails the test where the schema is at fault.
func validate(t *testing.T, schema, value string) []catalog.Violation {
	t.Helper()
	violations, err := catalog.Validate(json.RawMessage(schema), json.RawMessage(value))
	if err != nil {
		t.Fatalf("schema %s, value %s: %v", schema, value, err)
	}
	return violations
}

func TestViolationsReadWell(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"type":"integer"}`, `"7"`, ` is a string, want integer`},
		{`{"type":["string","null"]}`, `7`, ` is a number, want string or null`},
		{`{"type":"integer"}`, `1.5`, ` is a number, want integer`},
		{`{"required":["a","b"]}`, `{}`, `/a is required; /b is required`},
		{`{"properties":{"c":{"required":["n"]}}}`, `{"c":{}}`, `/c/n is required`},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"b":1,"x/y~z":2}`, `/b is not a known property; /x~1y~0z is not a known property`},
		{`{"enum":["EUR","USD",3]}`, `"GBP"`, ` must be one of "EUR", "USD", 3`},
		{`{"const":true}`, `false`, ` must be true`},
		{`{"format":"date-time"}`, `"yesterday"`, ` is not of the format "date-time"`},
		{`{"format":"email"}`, `"nobody"`, ` is not of the format "email"`},
		{`{"pattern":"^A-[0-9]+$"}`, `"B-1"`, ` does not match the pattern "^A-[0-9]+$"`},
		{`{"minimum":1,"maximum":5}`, `0`, ` must be at least 1`},
		{`{"maximum":0.5}`, `1`, ` must be at most 0.5`},
		{`{"exclusiveMinimum":0}`, `0`, ` must be greater than 0`},
		{`{"exclusiveMaximum":9007199254740993}`, `9007199254740993`, ` must be less than 9007199254740993`},
		{`{"multipleOf":0.01}`, `0.001`, ` must be a multiple of 0.01`},
		{`{"minLength":2}`, `"x"`, ` has 1 characters, want at least 2`},
		{`{"maxLength":1}`, `"🧵🧵"`, ` has 2 characters, want at most 1`},
		{`{"minItems":1}`, `[]`, ` has 0 items, want at least 1`},
		{`{"maxItems":1}`, `[1,2]`, ` has 2 items, want at most 1`},
		{`{"minProperties":1}`, `{}`, ` has 0 properties, want at least 1`},
		{`{"maxProperties":0}`, `{"a":1}`, ` has 1 properties, want at most 0`},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, ` has equal items at 0 and 2, and all must differ`},
		{`{"items":{"type":"string"}}`, `["a",1,"b",2]`, `/1 is a number, want string; /3 is a number, want string`},
		{`{"prefixItems":[{"type":"string"}],"items":false}`, `["a",1]`, `/1 is not allowed here`},
		{`{"contains":{"type":"string"}}`, `[1]`, ` has no item of the kind that is wanted`},
		{`{"contains":{"type":"string"},"minContains":2}`, `["a"]`, ` has 1 items of the kind that is wanted, want at least 2`},
		{`{"not":{"type":"string"}}`, `"a"`, ` fits a schema that it must not fit`},
		{`false`, `1`, ` is not allowed here`},
		{`{"propertyNames":{"maxLength":2}}`, `{"abc":1}`, `/abc has a name that is not allowed`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `/b is required beside "a"`},
		{`{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `/a is required; /b is required`},
		{`{"$ref":"#/$defs/p","$defs":{"p":{"required":["n"]}}}`, `{}`, `/n is required`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, `/b is required`},
		{`{"unevaluatedProperties":false,"properties":{"a":{}}}`, `{"b":1}`, `/b is not allowed here`},
	} {
		if got := line(validate(t, c.schema, c.value)); got != c.want {
			t.Errorf("%s against %s: %q, want %q", c.value, c.schema, got, c.want)
		}
	}
}

// TestAlternativesReadWell: of an anyOf or oneOf the alternative that was meant
// is explained, not all of them.
func TestAlternativesReadWell(t *testing.T) {
	shapes := `{"oneOf":[
		{"properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},
		{"properties":{"kind":{"const":"square"},"a":{"type":"number"}},"required":["kind","a"]}]}`
	for _, c := range []struct{ schema, value, want string }{
		{`{"anyOf":[{"type":"null"},{"type":"object","required":["a"]}]}`, `{}`, `/a is required`},
		{`{"anyOf":[{"type":"null"},{"type":"string","maxLength":1}]}`, `"ab"`, ` has 2 characters, want at most 1`},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `true`, ` fits none of 2 alternatives: is a boolean, want string; or is a boolean, want integer`},
		{`{"anyOf":[{"required":["who"]},{"required":["where"]}]}`, `{}`, ` fits none of 2 alternatives: /who is required; or /where is required`},
		{shapes, `{"kind":"circle"}`, `/r is required`},
		{shapes, `{"kind":"square","a":"x"}`, `/a is a string, want number`},
		{shapes, `{"kind":"line"}`, ` fits none of 2 alternatives: /kind must be "circle"; or /kind must be "square"`},
		{`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `3`, ` fits more than one of the alternatives of which it must fit exactly one (numbers 1 and 2)`},
		{`{"items":{"anyOf":[{"type":"null"},{"properties":{"p":{"type":"string"}}}]}}`, `[{"p":1}]`, `/0/p is a number, want string`},
	} {
		if got := line(validate(t, c.schema, c.value)); got != c.want {
			t.Errorf("%s against %.60s: %q, want %q", c.value, c.schema, got, c.want)
		}
	}
}

// line writes violations as a message does.
func line(violations []catalog.Violation) string {
	var parts []string
	for _, v := range violations {
		parts = append(parts, v.Pointer+" "+v.Message)
	}
	return strings.Join(parts, "; ")
}

// TestViolationsAreAlwaysTheSame: the validator walks maps, and the answer goes
// into histories that are compared.
func TestViolationsAreAlwaysTheSame(t *testing.T) {
	schema := `{"additionalProperties":{"anyOf":[{"type":"string"},{"type":"object","required":["x","y"]}]}}`
	var value strings.Builder
	for i := range 40 {
		fmt.Fprintf(&value, `,"k%d":{}`, i)
	}
	text := "{" + value.String()[1:] + "}"
	first := validate(t, schema, text)
	for range 20 {
		if diff := cmp.Diff(first, validate(t, schema, text)); diff != "" {
			t.Fatalf("the same value is judged differently:\n%s", diff)
		}
	}
}

func TestViolationsDoNotQuoteTheValue(t *testing.T) {
	const secret = "hunter2-hunter2"
	for _, schema := range []string{
		`{"type":"object"}`, `{"enum":["a"]}`, `{"const":"a"}`, `{"format":"date"}`, `{"format":"email"}`, `{"format":"ipv4"}`, `{"format":"uri"}`,
		`{"format":"uuid"}`, `{"format":"regex","pattern":"x"}`, `{"pattern":"^x$"}`, `{"minLength":99}`, `{"maxLength":1}`, `{"not":{}}`, `false`, `{"anyOf":[{"const":"a"},{"const":"b"}]}`,
	} {
		if got := line(validate(t, schema, `"`+secret+`"`)); got == "" && schema != `{"format":"regex","pattern":"x"}` || strings.Contains(got, secret) {
			t.Errorf("%s: %q", schema, got)
		}
	}
}

func TestSharedDraftMix(t *testing.T) {
	var c struct {
		Schemas []struct {
			S    json.RawMessage `json:"s"`
			Good json.RawMessage `json:"good"`
			Bad  json.RawMessage `json:"bad"`
			Load string          `json:"load"`
		} `json:"schemas"`
	}
	sharedCase(t, "js-draft-mix.json", &c)
	for _, s := range c.Schemas {
		if s.Load != "" {
			if _, err := catalog.Validate(s.S, json.RawMessage("{}")); err == nil || !strings.Contains(err.Error(), "never fetched") {
				t.Errorf("%s: error is %v, want the reference refused", s.S, err)
			}
			continue
		}
		if s.Good != nil {
			if v := validate(t, string(s.S), string(s.Good)); len(v) > 0 {
				t.Errorf("%s refuses %s: %v", s.S, s.Good, v)
			}
		}
		if s.Bad != nil {
			if v := validate(t, string(s.S), string(s.Bad)); len(v) == 0 {
				t.Errorf("%s takes %s", s.S, s.Bad)
			}
		}
	}
}

func TestSharedLookahead(t *testing.T) {
	var c struct {
		Schema    json.RawMessage `json:"schema"`
		Instances []struct {
			V     json.RawMessage `json:"v"`
			Valid any             `json:"valid"`
		} `json:"instances"`
	}
	sharedCase(t, "js-ecma-lookahead.json", &c)
	if err := catalog.CheckSchema(c.Schema); err != nil {
		t.Fatal(err)
	}
	for _, i := range c.Instances {
		want := i.Valid == true // every pattern is enforced
		if v := validate(t, string(c.Schema), string(i.V)); (len(v) == 0) != want {
			t.Errorf("%s: violations %v, want valid %v", i.V, v, want)
		}
	}
}

func TestSharedHugeExponent(t *testing.T) {
	var c struct {
		Schema    json.RawMessage `json:"schema"`
		Instances []string        `json:"instances_raw"`
	}
	sharedCase(t, "js-huge-exponent.json", &c)
	b := broker(t, of("s", withSchema(read("a.b"), string(c.Schema))))
	for i, input := range c.Instances {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		out := do(t, b, "a.b", input)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if refused := out.Error != nil; refused != (i < 3) {
			t.Errorf("%s: error is %v", input, out.Error)
		}
		if took > 10*time.Minute || after.TotalAlloc-before.TotalAlloc > 50<<20 {
			t.Errorf("%s took %s and %d bytes", input, took, after.TotalAlloc-before.TotalAlloc)
		}
	}
}

func TestSharedIntegerAsFloat(t *testing.T) {
	var c struct {
		Schema    json.RawMessage `json:"schema"`
		Instances []struct {
			V     string `json:"v"`
			Valid bool   `json:"valid"`
		} `json:"instances_raw"`
	}
	sharedCase(t, "js-integer-as-float.json", &c)
	for _, i := range c.Instances {
		if v := validate(t, string(c.Schema), i.V); (len(v) == 0) != i.Valid {
			t.Errorf("%s: violations %v, want valid %v", i.V, v, i.Valid)
		}
	}
}

func TestSharedNaNInf(t *testing.T) {
	var c struct {
		Schema json.RawMessage `json:"schema"`
		Values []string        `json:"script_values"`
	}
	sharedCase(t, "js-nan-inf.json", &c)
	b := broker(t, of("s", withSchema(read("a.b"), string(c.Schema))))
	for _, v := range c.Values {
		out := do(t, b, "a.b", `{"n":`+v+`}`)
		if v == "-0" {
			if out.Error != nil {
				t.Errorf("%s: %v", v, out.Error)
			}
			continue
		}
		wantError(t, out.Error, catalog.CodeInvalidInput)
	}
}

// TestSharedDefinitions: $defs, definitions, anyOf and additionalProperties of
// one schema all count.
func TestSharedDefinitions(t *testing.T) {
	var c struct {
		Descriptors []struct {
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"descriptors"`
		Calls []struct {
			Arguments json.RawMessage `json:"arguments"`
			Valid     bool            `json:"valid"`
		} `json:"calls"`
	}
	sharedCase(t, "mcp-defs-and-additional-dropped.json", &c)
	for _, call := range c.Calls {
		if v := validate(t, string(c.Descriptors[0].InputSchema), string(call.Arguments)); (len(v) == 0) != call.Valid {
			t.Errorf("%s: violations %v, want valid %v", call.Arguments, v, call.Valid)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, fits, not string
	}{
		{`^[a-z]+$`, "abc", "Abc"},
		{`^\d+$`, "123", "१२३"},
		{`^(?!admin$)[a-z-]+$`, "ok", "admin"},
		{`^(?=.*\d).{4,}$`, "abc1", "abcd"},
		{`(?<=\$)\d+`, "$5", "5"},
		{`^(a|b)\1$`, "aa", "ab"},
		{`^\p{L}+$`, "äß", "a1"},
		{`^\p{Lu}(?=x)`, "Äx", "äx"},
		{`^(?<y>\d{4})-(?<m>\d{2})$`, "2026-11", "26-11"},
		{`^[^]{2}$`, "a\n", "a"},
		{`^\cA$`, "\x01", "A"},
		{`^\u{1F9F5}$`, "🧵", "u"},
	} {
		schema, _ := json.Marshal(map[string]any{"pattern": c.pattern})
		if err := catalog.CheckSchema(schema); err != nil {
			t.Errorf("%s is refused: %v", c.pattern, err)
			continue
		}
		for text, want := range map[string]bool{c.fits: true, c.not: false} {
			value, _ := json.Marshal(text)
			if v := validate(t, string(schema), string(value)); (len(v) == 0) != want {
				t.Errorf("pattern %s, text %q: violations %v, want a match %v", c.pattern, text, v, want)
			}
		}
	}
}

// TestUnusablePattern: strict where the author can mend it, lax in a call.
func TestUnusablePattern(t *testing.T) {
	captureLog(t)
	schema := `{"type":"object","properties":{"pattern":{"type":"string","pattern":"[a-"}},
		"patternProperties":{"^(x":{"type":"integer"}},"additionalProperties":false,"default":{"pattern":"[a-"}}`
	if err := catalog.CheckSchema(json.RawMessage(schema)); err == nil {
		t.Error("CheckSchema takes a pattern that is no regular expression")
	}
	for value, want := range map[string]string{
		`{"pattern":"anything","x1":"anything"}`: "",
		`{"pattern":5}`:                          "/pattern is a number, want string",
	} {
		if got := line(validate(t, schema, value)); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

// TestRunawayPattern: backtracking is cut off, and the value refused.
func TestRunawayPattern(t *testing.T) {
	captureLog(t)
	began := time.Now()
	v := validate(t, `{"pattern":"^(?=(a+)+$)(a+)+$"}`, `"`+strings.Repeat("a", 5000)+`!"`)
	if took := time.Since(began); len(v) == 0 || took > 10*time.Minute {
		t.Errorf("violations %v after %s", v, took)
	}
}

func TestSchemaIsBounded(t *testing.T) {
	for name, schema := range map[string]string{
		"bytes":   `{"description":"` + strings.Repeat("x", catalog.MaxSchema) + `"}`,
		"depth":   strings.Repeat(`{"not":`, 5000) + "true" + strings.Repeat("}", 5000),
		"pattern": `{"pattern":"` + strings.Repeat("x", 1<<17) + `"}`,
	} {
		if err := catalog.CheckSchema(json.RawMessage(schema)); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s: error is %.200v, want a short one", name, err)
		}
	}
}

func TestSchemaThatRefersToItself(t *testing.T) {
	tree := `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/n"}}},"additionalProperties":false}}}`
	if v := validate(t, tree, `{"kids":[{"kids":[{}]},{}]}`); len(v) > 0 {
		t.Error(v)
	}
	if got := line(validate(t, tree, `{"kids":[{"kids":[{"x":1}]}]}`)); got != "/kids/0/kids/0/x is not a known property" {
		t.Error(got)
	}
	loop := `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`
	if got := line(validate(t, loop, `{}`)); !strings.Contains(got, "refers to itself") {
		t.Errorf("a loop: %q", got)
	}
}

// TestSchemaThatMultiplies: its alternatives refer back to it, so that each
// level of the value doubles the work.
func TestSchemaThatMultiplies(t *testing.T) {
	schema := `{"type":"object","$ref":"#/$defs/n","$defs":{"n":{"anyOf":[
		{"properties":{"a":{"$ref":"#/$defs/n"}},"required":["z"]},
		{"properties":{"a":{"$ref":"#/$defs/n"}},"required":["y"]}]}}}`
	nested := func(levels int) string { return strings.Repeat(`{"a":`, levels) + "{}" + strings.Repeat("}", levels) }
	tool := withFunction(withSchema(read("a.b"), schema), func(context.Context, catalog.Call) (json.RawMessage, error) {
		t.Error("the tool was called")
		return nil, nil
	})
	b := broker(t, of("s", tool))
	wantError(t, do(t, b, "a.b", nested(5)).Error, catalog.CodeInvalidInput)
	began := time.Now()
	err := wantError(t, do(t, b, "a.b", nested(90)).Error, catalog.CodeTooLarge)
	if took := time.Since(began); took > 10*time.Minute || !strings.Contains(err.Message, "too many steps") {
		t.Errorf("%v after %s", err, took)
	}
	wantError(t, do(t, b, "a.b", nested(5)).Error, catalog.CodeInvalidInput) // the budget is per call
}
