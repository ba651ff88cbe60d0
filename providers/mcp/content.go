package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Store keeps files, by content.
type Store interface {
	Put(ctx context.Context, value []byte) (contract.Ref, error)
}

// outcome makes a tool's output of the result of a call, or an error where the
// server says that the tool has failed. Nothing is guessed from the text.
func (s *Source) outcome(ctx context.Context, result json.RawMessage, declared bool) (json.RawMessage, error) {
	if !isObject(result) {
		return nil, &fault{code: CodeProtocol, message: "the server breaks the protocol: the result is no object", effect: catalog.EffectUnknown, sick: true}
	}
	content, structured := field(result, "content"), field(result, "structuredContent")
	parts, isList := items(content)
	if !isNull(content) && !isList {
		return nil, &fault{code: CodeProtocol, message: "the server breaks the protocol: the content of the result is no list", effect: catalog.EffectUnknown, sick: true}
	}
	if string(field(result, "isError")) == "true" {
		return nil, toolFailure(parts, structured)
	}
	if !isNull(structured) && (declared || onlyText(parts)) {
		return structured, nil
	}
	output, err := s.content(ctx, parts)
	if err != nil || isNull(structured) {
		return output, err
	}
	return encode(map[string]json.RawMessage{"structured": structured, "content": output})
}

// toolFailure is the error of a tool that ran and says that it failed.
func toolFailure(parts []json.RawMessage, structured json.RawMessage) error {
	var texts []string
	for _, part := range parts[:min(len(parts), maxParts)] {
		if text := textOf(field(part, "text")); text != "" {
			texts = append(texts, text)
		}
	}
	message := plain(strings.Join(texts, "\n"), 2*maxText)
	if message == "" {
		message = "the tool says that it failed, and not why"
	}
	e := &catalog.Error{Code: catalog.CodeToolFailed, Message: message}
	if !isNull(structured) {
		e.Details = structured
	}
	return e
}

func onlyText(parts []json.RawMessage) bool {
	for _, part := range parts {
		if textOf(field(part, "type")) != "text" {
			return false
		}
	}
	return true
}

// content makes one value of the parts of a result: a single text is itself, more
// are a list in their order.
func (s *Source) content(ctx context.Context, parts []json.RawMessage) (json.RawMessage, error) {
	if len(parts) > maxParts {
		return nil, &fault{
			code: catalog.CodeTooLarge, effect: catalog.EffectApplied,
			message: fmt.Sprintf("the result has %d parts, at most %d are taken", len(parts), maxParts),
		}
	}
	values := make([]json.RawMessage, 0, len(parts))
	for _, part := range parts {
		value, err := s.part(ctx, part)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	switch len(values) {
	case 0:
		return json.RawMessage("null"), nil
	case 1:
		return values[0], nil
	}
	return encode(values)
}

// part makes a value of one part. One of a kind that is not known stays as it is.
func (s *Source) part(ctx context.Context, part json.RawMessage) (json.RawMessage, error) {
	switch kind := textOf(field(part, "type")); kind {
	case "text":
		return textValue(textOf(field(part, "text")))
	case "image", "audio":
		return s.file(ctx, members(part), "data", map[string]any{"type": kind})
	case "resource":
		return s.resource(ctx, field(part, "resource"))
	case "resource_link":
		return resourceLink(members(part))
	}
	return part, nil
}

// textValue is a text as the JSON object or list that it is, else as a string.
func textValue(text string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if value := json.RawMessage(trimmed); json.Valid(value) {
			return value, nil
		}
	}
	return encode(text)
}

// resource makes a value of an embedded resource, or of one that was read.
func (s *Source) resource(ctx context.Context, resource json.RawMessage) (json.RawMessage, error) {
	fields := members(resource)
	value := map[string]any{"type": "resource", "uri": textOf(fields["uri"])}
	if !isNull(fields["blob"]) {
		return s.file(ctx, fields, "blob", value)
	}
	if kind := textOf(fields["mimeType"]); kind != "" {
		value["content_type"] = kind
	}
	value["text"] = textOf(fields["text"])
	return encode(value)
}

func resourceLink(fields map[string]json.RawMessage) (json.RawMessage, error) {
	value := map[string]any{"type": "resource_link"}
	for from, to := range map[string]string{
		"uri": "uri", "name": "name", "title": "title", "description": "description", "mimeType": "content_type", "size": "size",
	} {
		if !isNull(fields[from]) {
			value[to] = fields[from]
		}
	}
	return encode(value)
}

// file keeps the bytes of a part and makes a handle of them. Where files are not
// kept they stay in it.
func (s *Source) file(ctx context.Context, fields map[string]json.RawMessage, member string, value map[string]any) (json.RawMessage, error) {
	if kind := textOf(fields["mimeType"]); kind != "" {
		value["content_type"] = kind
	}
	encoded := textOf(fields[member])
	data, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case err != nil:
		value["problem"] = "the server sent no valid base64"
	case s.options.Files == nil:
		value["size"], value["bytes_base64"] = len(data), encoded
	default:
		ref, err := s.options.Files.Put(ctx, data)
		if err != nil {
			return nil, &fault{code: catalog.CodeToolFailed, message: "a file of the result could not be kept: " + plain(err.Error(), maxText), effect: catalog.EffectApplied, retryable: true}
		}
		value["size"], value["ref"] = len(data), ref
	}
	return encode(value)
}
