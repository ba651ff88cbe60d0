package leak

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// encodings are the ways in which hostile tools write a value.
func encodings(value string) map[string]string {
	escaped, percent := "", ""
	for _, b := range []byte(value) {
		escaped += fmt.Sprintf(`\u%04x`, b)
		percent += fmt.Sprintf("%%%02X", b)
	}
	quarter, half := len(value)/4, len(value)/2
	all := map[string]string{
		"plain":          value,
		"within":         "before " + value + " after",
		"query":          url.QueryEscape(value),
		"path":           url.PathEscape(value),
		"percent":        percent,
		"json":           fmt.Sprintf("%q", value),
		"json-twice":     fmt.Sprintf("%q", fmt.Sprintf("%q", value)),
		"json-escaped":   escaped,
		"percent-json":   url.QueryEscape(fmt.Sprintf("%q", value)),
		"hex":            hex.EncodeToString([]byte(value)),
		"hex-upper":      strings.ToUpper(hex.EncodeToString([]byte(value))),
		"html":           html.EscapeString(value),
		"url":            "https://example.com/?next=1&token=" + url.QueryEscape(value) + "&page=2",
		"first-half":     value[:half],
		"second-half":    value[half:],
		"three-quarters": "it is " + value[:3*quarter],
		"from-a-quarter": value[quarter:] + " was it",
	}
	for shift := range 3 {
		text := []byte(strings.Repeat("x", shift) + value + "yz")
		all[fmt.Sprint("base64-", shift)] = base64.StdEncoding.EncodeToString(text)
		all[fmt.Sprint("base64url-", shift)] = base64.RawURLEncoding.EncodeToString(text)
	}
	lines := ""
	for i, c := range all["base64-0"] {
		if i > 0 && i%19 == 0 {
			lines += "\n"
		}
		lines += string(c)
	}
	all["base64-lines"] = lines
	return all
}

// long holds a value and is long enough to be kept by reference.
func long(value string) string {
	return strings.Repeat("lorem ipsum ", 8000) + value + strings.Repeat(" dolor sit", 100)
}

// ways are the names of the encodings, sorted.
func ways() []string { return slices.Sorted(maps.Keys(encodings(strings.Repeat("x", 40)))) }

// cores are what a text must hold that has three quarters of a value in it, in one
// encoding or another.
func cores(value string) []string {
	var all []string
	middle := func(text string) { all = append(all, text[len(text)/3:len(text)-len(text)/3]) }
	for name, text := range encodings(value) {
		switch name {
		case "plain", "query", "path", "percent", "json", "json-twice", "json-escaped", "percent-json", "hex", "hex-upper", "html":
			middle(text)
		}
		if strings.HasPrefix(name, "base64") && name != "base64-lines" {
			middle(text)
		}
	}
	middle(unescaped(value))
	return all
}

// unescaped is a text without escapes of JSON, however often it was escaped.
func unescaped(text string) string {
	return strings.NewReplacer(`\`, "", `u0026`, "&", `u003c`, "<", `u003e`, ">").Replace(text)
}
