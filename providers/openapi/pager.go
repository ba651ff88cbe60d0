package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// maxPages bounds the pages that one call reads.
const maxPages = 100

// pagesInput is the input that says how many pages a call reads.
const pagesInput = "pages"

// pager says how an operation's answers go on, as far as the specification shows
// it, and which list in them does.
type pager struct {
	// input is the name of the input that asks for several pages.
	input string
	// list points to the list in an answer; empty: the answer is one.
	list string
	// linked says that the header Link names the next page (RFC 8288).
	linked bool
	// next points to the next page's cursor or address in an answer, and cursor is
	// the parameter that takes a cursor.
	next   string
	cursor *parameter
	// more points to a boolean that says whether there are more, and last is the
	// member of the list's last item that the cursor takes where next is not set.
	more, last string
	// number and offset are parameters that count pages, and items.
	number, offset *parameter
}

// The names by which pages are known, in lower case and without separators.
var (
	listNames   = []string{"data", "items", "results", "values", "records", "entries", "members", "elements", "rows", "list", "content", "objects"}
	boxNames    = []string{"meta", "metadata", "pagination", "paging", "pageinfo", "responsemetadata", "links", "page", "cursors", "data", "result", "response"}
	nextNames   = []string{"nextcursor", "nextpagetoken", "nextpagecursor", "nexttoken", "nextpage", "nextcontinuationtoken", "continuationtoken", "endcursor", "next"}
	nextLinks   = []string{"next", "nextlink", "nexturl", "nexthref", "nextpageurl", "odata.nextlink"}
	cursorNames = []string{"cursor", "pagetoken", "pagecursor", "nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "startcursor", "after", "startingafter", "token", "page"}
	afterNames  = []string{"startingafter", "after"}
	moreNames   = []string{"hasmore", "hasnextpage", "hasnext"}
	pageNames   = []string{"page", "pagenumber", "pageno"}
	offsetNames = []string{"offset", "skip"}
)

func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", "@", "", "$", "").Replace(s))
}

// readPages finds out whether the answers of a read come in pages.
func (c *compiler) readPages(taken func(name string) bool) *pager {
	if !c.op.reads() {
		return nil
	}
	shape := outline{root: objectOf(c.compiled.output)}
	list, ok := shape.list()
	if !ok {
		return nil
	}
	p := &pager{list: list, linked: c.responses.linked, input: pagesInput}
	for taken(p.input) {
		p.input += "_"
	}
	if p.declared(c.inputs, c.responses.self) || p.findCursor(c.inputs, shape) || p.linked || p.findCount(c.inputs) {
		return p
	}
	return nil
}

// inBody begins an expression that stands for a part of the answer.
const inBody = "$response.body#"

// declared takes a link of the specification from the operation to itself.
func (p *pager) declared(inputs []parameter, links []member) bool {
	for _, m := range links {
		pointer, ok := strings.CutPrefix(unquote(m.value), inBody)
		_, name, qualified := strings.Cut(m.key, "query.")
		if !qualified {
			name = m.key
		}
		i := slices.IndexFunc(inputs, func(p parameter) bool { return p.in == openapi3.ParameterInQuery && p.name == name })
		if ok && i >= 0 {
			p.next, p.cursor = pointer, &inputs[i]
			return true
		}
	}
	return false
}

// findCursor looks for a cursor or an address of the next page in the answer.
func (p *pager) findCursor(inputs []parameter, shape outline) bool {
	p.more = shape.find(moreNames, "boolean")
	cursor := queryNamed(inputs, cursorNames, "string")
	if next := shape.find(nextNames, "string"); next != "" && cursor != nil {
		p.next, p.cursor = next, cursor
		return true
	}
	if next := shape.find(nextLinks, "string"); next != "" {
		p.next = next
		return true
	}
	after := queryNamed(inputs, afterNames, "string")
	if after == nil || p.more == "" {
		return false
	}
	p.cursor, p.last = after, "id"
	return true
}

// findCount looks for parameters that count pages or items.
func (p *pager) findCount(inputs []parameter) bool {
	p.number = queryNamed(inputs, pageNames, "integer", "number")
	if p.number == nil {
		p.offset = queryNamed(inputs, offsetNames, "integer", "number")
	}
	return p.number != nil || p.offset != nil
}

