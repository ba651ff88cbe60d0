package catalog

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzDecode: what decode takes, the standard library reads as the same value,
// and its canonical form is a fixed point.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"a":[1,2.50,1e3,-0,{"b":null}],"c":"\ud83e\uddf5\u0000\\\""}`, `{"a":1,"a":2}`, `{"a":"\ud800"}`,
		`{"n":4E31322574}`, `[[[[]]]]`, " \t{ } ", `"\udfff\u"`, `1E-400`, `0.1e+2`, `9007199254740993.0`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := decode(text)
		if err != nil {
			if !utf8.ValidString(err.Error()) || len(err.Error()) > 2000 {
				t.Fatalf("error %q", err)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatal("took what is not JSON")
		}
		canonical, err := encode(value)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(canonical)
		if err != nil {
			t.Fatalf("the canonical form %s is refused: %v", canonical, err)
		}
		if twice, _ := encode(again); !bytes.Equal(canonical, twice) {
			t.Fatalf("the canonical form changes: %s, then %s", canonical, twice)
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, value, cmp.Comparer(sameNumber)); diff != "" {
			t.Fatalf("the standard library reads another value (-std +ours):\n%s", diff)
		}
	})
}

func sameNumber(a, b json.Number) bool {
	x, ok1 := new(big.Rat).SetString(string(a))
	y, ok2 := new(big.Rat).SetString(string(b))
	return ok1 && ok2 && x.Cmp(y) == 0
}

// FuzzCheckID: a legal id is matched by the globs made of it, and an illegal one
// is told so in a short message.
func FuzzCheckID(f *testing.F) {
	for _, seed := range []string{"orders.refund", "a.b.c", "a..b", ".", "*", "a.*", "é.b", "A-1.b_2", strings.Repeat("a", 65)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if err := CheckID(id); err != nil {
			if len(err.Error()) > 600 || !utf8.ValidString(err.Error()) {
				t.Fatalf("error %q", err)
			}
		} else {
			namespace, _, _ := strings.Cut(id, ".")
			for _, glob := range []string{"*", id, namespace + ".*"} {
				if err := CheckGlob(glob); err != nil || !matchGlob(glob, id) {
					t.Fatalf("glob %q does not match %q (%v)", glob, id, err)
				}
			}
			if matchGlob(id+".*", id) || strings.ContainsAny(id, "*/ \n") {
				t.Fatalf("id %q", id)
			}
		}
		if CheckGlob(id) != nil && matchGlob(id, "orders.refund") {
			t.Fatalf("the malformed glob %q matches", id)
		}
	})
}

// FuzzPointer: a pointer leads back to its path, and is bounded.
func FuzzPointer(f *testing.F) {
	f.Add("a/b", "~1", "")
	f.Add("é", "0", strings.Repeat("~", 500))
	f.Fuzz(func(t *testing.T, a, b, c string) {
		p := pointer([]string{a, b, c})
		if len(p) > 4*maxPointer {
			t.Fatalf("pointer has %d bytes", len(p))
		}
		if len(a)+len(b)+len(c) > maxPointer/4 {
			return
		}
		parts := strings.Split(p, "/")
		for i, want := range []string{"", a, b, c} {
			if got := strings.ReplaceAll(strings.ReplaceAll(parts[i], "~1", "/"), "~0", "~"); got != want {
				t.Fatalf("part %d of %q is %q, want %q", i, p, got, want)
			}
		}
	})
}

// FuzzPatterns: no pattern and no text makes the engine fail.
func FuzzPatterns(f *testing.F) {
	f.Add(`^(?!a)[^]*$`, "abc")
	f.Add(`(a|b)\1{2,}`, "aaa")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if re, err := compilePattern(pattern); err == nil {
			re.MatchString(clip(text, 1000))
		}
	})
}
