package secrets_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/secrets"
)

const canary = `c4nary+/é"<&>\ ;Kq8Zr` + "\n" + `Tt7Wb2Yx`

func knowing(values ...string) *secrets.Redactor {
	r := &secrets.Redactor{}
	for _, value := range values {
		r.Hide("acme", []byte(value))
	}
	return r
}

// jsonText writes a text as the inside of a JSON string.
func jsonText(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text[1 : len(text)-1])
}

// encodings are the ways in which a value may come back.
func encodings(t *testing.T, value string) map[string]string {
	t.Helper()
	forms := map[string]string{
		"plain":           value,
		"query":           url.QueryEscape(value),
		"path":            url.PathEscape(value),
		"query twice":     url.QueryEscape(url.QueryEscape(value)),
		"json":            jsonText(t, value),
		"json in json":    jsonText(t, jsonText(t, value)),
		"json thrice":     jsonText(t, jsonText(t, jsonText(t, value))),
		"html":            html.EscapeString(value),
		"html in json":    jsonText(t, html.EscapeString(value)),
		"json in query":   url.QueryEscape(jsonText(t, value)),
		"hex":             hex.EncodeToString([]byte(value)),
		"upper hex":       strings.ToUpper(hex.EncodeToString([]byte(value))),
		"go":              strings.Trim(fmt.Sprintf("%q", value), `"`),
		"every byte in %": percentAll(value),
		"every rune in u": unicodeAll(value),
		"mime base64":     wrapped(base64.StdEncoding.EncodeToString([]byte("user:"+value+" and much more")), 16),
		"mime in json":    jsonText(t, wrapped(base64.StdEncoding.EncodeToString([]byte("user:"+value)), 16)),
	}
	for shift := range 3 {
		for name, encoding := range map[string]*base64.Encoding{
			"std": base64.StdEncoding, "raw std": base64.RawStdEncoding, "url": base64.URLEncoding, "raw url": base64.RawURLEncoding,
		} {
			for after := range 3 {
				text := encoding.EncodeToString([]byte("xyz"[:shift] + value + "uvw"[:after]))
				forms[fmt.Sprintf("base64 %s %d %d", name, shift, after)] = text
				forms[fmt.Sprintf("base64 %s %d %d in query", name, shift, after)] = url.QueryEscape(text)
			}
		}
	}
	return forms
}

func percentAll(s string) (out string) {
	for _, b := range []byte(s) {
		out += fmt.Sprintf("%%%02x", b)
	}
	return out
}

func unicodeAll(s string) (out string) {
	for _, r := range s {
		out += fmt.Sprintf(`\u%04X`, r)
	}
	return out
}

func wrapped(s string, width int) (out string) {
	for len(s) > width {
		out += s[:width] + "\r\n"
		s = s[width:]
	}
	return out + s
}

func TestEveryEncodingIsFound(t *testing.T) {
	// The second holds what looks like encodings of every kind.
	for i, value := range []string{canary, `a %41 & ~>?/+ "q" &amp;\u0041<b`} {
		everyEncodingIsFound(t, fmt.Sprint(i), value)
	}
}

func everyEncodingIsFound(t *testing.T, which, value string) {
	r := knowing(value)
	for name, form := range encodings(t, value) {
		if which == "1" && (strings.HasSuffix(name, "thrice") || name == "mime in json") {
			continue // undone together with what the value holds
		}
		t.Run(which+" "+name, func(t *testing.T) {
			for _, around := range [][2]string{{"", ""}, {"before ", " after"}, {`{"a":"`, `"}`}, {"é%41&amp;", "%42\\n"}} {
				text := around[0] + form + around[1]
				got := r.Text("acme", text)
				// Of what was encoded with the value a few characters may stay.
				rest := 0
				if strings.Contains(name, "base64") || strings.Contains(name, "mime") {
					rest = 48
				}
				if !strings.Contains(got, secrets.Mask) || len(got) > len(around[0])+len(around[1])+len(secrets.Mask)+rest {
					t.Errorf("Text(%q) = %q", text, got)
				}
				if around[0] == "before " && (!strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after")) {
					t.Errorf("Text(%q) = %q, and has changed more than the value", text, got)
				}
				doc, err := json.Marshal(map[string]any{"x": []any{1, text}, text: true})
				if err != nil {
					t.Fatal(err)
				}
				clean := r.JSON("acme", doc)
				if !json.Valid(clean) || bytes.Count(clean, []byte(secrets.Mask)) < 2 {
					t.Errorf("JSON(%s) = %s", doc, clean)
				}
			}
		})
	}
}

