package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// TestErrorsPointAtTheSource marks the place that an error must name by ¦ and
// takes the mark out before the snippet runs.
func TestErrorsPointAtTheSource(t *testing.T) {
	e := newEngine(t, engine.Options{})
	tests := []struct{ name, source, code, message string }{
		{"throw", "const a = 1;\nthrow ¦new Error('no')", "exception", "no"},
		{"property of null", "interface A { x: number }\nconst o: any = null;\n\n  return o.¦x.y", "exception", "Cannot read property 'x' of undefined"},
		{"after Unicode on the line", "const s = 'éé😀'; (null as any).¦foo", "exception", "Cannot read property 'foo' of undefined"},
		{"after Unicode in a regular expression", "const s = /é😀\\p{L}/u; (null as any).¦foo", "exception", "Cannot read property 'foo' of undefined"},
		{"in a fence", "```typescript\nconst a = 1;\n¦boom();\n```\n", "exception", "boom is not defined"},
		{"in a fence after blank lines", "\n\n~~~ts\n¦boom();\n~~~", "exception", "boom is not defined"},
		{"carriage returns", "const a: number = 1;\r\n\r\n¦boom();\r\n", "exception", "boom is not defined"},
		{"first line", "¦boom()", "exception", "boom is not defined"},
		{"after types and enums", "enum E { A, B }\ntype T<X> = X extends string ? 1 : 2;\nfunction f<X>(x: X): asserts x {}\n¦boom();", "exception", "boom is not defined"},
		{"after helpers", "using r = { [Symbol.dispose]() {} };\n¦boom();", "exception", "boom is not defined"},
		{"in a nested function", "const f = (n: number) => {\n\tif (n === 0) throw ¦new RangeError('deep');\n\tf(n - 1);\n};\nf(3)", "exception", "deep"},
		{"in a callback", "[1].map((x: any) => x.a.¦b)", "exception", "Cannot read property 'b' of undefined"},
		{"in an exported function", "export default async function () {\n  ¦boom();\n}", "exception", "boom is not defined"},
		{"syntax", "const a = ;\n", "syntax_error", "Unexpected \";\""},
		{"syntax after Unicode", "const s = 'é😀'; const ¦= 1", "syntax_error", "Expected identifier but found \"=\""},
		{"syntax in a fence", "```\nlet x = 1;\nlet ¦x = 2;\n```", "syntax_error", "The symbol \"x\" has already been declared"},
		{"unclosed brace", "if (true) {\n  1¦", "syntax_error", "Unexpected end of the snippet"},
		{"unclosed string", "const s = \"abc¦\n", "syntax_error", "Unterminated string literal"},
		{"import", "import ¦{ a } from 'b';", "syntax_error", "import is not available"},
		{"import of a package", "const a = 1;\nimport ¦fs from 'fs';", "syntax_error", "import is not available"},
		{"export list", "const a = 1;\n¦export { a };", "syntax_error", "this export is not available"},
		{"namespace", "namespace ¦A { export const x = 1 }", "syntax_error", "namespaces are not available"},
		{"await in a plain function", "function f() { ¦await orders.get({}) }", "syntax_error", "\"await\" can only be used inside an \"async\" function"},
		{"assignment to a constant", "const a = 1;\n¦a = 2;", "exception", "Assignment to constant variable"},
		{"bad regular expression", "const r = ¦/(/;", "syntax_error", "Unterminated group"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, after, marked := strings.Cut(tt.source, "¦")
			end, _, _ := play(t, e, program(before+after), echo)
			if end.Error == nil || end.Error.Code != tt.code || !strings.Contains(end.Error.Message, tt.message) {
				t.Fatalf("error = %+v, want %s: %s", end.Error, tt.code, tt.message)
			}
			if !marked {
				return
			}
			lines := strings.Split(before, "\n")
			want := snippet.Position{Line: len(lines), Column: len([]rune(lines[len(lines)-1])) + 1}
			if at := end.Error.Position; at == nil || *at != want {
				t.Errorf("%s at %+v, want %+v", end.Error.Message, at, want)
			}
		})
	}
}

