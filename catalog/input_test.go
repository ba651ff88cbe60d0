package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
)

func TestInputReachesTheToolExactly(t *testing.T) {
	b := broker(t, of("s", read("a.b")))
	for input, want := range map[string]string{
		``:                                     `{}`,
		" \n\t":                                `{}`,
		`{}`:                                   `{}`,
		`{"id":9007199254740993}`:              `{"id":9007199254740993}`,
		`{"id":-9223372036854775808}`:          `{"id":-9223372036854775808}`,
		`{"n":123456789012345678901234567890}`: `{"n":123456789012345678901234567890}`,
		`{"n":0.1000}`:                         `{"n":0.1000}`,
		`{"n":1e400,"m":1}`:                    "",
		`{"n":1e308}`:                          `{"n":1e308}`,
		`{"n":1e-320}`:                         `{"n":1e-320}`,
		`{"n":1.0}`:                            `{"n":1}`,
		`{"n":1e3}`:                            `{"n":1000}`,
		`{"n":-1.50e1}`:                        `{"n":-15}`,
		`{"n":12.5E+1}`:                        `{"n":125}`,
		`{"n":1.5}`:                            `{"n":1.5}`,
		`{"n":100e-2}`:                         `{"n":1}`,
		`{"n":0e9}`:                            `{"n":0}`,
		`{"n":0.00}`:                           `{"n":0}`,
		`{"n":-0}`:                             `{"n":-0}`,
		`{"z":1,"a":[ 1 , {"b":null} ]}`:       `{"a":[1,{"b":null}],"z":1}`,
		`{"s":"a\/b<>&\u00e9\ud83e\uddf5\u0000"}`: `{"s":"a/b<>&é🧵\u0000"}`,
		`{"":{"a.b":{}}}`:                         `{"":{"a.b":{}}}`,
	} {
		out := do(t, b, "a.b", input)
		if want == "" {
			wantError(t, out.Error, catalog.CodeInvalidInput)
			continue
		}
		if out.Error != nil || string(out.Result) != want {
			t.Errorf("%s reaches the tool as %s (error %v), want %s", input, out.Result, out.Error, want)
		}
	}
}

func TestUnreadableInput(t *testing.T) {
	b := broker(t, of("s", withFunction(read("a.b"), func(context.Context, catalog.Call) (json.RawMessage, error) {
		t.Error("the tool was called")
		return nil, nil
	})))
	deep := strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)
	for _, c := range []struct{ input, message, pointer string }{
		{`null`, "is null, want a JSON object", ""},
		{`[]`, "is an array, want a JSON object", ""},
		{`"{}"`, "is a string, want a JSON object", ""},
		{`7`, "is a number, want a JSON object", ""},
		{`true`, "is a boolean, want a JSON object", ""},
		{`{"a":1`, "not valid JSON: unexpected end of JSON input (at byte 6)", ""},
		{`{"a":1}}`, "after top-level value (at byte 8)", ""},
		{`{"a":1} {"b":2}`, "after top-level value", ""},
		{`{'a':1}`, "not valid JSON", ""},
		{`{"a":01}`, "not valid JSON", ""},
		{`{"a":NaN}`, "not valid JSON", ""},
		{`{"a":-Infinity}`, "not valid JSON", ""},
		{"{\"a\":\"\xc3\"}", "not valid UTF-8", ""},
		{`{"a":{"b":1,"c":2,"b":3}}`, "occurs twice", "/a/b"},
		{`{"a":1,"\u0061":2}`, "occurs twice", "/a"},
		{`{"a":["\ud800"]}`, "half of a surrogate pair", "/a/0"},
		{`{"a":"\udc00\ud800"}`, "half of a surrogate pair", "/a"},
		{`{"a":"\ud800\\udc00"}`, "half of a surrogate pair", "/a"},
		{`{"\ud83ex":1}`, "half of a surrogate pair", ""},
		{`{"n":4E31322574}`, "exponent", "/n"},
		{`{"n":1e-99999999}`, "exponent", "/n"},
		{`{"n":[1E5000000]}`, "exponent", "/n/0"},
		{`{"n":0E9999999999999999999999}`, "exponent", "/n"},
		{`{"n":1e309}`, "range of a float64", "/n"},
		{`{"n":` + strings.Repeat("9", 400) + `}`, "range of a float64", "/n"},
		{`{"n":0.` + strings.Repeat("9", 2000) + `}`, "2002 characters", "/n"},
		{deep, "nested deeper than 100", strings.Repeat("/a", 100)},
		{strings.Repeat("[", 100_000), "not valid JSON", ""},
	} {
		began := time.Now()
		err := wantError(t, do(t, b, "a.b", c.input).Error, catalog.CodeInvalidInput)
		if took := time.Since(began); took > 10*time.Minute {
			t.Errorf("%.60s took %s", c.input, took)
		}
		if !strings.Contains(err.Message, c.message) {
			t.Errorf("%.60s: message is %q, want one that says %q", c.input, err.Message, c.message)
		}
		pointer := ""
		if len(err.Violations) > 0 {
			pointer = err.Violations[0].Pointer
		}
		if !strings.HasPrefix(pointer, c.pointer[:min(len(c.pointer), 200)]) || (c.pointer == "") != (pointer == "") {
			t.Errorf("%.60s: pointer is %q, want %q", c.input, pointer, c.pointer)
		}
		if len(err.Error()) > 1000 {
			t.Errorf("%.60s: the error has %d bytes", c.input, len(err.Error()))
		}
	}
}

