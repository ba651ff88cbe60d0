package secrets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// chunk is how much of a text is decoded at once, in bytes.
const chunk = 256 << 10

// mask returns a text with [Mask] in the place of each value, or nil if it holds
// none.
func (x *index) mask(tenant string, text []byte) []byte {
	spans := x.spans(tenant, text)
	if len(spans) == 0 {
		return nil
	}
	clean := append([]byte(nil), text[:spans[0].start]...)
	end := spans[0].start
	for i, s := range spans {
		if i == 0 || s.start > end {
			clean = append(append(clean, text[end:s.start]...), Mask...)
		}
		end = max(end, s.end)
	}
	return append(clean, text[end:]...)
}

// spans finds the values in a text, in order. They may overlap.
func (x *index) spans(tenant string, text []byte) []span {
	var spans []span
	x.find(tenant, text, func(s span) { spans = append(spans, s) })
	x.begins(tenant, text, func(s span) { spans = append(spans, s) })
	x.ends(tenant, text, func(s span) { spans = append(spans, s) })
	// A chunk reaches as far into the next as an encoded value may be long.
	overlap := min(6*x.longest, chunk)
	var d decoder
	for start := 0; start < len(text); start += chunk {
		part := text[start:min(start+chunk+overlap, len(text))]
		d.all(part, func(v view) {
			found := func(s span) {
				at := v.origin(s)
				spans = append(spans, span{start + at.start, start + at.end})
			}
			x.find(tenant, v.text, found)
			if start == 0 {
				x.begins(tenant, v.text, found)
			}
			if start+len(part) == len(text) {
				x.ends(tenant, v.text, found)
			}
		})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	return spans
}

// maskJSON masks values in a JSON document.
func (x *index) maskJSON(tenant string, doc json.RawMessage) json.RawMessage {
	if !json.Valid(doc) {
		if clean := x.mask(tenant, doc); clean != nil {
			return clean
		}
		return doc
	}
	if x.spansMembers(tenant, doc) {
		return json.RawMessage(`"` + Mask + `"`)
	}
	var out bytes.Buffer
	kept := 0 // up to where doc is in out
	for i := 0; i < len(doc); {
		end, clean := x.maskToken(tenant, doc, i)
		if clean != nil {
			out.Write(doc[kept:i])
			out.Write(clean)
			kept = end
		}
		i = end
	}
	if kept == 0 {
		return doc
	}
	out.Write(doc[kept:])
	return out.Bytes()
}

// spansMembers reports whether a value that is itself JSON, such as a key file, makes
// up a part of the document.
func (x *index) spansMembers(tenant string, doc []byte) (does bool) {
	x.find(tenant, doc, func(s span) {
		does = does || bytes.IndexByte(doc[s.start:s.end], '"') >= 0
	})
	return does
}

// maskToken masks the string or the number that begins at i: nil if it holds no
// value. It returns where the token ends; other characters pass by one.
func (x *index) maskToken(tenant string, doc []byte, i int) (end int, clean []byte) {
	switch c := doc[i]; {
	case c == '"':
		end, escaped := stringEnd(doc, i)
		text := doc[i+1 : end-1]
		if escaped {
			var decoded string
			if err := json.Unmarshal(doc[i:end], &decoded); err != nil {
				return end, nil // cannot be: the document is valid
			}
			text = []byte(decoded)
		}
		if masked := x.mask(tenant, text); masked != nil {
			return end, quote(string(masked))
		}
		return end, nil
	case c == '-' || c >= '0' && c <= '9':
		end := i + 1
		for end < len(doc) && strings.IndexByte("0123456789+-.eE", doc[end]) >= 0 {
			end++
		}
		if x.mask(tenant, doc[i:end]) != nil {
			return end, quote(Mask)
		}
		return end, nil
	default:
		return i + 1, nil
	}
}

// stringEnd finds the end of a string literal, exclusive, and whether there is an
// escape in it.
func stringEnd(doc []byte, i int) (end int, escaped bool) {
	for i++; doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			escaped = true
			i++
		}
	}
	return i + 1, escaped
}

func quote(text string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return []byte(`"` + Mask + `"`) // cannot be: strings encode
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
