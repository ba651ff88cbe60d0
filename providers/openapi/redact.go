package openapi

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"slices"
)

// minSecret is the length under which a value is not searched for: it would be
// found in words that it has nothing to do with.
const minSecret = 6

// redact takes secrets out of a text: their exact values, also in base64, URL and
// JSON form. What merely looks like a secret stays.
func redact(text []byte, secrets []string) []byte {
	var forms []string
	for _, secret := range secrets {
		if len(secret) < minSecret {
			continue
		}
		quoted := string(must(encode(secret)))
		forms = append(
			forms, secret, url.QueryEscape(secret), url.PathEscape(secret), escape(secret, ""), quoted[1:len(quoted)-1],
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		)
	}
	// The longest first: a form may be part of another.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	for _, form := range forms {
		text = bytes.ReplaceAll(text, []byte(form), []byte("[redacted]"))
	}
	return text
}