func TestHugeInput(t *testing.T) {
	schema := `{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}`
	b := broker(t, of("s", withSchema(read("a.b"), schema)))
	of := func(size int) string { return `{"a":["` + strings.Repeat("x", size-len(`{"a":[""]}`)) + `"]}` }
	if out := do(t, b, "a.b", of(catalog.MaxInput)); out.Error != nil {
		t.Errorf("the longest input: %v", out.Error)
	}
	wantError(t, do(t, b, "a.b", of(catalog.MaxInput+1)).Error, catalog.CodeTooLarge)

	many := `{"a":[` + strings.Repeat(`"",`, 200_000) + `""]}`
	if err := wantError(t, do(t, b, "a.b", many).Error, catalog.CodeInvalidInput); !strings.Contains(err.Message, "more than 100000 values") {
		t.Errorf("message is %q", err.Message)
	}

	// A fault in every item must not become an error as long as the input.
	faulty := `{"a":[` + strings.Repeat("1,", 50_000) + `1]}`
	err := wantError(t, do(t, b, "a.b", faulty).Error, catalog.CodeInvalidInput)
	if len(err.Violations) != 11 || !strings.Contains(err.Violations[10].Message, "more places") {
		t.Errorf("%d violations, the last is %+v", len(err.Violations), err.Violations[len(err.Violations)-1])
	}
}

func TestPrepare(t *testing.T) {
	schema := `{"type":"object","properties":{"amount":{"type":"integer","maximum":50},"currency":{"type":"string"}}}`
	fill := func(input json.RawMessage) (json.RawMessage, error) {
		var in map[string]any
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		if in["currency"] == nil {
			in["currency"] = "EUR"
		}
		return json.Marshal(in)
	}
	var got string
	tool := withFunction(withSchema(write("bank.transfer"), schema), func(_ context.Context, call catalog.Call) (json.RawMessage, error) {
		got = string(call.Input)
		return nil, nil
	})
	tool.Prepare = fill
	b := broker(t, of("s", tool))

	req := catalog.Request{Tool: "bank.transfer", Input: json.RawMessage(`{"amount":40}`)}
	plan := b.Plan(t.Context(), everyone, req)
	if want := `{"amount":40,"currency":"EUR"}`; string(plan.Preview) != want {
		t.Errorf("a person is shown %s, want %s", plan.Preview, want)
	}
	if out := b.Dispatch(t.Context(), everyone, req, plan); out.Error != nil || got != string(plan.Preview) {
		t.Errorf("the tool got %s (error %v), and a person was shown %s", got, out.Error, plan.Preview)
	}
	explicit := b.Plan(t.Context(), everyone, catalog.Request{Tool: "bank.transfer", Input: json.RawMessage(`{"currency":"EUR","amount":40}`)})
	if explicit.InputDigest != plan.InputDigest {
		t.Error("the digest does not cover the completed input")
	}
}

func TestPrepareRefuses(t *testing.T) {
	typed := &catalog.Error{Code: "limit_reached", Message: "no more today"}
	for name, c := range map[string]struct {
		prepare func(json.RawMessage) (json.RawMessage, error)
		want    catalog.Error
	}{
		"an error":       {func(json.RawMessage) (json.RawMessage, error) { return nil, errors.New("amount is too high") }, catalog.Error{Code: catalog.CodeInvalidInput, Message: "the input is refused: amount is too high"}},
		"a typed error":  {func(json.RawMessage) (json.RawMessage, error) { return nil, fmt.Errorf("x: %w", typed) }, *typed},
		"a panic":        {func(json.RawMessage) (json.RawMessage, error) { panic("boom") }, catalog.Error{Code: catalog.CodeInvalidTool, Message: "the tool cannot be used: it panicked while it prepared the input; the worker's log has the details", Hint: "its source must put this right"}},
		"no JSON at all": {func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{`), nil }, catalog.Error{Code: catalog.CodeInvalidInput, Message: "the input is not valid JSON: unexpected end of JSON input (at byte 1)"}},
		"no longer fits": {func(json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{"n":"x"}`), nil }, catalog.Error{
			Code: catalog.CodeInvalidInput, Message: "the input does not fit the tool's schema: /n is a string, want integer",
			Violations: []catalog.Violation{{Pointer: "/n", Message: "is a string, want integer"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tool := withSchema(write("a.b"), `{"type":"object","properties":{"n":{"type":"integer"}}}`)
			tool.Prepare = c.prepare
			plan := broker(t, of("s", tool)).Plan(t.Context(), everyone, catalog.Request{Tool: "a.b"})
			c.want.Tool, c.want.Effect = "a.b", catalog.EffectNone
			if diff := cmp.Diff(catalog.Plan{Tool: "a.b", Error: &c.want}, plan); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}
