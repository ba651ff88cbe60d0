package openapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// fileReader reads a stored file by its handle.
type fileReader func(ref json.RawMessage) ([]byte, error)

// write writes a body into a request.
func (b body) write(out *outgoing, text json.RawMessage, files fileReader) error {
	contentType := b.mediaType
	switch b.kind {
	case kindJSON:
		out.body = text
	case kindForm:
		form, err := b.form(text)
		if err != nil {
			return invalid("/body", "%s", err)
		}
		out.body = []byte(form)
	case kindMultipart:
		content, boundary, err := b.multipart(text, files)
		if err != nil {
			return err
		}
		out.body = content
		contentType = mime.FormatMediaType(essence(b.mediaType), map[string]string{"boundary": boundary})
	case kindText:
		if kindOf(text) != "a string" {
			return invalid("/body", "is %s, and %s is sent as text; give a string", kindOf(text), b.mediaType)
		}
		out.body = []byte(unquote(text))
	case kindBinary:
		f, err := fileOf(text, "/body", files)
		if err != nil {
			return err
		}
		out.body = f.content
		if strings.Contains(contentType, "*") {
			contentType = "application/octet-stream"
			if f.contentType != "" {
				contentType = f.contentType
			}
		}
	}
	if out.body == nil {
		out.body = []byte{}
	}
	out.header.Set("Content-Type", contentType)
	return nil
}

// form writes application/x-www-form-urlencoded.
func (b body) form(text json.RawMessage) (string, error) {
	if kindOf(text) != "an object" {
		return "", fmt.Errorf("is %s, want an object", kindOf(text))
	}
	var parts []string
	for _, m := range members(text) {
		value, err := decode(m.value)
		if err != nil {
			return "", err
		}
		pairs, err := b.field(m.key, value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.key, err)
		}
		for _, p := range pairs {
			parts = append(parts, p.name+"="+p.value)
		}
	}
	return strings.Join(parts, "&"), nil
}

// field writes one field of a form: by its style if it has one, else a list
// repeats the name and an object is JSON.
func (b body) field(name string, value any) ([]pair, error) {
	e, encoded := b.encodings[name]
	_, isObject := value.(map[string]any)
	if isObject && !e.styled || encoded && !e.styled && isJSON(e.contentType) {
		value = string(must(encode(value)))
	}
	p := parameter{name: name, style: openapi3.SerializationForm, explode: true}
	if e.styled {
		p.style, p.explode, p.reserved = e.style, e.explode, e.reserved
	}
	return p.inQuery(value)
}

// multipart writes a form of parts.
func (b body) multipart(text json.RawMessage, files fileReader) (content []byte, boundary string, _ error) {
	if kindOf(text) != "an object" {
		return nil, "", invalid("/body", "is %s, want an object", kindOf(text))
	}
	var buffer bytes.Buffer
	w := multipart.NewWriter(&buffer)
	for _, m := range members(text) {
		values := []json.RawMessage{m.value}
		e := b.encodings[m.key]
		asOne := e.contentType != "" && isJSON(e.contentType)
		if kindOf(m.value) == "an array" && !asOne {
			values = elements(m.value)
			if e.styled && !e.explode {
				joined, err := joinList(m.value, e.style)
				if err != nil {
					return nil, "", invalid(at("/body", m.key), "%s", err)
				}
				values = []json.RawMessage{must(encode(joined))}
			}
		}
		for _, value := range values {
			if err := b.part(w, m.key, value, files); err != nil {
				return nil, "", err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return buffer.Bytes(), w.Boundary(), nil
}

func joinList(list json.RawMessage, style string) (string, error) {
	value, err := decode(list)
	if err != nil {
		return "", err
	}
	raw, _ := delimiter(style)
	if err := apart(value, raw); err != nil {
		return "", err
	}
	return strings.Join(flat(value, false, func(s string) string { return s }), raw), nil
}

// part writes one part: a file as such, an object as JSON, all else as text.
func (b body) part(w *multipart.Writer, name string, value json.RawMessage, files fileReader) error {
	disposition := map[string]string{"name": name}
	contentType, _, _ := strings.Cut(b.encodings[name].contentType, ",")
	if strings.Contains(contentType, "*") {
		contentType = ""
	}
	var content []byte
	switch {
	case !b.encodings[name].object && isFileValue(value):
		f, err := fileOf(value, at("/body", name), files)
		if err != nil {
			return err
		}
		content = f.content
		disposition["filename"] = f.name
		if f.contentType != "" {
			contentType = f.contentType
		}
		if contentType == "" {
			contentType = "application/octet-stream"
		}
	case kindOf(value) == "an object" || kindOf(value) == "an array" || isJSON(contentType):
		content = value
		if contentType == "" {
			contentType = "application/json"
		}
	case kindOf(value) == "a string":
		content = []byte(unquote(value))
	case kindOf(value) == "null":
		return nil
	default:
		content = value
	}
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", formData(disposition))
	if contentType = strings.TrimSpace(contentType); contentType != "" {
		if err := headerValue(contentType); err != nil {
			return invalid(at("/body", name), "its content type cannot be sent: %s", err)
		}
		header.Set("Content-Type", contentType)
	}
	p, err := w.CreatePart(header)
	if err != nil {
		return err
	}
	_, err = p.Write(content)
	return err
}

// formData writes the header that names a part, as browsers do.
func formData(values map[string]string) string {
	quote := strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22").Replace
	text := `form-data; name="` + quote(values["name"]) + `"`
	if filename, ok := values["filename"]; ok {
		text += `; filename="` + quote(filename) + `"`
	}
	return text
}

// file is the content of one.
type file struct {
	name, contentType string
	content           []byte
}

// isFileValue tells a file from another object by its keys.
func isFileValue(value json.RawMessage) bool {
	if kindOf(value) != "an object" {
		return false
	}
	o, sources := objectOf(value), 0
	for key := range o {
		switch key {
		case "bytes_base64", "text", "ref":
			sources++
		case "filename", "content_type":
		default:
			return false
		}
	}
	return sources == 1
}

// fileOf reads a file of an input.
func fileOf(value json.RawMessage, pointer string, files fileReader) (file, error) {
	if !isFileValue(value) {
		return file{}, invalid(pointer, "is no file: give filename, content_type and one of bytes_base64, text and ref")
	}
	o := objectOf(value)
	f := file{name: o.text("filename"), contentType: o.text("content_type"), content: []byte(o.text("text"))}
	if f.name == "" {
		f.name = "file"
	}
	if f.contentType != "" {
		if _, _, err := mime.ParseMediaType(f.contentType); err != nil {
			return file{}, invalid(pointer+"/content_type", "is no media type")
		}
	}
	var err error
	switch {
	case o["bytes_base64"] != nil:
		if f.content, err = base64.StdEncoding.DecodeString(o.text("bytes_base64")); err != nil {
			return file{}, invalid(pointer+"/bytes_base64", "is no base64: %s", err)
		}
	case o["ref"] != nil && files == nil:
		return file{}, invalid(pointer+"/ref", "cannot be read: there is no store of files here; give bytes_base64 or text")
	case o["ref"] != nil:
		if f.content, err = files(o["ref"]); err != nil {
			return file{}, invalid(pointer+"/ref", "cannot be read: %s", err)
		}
	}
	return f, nil
}
