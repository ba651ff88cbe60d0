package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/heddle-dev/heddle/catalog"
)

// outgoing is a request before it has credentials.
type outgoing struct {
	method string
	url    *url.URL
	header http.Header
	// cookies are name=value, escaped.
	cookies []string
	body    []byte
}

// invalid refuses an input before anything is sent.
func invalid(pointer, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &catalog.Error{
		Code: catalog.CodeInvalidInput, Message: strings.TrimSpace("the input does not fit: " + pointer + " " + message), Effect: catalog.EffectNone,
		Violations: []catalog.Violation{{Pointer: pointer, Message: message}},
	}
}

// decode reads JSON with numbers as they are written.
func decode(text json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	err := decoder.Decode(&v)
	return v, err
}

// build makes the request of an input that fits the schema.
func (c *compiled) build(input json.RawMessage, server *url.URL, files fileReader) (*outgoing, error) {
	given := objectOf(input)
	out := &outgoing{method: c.op.method, header: http.Header{"Accept": {c.responses.acceptHeader()}}}
	filled := map[string]string{}
	var query []pair
	for _, p := range c.inputs {
		text, present := given[p.input]
		if !present || string(text) == "null" && !p.required {
			continue
		}
		value, err := decode(text)
		if err != nil {
			return nil, invalid(at("", p.input), "cannot be read: %s", err)
		}
		if p.json {
			value = string(must(encode(value)))
		}
		if err := c.put(p, value, out, filled, &query); err != nil {
			return nil, invalid(at("", p.input), "cannot be sent: %s", err)
		}
	}
	if err := c.address(out, server, filled, query); err != nil {
		return nil, err
	}
	if text, present := given["body"]; present && len(c.bodies) > 0 {
		b, err := c.chosen(given.text("content_type"))
		if err != nil {
			return nil, err
		}
		if err := b.write(out, text, files); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// put writes a parameter where it belongs.
func (c *compiled) put(p parameter, value any, out *outgoing, filled map[string]string, query *[]pair) error {
	switch p.in {
	case openapi3.ParameterInPath:
		text, err := p.inPath(value)
		if err != nil {
			return err
		}
		if text == "" {
			return fmt.Errorf("it is empty, and the path needs it")
		}
		filled[p.name] = text
	case openapi3.ParameterInQuery:
		pairs, err := p.inQuery(value)
		if err != nil {
			return err
		}
		*query = append(*query, pairs...)
	case openapi3.ParameterInHeader:
		text, err := p.inHeader(value)
		if err != nil {
			return err
		}
		out.header[http.CanonicalHeaderKey(p.name)] = []string{text}
	case openapi3.ParameterInCookie:
		for _, cookie := range p.inCookie(value) {
			out.cookies = append(out.cookies, cookie.name+"="+cookie.value)
		}
	}
	return nil
}

// address makes the URL. Each placeholder is filled once: a value that looks like
// one stays a value.
func (c *compiled) address(out *outgoing, server *url.URL, filled map[string]string, query []pair) error {
	path, _, _ := strings.Cut(c.op.path, "#") // it tells operations apart and is not sent
	path, fixed, _ := strings.Cut(path, "?")
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(server.EscapedPath(), "/"))
	for path != "" {
		literal, rest, hole := strings.Cut(path, "{")
		b.WriteString(escape(literal, "/%:@!$&'()*+,;="))
		if !hole {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		b.WriteString(filled[name])
		path = after
	}
	raw := b.String()
	for segment := range strings.SplitSeq(raw, "/") {
		if plain, err := url.PathUnescape(segment); err == nil && (plain == "." || plain == "..") {
			return invalid("", "a part of the path is %q, which would lead elsewhere", plain)
		}
	}
	parts := make([]string, 0, len(query)+1)
	if fixed != "" {
		parts = append(parts, fixed)
	}
	for _, p := range query {
		parts = append(parts, p.name+"="+p.value)
	}
	u, err := url.Parse(server.Scheme + "://" + server.Host + raw)
	if err != nil {
		return invalid("", "makes no URL")
	}
	u.RawQuery = strings.Join(parts, "&")
	out.url = u
	return nil
}

// chosen returns the body of the media type that the caller asks for.
func (c *compiled) chosen(mediaType string) (body, error) {
	if mediaType == "" {
		return c.bodies[0], nil
	}
	i := slices.IndexFunc(c.bodies, func(b body) bool { return b.mediaType == mediaType })
	if i < 0 {
		return body{}, invalid("/content_type", "is not a media type of this operation")
	}
	return c.bodies[i], nil
}