// queryNamed finds a parameter of the query by name and type; the first of the
// names that there is wins.
func queryNamed(inputs []parameter, names []string, types ...string) *parameter {
	for _, name := range names {
		for i, p := range inputs {
			if p.in != openapi3.ParameterInQuery || plainName(p.name) != name {
				continue
			}
			schema := objectOf(must(encode(p.schema)))
			if typed := schema.types(); len(typed) == 0 || slices.ContainsFunc(typed, func(t string) bool { return slices.Contains(types, t) }) {
				return &inputs[i]
			}
		}
	}
	return nil
}

// types are the JSON types that a schema allows by its own keyword.
func (o object) types() []string {
	switch kindOf(o["type"]) {
	case "a string":
		return []string{o.text("type")}
	case "an array":
		var all []string
		for _, item := range elements(o["type"]) {
			all = append(all, unquote(item))
		}
		return all
	}
	return nil
}

// outline is the shape of an answer, by its schema.
type outline struct{ root object }

// follow resolves a schema within the document, and takes the one alternative that
// is not null.
func (s outline) follow(schema object) object {
	for range 8 {
		if ref, ok := strings.CutPrefix(schema.text("$ref"), "#/$defs/"); ok {
			schema = objectOf(objectOf(s.root["$defs"])[ref])
			continue
		}
		var only []json.RawMessage
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			for _, item := range elements(schema[key]) {
				if objectOf(item).text("type") != "null" {
					only = append(only, item)
				}
			}
		}
		if len(only) != 1 || schema["properties"] != nil {
			return schema
		}
		schema = objectOf(only[0])
	}
	return schema
}

// properties are those of a schema and of what it is composed of.
func (s outline) properties(schema object, depth int) []member {
	schema = s.follow(schema)
	all := members(schema["properties"])
	for _, part := range elements(schema["allOf"]) {
		if depth < 4 {
			all = append(all, s.properties(objectOf(part), depth+1)...)
		}
	}
	return all
}

func (s outline) is(schema json.RawMessage, types ...string) bool {
	return slices.ContainsFunc(s.follow(objectOf(schema)).types(), func(t string) bool { return slices.Contains(types, t) })
}

// list points to the one list of an answer.
func (s outline) list() (string, bool) {
	if s.is(must(encode(s.root)), "array") {
		return "", true
	}
	properties := s.properties(s.root, 0)
	if name, ok := s.listAmong(properties); ok {
		return at("", name), true
	}
	for _, m := range properties {
		if slices.Contains(boxNames, plainName(m.key)) && s.is(m.value, "object") {
			if name, ok := s.listAmong(s.properties(objectOf(m.value), 0)); ok {
				return at("", m.key, name), true
			}
		}
	}
	return "", false
}

// listAmong finds the one list among properties, or the one with a name that lists
// have.
func (s outline) listAmong(properties []member) (string, bool) {
	var lists []string
	for _, m := range properties {
		if s.is(m.value, "array") && !slices.Contains(lists, m.key) {
			lists = append(lists, m.key)
		}
	}
	if len(lists) == 1 {
		return lists[0], true
	}
	for _, name := range listNames {
		if i := slices.IndexFunc(lists, func(key string) bool { return plainName(key) == name }); i >= 0 {
			return lists[i], true
		}
	}
	return "", false
}

// find points to a property with one of the names, at the root or within what
// holds such things.
func (s outline) find(names []string, kind string) string {
	properties := s.properties(s.root, 0)
	if name := s.named(properties, names, kind); name != "" {
		return at("", name)
	}
	for _, m := range properties {
		if slices.Contains(boxNames, plainName(m.key)) && !s.is(m.value, "array") {
			if name := s.named(s.properties(objectOf(m.value), 0), names, kind); name != "" {
				return at("", m.key, name)
			}
		}
	}
	return ""
}

func (s outline) named(properties []member, names []string, kind string) string {
	for _, name := range names {
		for _, m := range properties {
			if plainName(m.key) == name && s.is(m.value, kind) {
				return m.key
			}
		}
	}
	return ""
}