func TestSourceMapCommentsOpenNothing(t *testing.T) {
	e := newEngine(t, engine.Options{})
	for _, comment := range []string{"//# sourceMappingURL=/dev/urandom", "//# sourceMappingURL=data:application/json;base64,e30=", "//@ sourceMappingURL=http://localhost:1/x"} {
		end, _, _ := play(t, e, program("return 1;\n"+comment), echo)
		if string(end.Result) != "1" {
			t.Errorf("%s: %s, %v", comment, end.Result, end.Error)
		}
	}
}

func TestABraceTooManyIsASyntaxError(t *testing.T) {
	e := newEngine(t, engine.Options{})
	for _, source := range []string{"}", "return 1 }\nasync function other() {", "} while (true) {} {", "return 1; }; function __snippet() {"} {
		end, _, _ := play(t, e, program(source), echo)
		if end.Error == nil || end.Error.Code != snippet.CodeSyntax {
			t.Errorf("%q ended with %s, %v", source, end.Result, end.Error)
		}
	}
}

func TestErrorsTellWhatLedToThem(t *testing.T) {
	e := newEngine(t, engine.Options{})
	end, _, _ := play(t, e, program("try { await Promise.any([Promise.reject(new Error('a')), Promise.reject('b')]) }\ncatch (e) { throw new Error('outer', { cause: e }) }"), echo)
	problem := end.Error
	if problem == nil || problem.Message != "outer" || len(problem.Causes) != 1 || problem.Causes[0].Name != "AggregateError" {
		t.Fatalf("error = %+v", problem)
	}
	members := problem.Causes[0].Causes
	if len(members) != 2 || members[0].Message != "a" || members[0].Position.Line != 1 || !strings.Contains(members[1].Message, "b") {
		t.Errorf("members = %+v", members)
	}
}

func TestThrownValuesAreTold(t *testing.T) {
	e := newEngine(t, engine.Options{})
	for source, want := range map[string]string{
		`throw "text"`:              "text",
		`throw { code: 4 }`:         "{code: 4}",
		`throw null`:                "null",
		`throw undefined`:           "undefined",
		`await Promise.reject(5)`:   "5",
		`throw Object.create(null)`: "{}",
		`class E extends Error {}; throw new E("sub")`: "sub",
	} {
		end, _, _ := play(t, e, program(source), echo)
		if end.Error == nil || end.Error.Code != snippet.CodeException || !strings.Contains(end.Error.Message, want) {
			t.Errorf("%s: %+v, want %q", source, end.Error, want)
		}
	}
}

func TestMissingGlobalsComeWithAHint(t *testing.T) {
	e := newEngine(t, engine.Options{})
	for source, hint := range map[string]string{
		`await fetch("http://a.b")`:  "no network",
		`const fs = require("fs")`:   "no modules",
		`await import("node:fs")`:    "no modules",
		`process.env.HOME`:           "no environment",
		`Buffer.from("a", "base64")`: "Uint8Array",
	} {
		end, _, _ := play(t, e, program(source), echo)
		if end.Error == nil || !strings.Contains(end.Error.Hint, hint) {
			t.Errorf("%s: %+v, want hint %q", source, end.Error, hint)
		}
	}
}

func TestLimitsTellWhereTheSnippetWas(t *testing.T) {
	e := newEngine(t, engine.Options{Limits: snippet.Limits{CPU: 2 * time.Second, Wall: time.Minute}})
	tests := []struct {
		name, source, code string
		line               int
	}{
		{"processor", "const a = 1;\nlet n = 0;\nwhile (true) { n++ }", snippet.CodeCPU, 3},
		{"stack", "function f(): any {\n  return f();\n}\nf()", snippet.CodeStack, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			end, _, _ := play(t, e, program(tt.source), echo)
			if end.Error == nil || end.Error.Code != tt.code || end.Error.Hint == "" {
				t.Fatalf("error = %+v", end.Error)
			}
			if end.Error.Position == nil || end.Error.Position.Line != tt.line {
				t.Errorf("position = %+v, want line %d", end.Error.Position, tt.line)
			}
		})
	}
}