func TestLookAlikesStay(t *testing.T) {
	r := knowing("sk-live-1234567890abcdef", canary)
	for _, text := range []string{
		`{"nextPageToken":"CAoQAA==","secretary":"Ann","maxTokens":4096,"password":"hunter2"}`,
		"const token = readToken(req)\npassword: string // API_KEY=...",
		"sk-live-1234567890abcdeg", "sk-live-123", "Authorization: Bearer sk-test-1234567890abcdef",
		base64.StdEncoding.EncodeToString([]byte("sk-live-0000000000abcdef")),
		"%zz %4 \\u12 \\q &; &#; &#x; &bogus; %", strings.Repeat("%25", 50), strings.Repeat(`\\`, 51),
		`{"a":"\ud83d\ude00 é \u0000","b":1e3,"c":-0.5}`, "", "a", "\xff\xfe broken \x80 bytes in a text",
	} {
		if got := r.Text("acme", text); got != text {
			t.Errorf("Text(%q) = %q", text, got)
		}
		if got := r.JSON("acme", json.RawMessage(text)); string(got) != text {
			t.Errorf("JSON(%q) = %q", text, got)
		}
	}
}

func TestAValueCutInTwo(t *testing.T) {
	value := "sk-live-1234567890abcdef" // 24 bytes
	r := knowing(value)
	for cut := 1; cut < len(value); cut++ {
		first := r.JSON("acme", json.RawMessage(`{"a":"x `+value[:cut]+`"}`))
		second := r.JSON("acme", json.RawMessage(`["`+value[cut:]+` y"]`))
		joined := strings.TrimSuffix(strings.TrimPrefix(string(first), `{"a":"x `), `"}`) +
			strings.TrimSuffix(strings.TrimPrefix(string(second), `["`), ` y"]`)
		if strings.Contains(joined, value) {
			t.Errorf("cut at %d: %s and %s join to the value", cut, first, second)
		}
		if kept := len(joined) - len(secrets.Mask); kept > len(value)/2 {
			t.Errorf("cut at %d: %s and %s keep %d of its bytes", cut, first, second, kept)
		}
	}
	if got := r.Text("acme", "the service answers 500: it says: "+value[8:]+" was it"); strings.Contains(got, value[12:]) {
		t.Errorf("what a service says begins with a piece: %q", got)
	}
	// A smaller piece, or one that stands elsewhere, is other text.
	for _, text := range []string{"sk-live-", "x " + value[:16] + " y", "x" + value[16:]} {
		if got := r.Text("acme", text); got != text {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
}

func TestTenantsAreApart(t *testing.T) {
	r := &secrets.Redactor{}
	r.Hide("acme", []byte("acme-secret-1"))
	r.Hide("", []byte("app-secret-1"))
	text := "acme-secret-1 app-secret-1"
	for _, test := range []struct{ got, want string }{
		{r.Text("acme", text), "[redacted] [redacted]"},
		{r.Text("other", text), "acme-secret-1 [redacted]"},
		{r.Text("", text), "acme-secret-1 [redacted]"},
		{r.All(text), "[redacted] [redacted]"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestShortValuesAreNotLookedFor(t *testing.T) {
	r := knowing("1234567", "")
	if got := r.Text("acme", "order 1234567"); got != "order 1234567" {
		t.Errorf("Text = %q", got)
	}
}

func TestJSONStaysValid(t *testing.T) {
	r := knowing("12345678", `{"type": "key", "private": "abcdefgh"}`, "long-secret-value", "true,false,null")
	for doc, want := range map[string]string{
		`{"n":12345678,"m":-12345678.5,"k":1234567}`:                 `{"n":"[redacted]","m":"[redacted]","k":1234567}`,
		`[{"type": "key", "private": "abcdefgh"}]`:                   `"[redacted]"`,
		`"{\"type\": \"key\", \"private\": \"abcdefgh\"}"`:           `"[redacted]"`,
		` {"a" : "<long-secret-value>" , "b":"\u003cb>" } `:          ` {"a" : "<[redacted]>" , "b":"\u003cb>" } `,
		`{"long-secret-value":"long-secret-valuelong-secret-value"}`: `{"[redacted]":"[redacted]"}`,
		`{"a":"long-secret-\u0076alue\n"}`:                           `{"a":"[redacted]\n"}`,
		`not json long-secret-value`:                                 `not json [redacted]`,
	} {
		got := string(r.JSON("acme", json.RawMessage(doc)))
		if got != want {
			t.Errorf("JSON(%s) = %s, want %s", doc, got, want)
		}
	}
}

func TestManyValuesLongTextsAndAllAtOnce(t *testing.T) {
	r := &secrets.Redactor{}
	filler := strings.Repeat("All work and no play %41 \\n &amp; makes Jack\na dull boy. ", 60_000) // over 3 MiB
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 100 {
				value := fmt.Sprintf("secret-%d-%d-é", i, n)
				r.Hide("acme", []byte(value))
				if got := r.Text("acme", "x"+url.QueryEscape(value)); got != "x"+secrets.Mask {
					t.Errorf("Text = %q", got)
				}
			}
		})
	}
	all.Wait()
	at := 256<<10 - 7 // over the edge of what is decoded at once
	text := filler[:at] + url.QueryEscape("secret-3-99-é") + filler[at:]
	if got := r.Text("acme", text); got != filler[:at]+secrets.Mask+filler[at:] {
		t.Error("a value in a long text was not found, or more than it was")
	}
}

func TestOldValuesAreForgotten(t *testing.T) {
	if testing.Short() {
		t.Skip("fills the redactor")
	}
	r := &secrets.Redactor{}
	for i := range 20_001 {
		r.Hide("acme", fmt.Appendf(nil, "value-%06d", i))
	}
	if got := r.Text("acme", "value-000000 value-020000"); got != "value-000000 [redacted]" {
		t.Errorf("Text = %q", got)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"a":"x","b":[1,2.5e3,null,"\u00e9\n"]}`, "xyzxyzxy", uint8(3))
	f.Add(`"%41\\u0041&#65;"`, "AAAAAAAA", uint8(0))
	f.Fuzz(func(t *testing.T, text, value string, at uint8) {
		r := knowing(value)
		if !json.Valid([]byte(text)) {
			r.Text("acme", text)
			return
		}
		if got := r.JSON("acme", json.RawMessage(text)); !json.Valid(got) {
			t.Fatalf("JSON(%s) = %s is not valid", text, got)
		}
		if len(value) < secrets.MinLength {
			return
		}
		doc, err := json.Marshal([]string{text[:min(int(at), len(text))] + value + text[min(int(at), len(text)):]})
		if err != nil {
			t.Fatal(err)
		}
		clean := r.JSON("acme", doc)
		if string(clean) == `"`+secrets.Mask+`"` {
			return // the value is JSON, and a part of the document
		}
		var back []string
		if err := json.Unmarshal(clean, &back); err != nil {
			t.Fatal(err)
		}
		if valid := strings.ToValidUTF8(value, "\uFFFD"); valid == value && strings.Contains(back[0], value) && !strings.Contains(secrets.Mask, value) {
			t.Fatalf("the value %q is in %q", value, back[0])
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	var doc bytes.Buffer
	doc.WriteString("[")
	for i := range 10_000 {
		fmt.Fprintf(&doc, `{"id":%d,"name":"order %d","note":"A <b>note</b> of \"some\" length, 100%% sure & then some"},`, i, i)
	}
	doc.WriteString("null]")
	for _, count := range []int{1, 100, 5000} {
		r := &secrets.Redactor{}
		for i := range count {
			r.Hide("acme", fmt.Appendf(nil, "sk-live-%024d-%d", i*7919, i))
		}
		b.Run(fmt.Sprintf("%d values", count), func(b *testing.B) {
			b.SetBytes(int64(doc.Len()))
			b.ReportAllocs()
			for b.Loop() {
				r.JSON("acme", doc.Bytes())
			}
		})
	}
}

// BenchmarkHostileText is what a text costs that is nothing but encodings within one
// another, and what looks like encodings and is none.
func BenchmarkHostileText(b *testing.B) {
	r := &secrets.Redactor{}
	for i := range 100 {
		r.Hide("acme", fmt.Appendf(nil, "sk-live-%024d-%d", i*7919, i))
	}
	for name, piece := range map[string]string{
		"nested":   "%25&amp;%5c\\u0025\\x26#37;%2525&#x26;amp;\n",
		"nearly":   "%2g%%&#xZZ;&amp&;\\u12\\q&&&&#;\n",
		"percent":  "%25",
		"escapes":  `\\`,
		"entities": "&amp;",
		"ands":     "&",
		"breaks":   "\n",
	} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Text("acme", text)
			}
		})
	}
}
