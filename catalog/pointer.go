package catalog

import "strings"

// maxPointer bounds a pointer in an error: keys may be of any length.
const maxPointer = 256

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer is the JSON pointer (RFC 6901) of a path.
func pointer(path []string) string {
	var b strings.Builder
	for _, key := range path {
		b.WriteByte('/')
		if b.Len() > maxPointer {
			b.WriteString("…")
			break
		}
		b.WriteString(pointerEscapes.Replace(cut(key, maxPointer/2)))
	}
	return b.String()
}
