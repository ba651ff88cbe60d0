package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
)

// wanted is how many pages an input asks for.
func (p *pager) wanted(input json.RawMessage) int {
	if p == nil {
		return 1
	}
	n, err := strconv.Atoi(strings.TrimSuffix(string(objectOf(input)[p.input]), ".0"))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, maxPages)
}

// check refuses to count pages from an unknown number.
func (p *pager) check(input json.RawMessage) error {
	if p.wanted(input) == 1 || p.number == nil || objectOf(input)[p.number.input] != nil {
		return nil
	}
	if _, known := p.first(); !known {
		return invalid(at("", p.number.input), "is missing: the specification does not say which number the first page has, so several pages need it")
	}
	return nil
}

// first is the number of the first page, if the specification says it.
func (p *pager) first() (int64, bool) {
	schema := objectOf(must(encode(p.number.schema)))
	for _, key := range []string{"default", "minimum"} {
		if n, err := strconv.ParseInt(string(schema[key]), 10, 64); err == nil {
			return n, true
		}
	}
	return 0, false
}

// page is one answer of several.
type page struct {
	result json.RawMessage
	list   []json.RawMessage
	links  []string
	from   *url.URL
	number int64
	offset int64
}

// pages reads page after page and joins them: the last one, with the lists of all.
func (s *Source) pages(ctx context.Context, c *compiled, r round) (json.RawMessage, error) {
	var all [][]byte
	size, seen := 0, map[string]bool{}
	p := page{number: c.pager.begin(r.input), offset: c.pager.skipped(r.input)}
	for n := 1; ; n++ {
		seen[r.out.url.String()] = true
		got, err := s.settle(ctx, c, r)
		if err != nil {
			return nil, pageError(err, n)
		}
		listed, ok := lookup(got.result, c.pager.list)
		if !ok || kindOf(listed) != "an array" {
			if n == 1 {
				return got.result, nil
			}
			return nil, pageError(&catalog.Error{Code: catalog.CodeInvalidOutput, Message: "the answer has no list where the others have one", Effect: catalog.EffectNone}, n)
		}
		p.result, p.list, p.links, p.from = got.result, elements(listed), got.links, r.out.url
		for _, item := range p.list {
			all = append(all, item)
			size += len(item) + 1
		}
		if size > catalog.MaxOutput {
			return nil, &catalog.Error{
				Code: catalog.CodeTooLarge, Effect: catalog.EffectNone,
				Message: fmt.Sprintf("%d pages are more than %d bytes", n, catalog.MaxOutput), Hint: "ask for fewer pages at once",
			}
		}
		more := false
		if n < r.pages {
			if r.out, more, err = c.pager.turn(c, r, &p); err != nil {
				return nil, pageError(err, n+1)
			}
		}
		if !more || seen[r.out.url.String()] {
			joined := append(append([]byte{'['}, bytes.Join(all, []byte{','})...), ']')
			return replace(p.result, c.pager.list, joined), nil
		}
	}
}

func pageError(err error, n int) error {
	if typed, ok := err.(*catalog.Error); ok && n > 1 { //nolint:errorlint // it is this source's own
		named := *typed
		named.Message = fmt.Sprintf("page %d: %s", n, typed.Message)
		return &named
	}
	return err
}

func (p *pager) begin(input json.RawMessage) int64 {
	if p.number == nil {
		return 0
	}
	if n, err := strconv.ParseInt(string(objectOf(input)[p.number.input]), 10, 64); err == nil {
		return n
	}
	n, _ := p.first()
	return n
}

