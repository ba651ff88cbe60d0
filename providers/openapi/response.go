package openapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
	"github.com/heddle-dev/heddle/signals/contract"
)

// maxInlineFile bounds a file that is answered in base64 for want of a store.
const maxInlineFile = 256 << 10

// responseRule is what an operation answers.
type responseRule struct {
	// accept are the media types of its answers.
	accept []string
	// linked says that an answer has the header Link, and self are the parameters of
	// links from the operation to itself.
	linked bool
	self   []member
}

// readResponses makes the output schema of all answers that are a success.
func (c *compiler) readResponses() {
	at := c.op.self.child("responses", c.self["responses"])
	responses, err := c.spec.resolve(at)
	if err != nil || responses.value != nil && kindOf(responses.value) != "an object" {
		c.notes.add(at, "the responses cannot be read; anything is taken")
		return
	}
	var all []any
	known := true
	for _, m := range successes(members(responses.value)) {
		schemas, ok := c.readResponse(responses.child(m.key, m.value))
		known = known && ok
		all = append(all, schemas...)
	}
	if !known || len(all) == 0 {
		return
	}
	if err := c.describeOutput(all); err != nil {
		c.notes.add(responses, "the output schema cannot be written: "+err.Error())
	}
}

// describeOutput writes the schema that any of several fits.
func (c *compiler) describeOutput(all []any) error {
	var distinct []any
	var texts []string
	for _, schema := range all {
		text := string(must(encode(schema)))
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
			distinct = append(distinct, schema)
		}
	}
	root := map[string]any{"anyOf": distinct}
	if one, ok := distinct[0].(map[string]any); ok && len(distinct) == 1 {
		root = one
	}
	if len(root) == 0 {
		return nil // anything
	}
	var err error
	c.compiled.output, err = c.output.document(root)
	return err
}

