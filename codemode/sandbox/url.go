package sandbox

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/net/idna"
)

// defaultPorts are the schemes that browsers know, with the port that goes without
// saying. Their URLs have a host and a path.
var defaultPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21", "file": ""}

// urlParts are the parts of a URL as JavaScript names them.
type urlParts struct {
	Protocol     string `json:"protocol"`
	Username     string `json:"username"`
	Password     string `json:"password"`
	Hostname     string `json:"hostname"`
	Port         string `json:"port"`
	Pathname     string `json:"pathname"`
	Search       string `json:"search"`
	Hash         string `json:"hash"`
	Special      bool   `json:"special"`
	Hierarchical bool   `json:"hierarchical"`
}

// parseURL gives the parts of a URL as JSON: URL, base or empty.
func (x *execution) parseURL(call goja.FunctionCall) goja.Value {
	text, base := cleanURL(call.Argument(0).String()), cleanURL(call.Argument(1).String())
	parsed, err := url.Parse(text)
	if err != nil {
		return goja.Undefined()
	}
	if !parsed.IsAbs() {
		root, err := url.Parse(base)
		if err != nil || !root.IsAbs() || root.Opaque != "" {
			return goja.Undefined()
		}
		if parsed.String() == "" {
			root.Fragment, root.RawFragment = "", ""
		}
		parsed = root.ResolveReference(parsed)
	}
	parts, ok := partsOf(parsed)
	if !ok {
		return goja.Undefined()
	}
	encoded, err := json.Marshal(parts)
	must(err)
	return x.rt.ToValue(string(encoded))
}

// cleanURL takes away what browsers overlook, and escapes what net/url refuses.
func cleanURL(text string) string {
	text = strings.Trim(text, " \t\r\n\f\v\x00")
	text = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, text)
	scheme, rest, found := strings.Cut(text, ":")
	if _, special := defaultPorts[strings.ToLower(scheme)]; found && special {
		path, tail := rest, ""
		if end := strings.IndexAny(rest, "?#"); end >= 0 {
			path, tail = rest[:end], rest[end:]
		}
		path = strings.ReplaceAll(path, `\`, "/")
		text = scheme + "://" + strings.TrimLeft(path, "/") + tail
		if strings.EqualFold(scheme, "file") {
			text = scheme + "://" + strings.TrimPrefix(path, "//") + tail
		}
	}
	return escapeStray(text)
}

// escapeStray escapes percent signs that escape nothing.
func escapeStray(text string) string {
	var out strings.Builder
	for i := range len(text) {
		out.WriteByte(text[i])
		if text[i] == '%' && (i+2 >= len(text) || !isHex(text[i+1]) || !isHex(text[i+2])) {
			out.WriteString("25")
		}
	}
	return out.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func partsOf(u *url.URL) (urlParts, bool) {
	port, special := defaultPorts[u.Scheme]
	parts := urlParts{Protocol: u.Scheme + ":", Special: special && u.Scheme != "file", Hierarchical: special || u.Host != "" || strings.HasPrefix(u.Path, "//")}
	if u.User != nil {
		parts.Username = escapeUser(u.User.Username())
		password, _ := u.User.Password()
		parts.Password = escapeUser(password)
	}
	host, ok := hostOf(u, special)
	if !ok {
		return parts, false
	}
	parts.Hostname = host
	if parts.Port, ok = portOf(u.Port(), port); !ok {
		return parts, false
	}
	parts.Pathname = u.Opaque
	if u.Opaque == "" {
		parts.Pathname = removeDots(u.EscapedPath())
	}
	if special && parts.Pathname == "" {
		parts.Pathname = "/"
	}
	if u.RawQuery != "" {
		parts.Search = "?" + escapeRest(u.RawQuery, " \"#<>'")
	}
	if fragment := u.EscapedFragment(); fragment != "" {
		parts.Hash = "#" + fragment
	}
	return parts, true
}

// hostOf writes the host as browsers do: lower case, ASCII.
func hostOf(u *url.URL, special bool) (string, bool) {
	host := u.Hostname()
	if strings.Contains(host, ":") {
		address, err := netip.ParseAddr(host)
		return "[" + address.String() + "]", err == nil
	}
	if !special || u.Scheme == "file" {
		return host, true
	}
	if host == "" || strings.ContainsAny(host, " <>^|%") {
		return "", false
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil { // names with underscores are no names, and yet in use
		ascii = strings.ToLower(host)
		for _, r := range ascii {
			if r > 0x7f {
				return "", false
			}
		}
	}
	return ascii, true
}

// portOf writes a port, and nothing for the one that goes without saying.
func portOf(text, usual string) (string, bool) {
	if text == "" {
		return "", true
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if written := strconv.FormatUint(number, 10); written != usual {
		return written, err == nil
	}
	return "", err == nil
}

// removeDots resolves the segments . and .. of a path.
func removeDots(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	var kept []string
	segments := strings.Split(path[1:], "/")
	for i, segment := range segments {
		final := i == len(segments)-1
		switch strings.ToLower(strings.ReplaceAll(strings.ToLower(segment), "%2e", ".")) {
		case ".":
			if final {
				kept = append(kept, "")
			}
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
			if final {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, segment)
		}
	}
	return "/" + strings.Join(kept, "/")
}

func escapeUser(text string) string { return url.User(text).String() }

// escapeRest escapes the characters of a set, and all that are not ASCII.
func escapeRest(text, set string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(set, c) >= 0 {
			out.Write([]byte{'%', digits[c>>4], digits[c&0xf]})
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// unescape decodes %XX and leaves what is not of that form, as
// URLSearchParams does.
func (x *execution) unescape(call goja.FunctionCall) goja.Value {
	decoded, err := url.PathUnescape(escapeStray(call.Argument(0).String()))
	must(err)
	return x.rt.ToValue(strings.ToValidUTF8(decoded, "\ufffd"))
}
