package outline

import "unicode/utf8"

const hex = "0123456789abcdef"

// AppendString appends a string as JSON. Invalid UTF-8 becomes U+FFFD.
func AppendString(out []byte, text string) []byte {
	out = append(out, '"')
	plain := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				out = append(out, text[plain:i]...)
				out = append(out, "\ufffd"...)
				plain = i + size
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			out = append(out, text[plain:i]...)
			out = appendEscape(out, c)
			plain = i + 1
		}
		i++
	}
	out = append(out, text[plain:]...)
	return append(out, '"')
}

func appendEscape(out []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(out, '\\', c)
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	default:
		return append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
	}
}