func (p *pager) skipped(input json.RawMessage) int64 {
	if p.offset == nil {
		return 0
	}
	n, err := strconv.ParseInt(string(objectOf(input)[p.offset.input]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// turn makes the request for the page after one. There may be none.
func (p *pager) turn(c *compiled, r round, last *page) (_ *outgoing, more bool, _ error) {
	if says, ok := lookup(last.result, p.more); p.more != "" && ok && string(says) == "false" {
		return nil, false, nil
	}
	with := func(to *parameter, value any) (*outgoing, bool, error) {
		out, err := c.build(replace(r.input, at("", to.input), must(encode(value))), r.server, nil)
		return out, err == nil, err
	}
	switch {
	case p.linked:
		return r.at(last.from, nextLink(last.links))
	case p.next != "":
		value, _ := lookup(last.result, p.next)
		text := unquote(value)
		if kindOf(value) == "a number" {
			text = string(value)
		}
		switch {
		case text == "":
			return nil, false, nil
		case p.cursor == nil || isAddress(text):
			return r.at(last.from, text)
		}
		return with(p.cursor, text)
	case len(last.list) == 0:
		return nil, false, nil
	case p.cursor != nil:
		id := objectOf(last.list[len(last.list)-1]).text(p.last)
		if id == "" {
			return nil, false, nil
		}
		return with(p.cursor, id)
	case p.number != nil:
		last.number++
		return with(p.number, last.number)
	}
	last.offset += int64(len(last.list))
	return with(p.offset, last.offset)
}

func isAddress(s string) bool {
	return isURL(s) || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "?")
}

// at is the same request at another address of the same service. An address
// elsewhere is refused: there is nothing to page there.
func (r round) at(from *url.URL, address string) (*outgoing, bool, error) {
	if address == "" {
		return nil, false, nil
	}
	u, err := from.Parse(address)
	if err != nil || netguard.Origin(u) != netguard.Origin(r.server) || !strings.HasPrefix(u.Path, strings.TrimSuffix(r.server.Path, "/")+"/") {
		return nil, false, &catalog.Error{Code: CodeRefused, Effect: catalog.EffectNone, Message: "the service names a next page that is not its own"}
	}
	u.Fragment = ""
	out := *r.out
	out.url = u
	return &out, true, nil
}

// nextLink finds the address of the next page in the header Link.
func nextLink(headers []string) string {
	for _, rest := range headers {
		for {
			_, after, ok := strings.Cut(rest, "<")
			address, parameters, closed := strings.Cut(after, ">")
			if !ok || !closed {
				break
			}
			if parameters, rest = untilComma(parameters); isNext(parameters) {
				return address
			}
		}
	}
	return ""
}

// untilComma splits the parameters of a link from the links that follow.
func untilComma(s string) (parameters, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// isNext reports whether the relation of a link is next. It may have several.
func isNext(parameters string) bool {
	for part := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		for relation := range strings.FieldsSeq(strings.Trim(strings.TrimSpace(value), `"`)) {
			if strings.EqualFold(relation, "next") {
				return true
			}
		}
	}
	return false
}

// lookup finds what a JSON pointer leads to.
func lookup(value json.RawMessage, pointer string) (json.RawMessage, bool) {
	if pointer == "" {
		return bytes.TrimSpace(value), true
	}
	for key := range strings.SplitSeq(pointer[1:], "/") {
		next, ok := objectOf(value)[unescaper.Replace(key)]
		if !ok {
			return nil, false
		}
		value = next
	}
	return value, true
}

// replace returns a value with another at a pointer. What is not there is added to
// the object that lacks it.
func replace(value json.RawMessage, pointer string, by json.RawMessage) json.RawMessage {
	if pointer == "" {
		return by
	}
	first, rest, nested := strings.Cut(pointer[1:], "/")
	if nested {
		rest = "/" + rest
	}
	key, found := unescaper.Replace(first), false
	var b bytes.Buffer
	b.WriteByte('{')
	write := func(name string, v json.RawMessage) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(must(encode(name)))
		b.WriteByte(':')
		b.Write(v)
	}
	for _, m := range members(value) {
		if m.key == key {
			m.value, found = replace(m.value, rest, by), true
		}
		write(m.key, m.value)
	}
	if !found {
		write(key, replace(json.RawMessage("{}"), rest, by))
	}
	b.WriteByte('}')
	return b.Bytes()
}