// successes are the answers with a status of 2xx, or the default where there are
// none.
func successes(responses []member) []member {
	var all []member
	for _, m := range responses {
		if len(m.key) == 3 && m.key[0] == '2' {
			all = append(all, m)
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, m := range responses {
		if m.key == "default" {
			all = append(all, m)
		}
	}
	return all
}

// readResponse returns the schemas of one answer, and whether all is known.
func (c *compiler) readResponse(at place) (all []any, known bool) {
	p, err := c.spec.resolve(at)
	if err != nil {
		c.notes.add(at, "the response cannot be read, anything is taken: "+err.Error())
		return nil, false
	}
	if ref, ok := reference(at.value); ok && !strings.Contains(ref, "/responses/") && objectOf(p.value)["description"] == nil {
		c.notes.add(at, "the reference "+ref+" is to no response; anything is taken")
		return nil, false
	}
	o := objectOf(p.value)
	c.readLinks(p, o)
	type mediaType struct {
		name   string
		schema place
	}
	var types []mediaType
	if c.spec.dialect == swagger2 {
		if o["schema"] != nil {
			produces := c.mediaTypes2("produces")
			if len(produces) == 0 || objectOf(o["schema"]).text("type") != "file" {
				produces = []string{"application/json"}
			}
			types = append(types, mediaType{produces[0], p.child("schema", o["schema"])})
		}
	} else {
		content := p.child("content", o["content"])
		for _, m := range members(content.value) {
			media, err := c.spec.resolve(content.child(m.key, m.value))
			if err != nil {
				c.notes.add(content.child(m.key, nil), err.Error()+"; anything is taken")
				return nil, false
			}
			types = append(types, mediaType{m.key, media.child("schema", objectOf(media.value)["schema"])})
		}
	}
	if len(types) == 0 {
		return []any{map[string]any{"type": "null"}}, true
	}
	known = true
	for _, t := range types {
		if !slices.Contains(c.responses.accept, essence(t.name)) {
			c.responses.accept = append(c.responses.accept, essence(t.name))
		}
		switch kind := kindOfType(t.name); {
		case kind == kindJSON || essence(t.name) == "*/*":
			if t.schema.value == nil {
				known = false
				continue
			}
			all = append(all, c.output.of(t.schema, withoutFiles))
		case kind == kindBinary || kind == kindMultipart:
			all = append(all, fileSchema(fromService, ""))
		default:
			all = append(all, map[string]any{"type": "string"})
		}
	}
	return all, known
}

// readLinks notes how an answer leads to the next one.
func (c *compiler) readLinks(p place, o object) {
	for _, m := range members(o["headers"]) {
		c.responses.linked = c.responses.linked || strings.EqualFold(m.key, "Link")
	}
	for _, m := range members(o["links"]) {
		link, err := c.spec.resolve(p.child("links", o["links"]).child(m.key, m.value))
		if err != nil {
			continue
		}
		declared := objectOf(link.value)
		if id := declared.text("operationId"); id != "" && id == c.op.operationID {
			c.responses.self = append(c.responses.self, members(declared["parameters"])...)
		}
	}
}

// acceptHeader asks for what the operation answers, JSON first.
func (r responseRule) acceptHeader() string {
	if len(r.accept) == 0 {
		return "application/json, */*;q=0.8"
	}
	sorted := slices.Clone(r.accept)
	slices.SortStableFunc(sorted, func(a, b string) int { return int(kindOfType(a)) - int(kindOfType(b)) })
	return strings.Join(sorted, ", ") + ", */*;q=0.1"
}

// answer is a response that was read.
type answer struct {
	status      int
	contentType string
	disposition string
	retryAfter  string
	// links are the values of the header Link.
	links []string
	// challenges are those of WWW-Authenticate.
	challenges []string
	body       []byte
}

// result makes the tool's output of an answer: JSON as it is, text as a string, a
// file as its handle, and null for nothing.
func (a answer) result(ctx context.Context, store Store) (json.RawMessage, error) {
	body := bytes.TrimPrefix(a.body, []byte("\xEF\xBB\xBF"))
	if len(bytes.TrimSpace(body)) == 0 {
		return json.RawMessage("null"), nil
	}
	kind := kindOfType(a.contentType)
	declared := a.contentType != ""
	if (kind == kindJSON || !declared) && valid(body) {
		return body, nil
	}
	if kind != kindBinary && kind != kindMultipart || !declared {
		if text, ok := asText(body, a.contentType); ok {
			return encode(text)
		}
	}
	return a.file(ctx, store)
}

// asText reads a text in its character set.
func asText(body []byte, contentType string) (string, bool) {
	_, parameters, _ := mime.ParseMediaType(contentType)
	switch strings.ToLower(parameters["charset"]) {
	case "iso-8859-1", "latin1", "us-ascii":
		runes := make([]rune, len(body))
		for i, c := range body {
			runes[i] = rune(c)
		}
		return string(runes), true
	}
	return string(body), utf8.Valid(body)
}

// file stores a binary answer and returns its handle.
func (a answer) file(ctx context.Context, store Store) (json.RawMessage, error) {
	f := map[string]any{"content_type": a.contentType, "size": len(a.body)}
	if a.contentType == "" {
		f["content_type"] = "application/octet-stream"
	}
	if _, parameters, err := mime.ParseMediaType(a.disposition); err == nil && parameters["filename"] != "" {
		f["filename"] = cut(strings.ToValidUTF8(parameters["filename"], ""), 200)
	}
	switch {
	case store != nil:
		ref, err := store.Put(ctx, a.body)
		if err != nil {
			return nil, &catalog.Error{Code: catalog.CodeToolFailed, Message: "the answer could not be stored: " + err.Error(), Effect: catalog.EffectApplied, Retryable: true}
		}
		f["ref"] = ref
	case len(a.body) <= maxInlineFile:
		f["bytes_base64"] = base64.StdEncoding.EncodeToString(a.body)
	default:
		return nil, &catalog.Error{
			Code: catalog.CodeTooLarge, Effect: catalog.EffectApplied,
			Message: fmt.Sprintf("the answer is a file of %d bytes, and there is no store of files here (at most %d bytes without one)", len(a.body), maxInlineFile),
		}
	}
	return encode(f)
}

// Store keeps files, by content.
type Store interface {
	Put(ctx context.Context, value []byte) (contract.Ref, error)
	Get(ctx context.Context, ref contract.Ref) ([]byte, error)
}

// readAnswer reads a response whole. Once a success has begun, what is lost of it
// leaves a write applied.
func readAnswer(response *http.Response) (answer, error) {
	defer response.Body.Close()
	a := answer{
		status: response.StatusCode, contentType: response.Header.Get("Content-Type"),
		disposition: response.Header.Get("Content-Disposition"), retryAfter: response.Header.Get("Retry-After"),
		challenges: response.Header.Values("WWW-Authenticate"), links: response.Header.Values("Link"),
	}
	var err error
	a.body, err = io.ReadAll(response.Body)
	if err == nil {
		return a, nil
	}
	var large *netguard.TooLargeError
	if a.status >= 400 && errors.As(err, &large) {
		return a, nil // its beginning will do
	}
	failed := transportFailure(err)
	if e := (*catalog.Error)(nil); errors.As(failed, &e) {
		e.Effect = effectOf(a.status)
		if a.status < 300 {
			e.Effect = catalog.EffectApplied
			e.Message = "the service has answered with success, and the answer could not be read: " + err.Error()
		}
	}
	return a, failed
}
