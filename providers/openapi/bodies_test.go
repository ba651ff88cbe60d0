package openapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const bodiesSpec = `
openapi: 3.1.0
info: {title: T, version: '1'}
paths:
  /body:
    post:
      operationId: op
      responses: {'200': {description: ok}}
      requestBody:
        required: true
        content:
          application/octet-stream: {}
          text/plain: {schema: {type: string}}
          application/xml: {schema: {type: object}}
          multipart/form-data:
            schema:
              type: object
              properties: {text: {type: string}, list: {type: array, items: {type: string}}, object: {type: object}, file: {type: string, format: binary}}
          application/x-www-form-urlencoded:
            schema:
              type: object
              properties: {text: {type: string}, list: {type: array, items: {type: string}}, deep: {type: object}, object: {type: object}}
            encoding: {deep: {style: deepObject, explode: true}}
          application/vnd.x+json: {schema: {type: object}}
`

func TestBodiesArriveAsTheyWereGiven(t *testing.T) {
	var got any
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = receivedBody(t, r) }))
	t.Cleanup(server.Close)
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(bodiesSpec)}, server.URL))
	r := rand.New(rand.NewPCG(3, 4))
	text := func() string { return sentParameter{}.text(r) }
	for range 20 {
		content := []byte(text() + "\x00\xff\r\n--")
		list := []any{text(), text()}
		object := map[string]any{"a": text(), "n": []any{text()}}
		file := map[string]any{"filename": `a"b.bin`, "content_type": "application/x-thing", "bytes_base64": base64.StdEncoding.EncodeToString(content)}
		deep := map[string]any{"k": text(), "l": text()}
		form := map[string]any{"text": text(), "list": list, "object": object}
		multi := maps.Clone(form)
		multi["file"] = file
		form["deep"] = deep
		plain := text()
		for mediaType, sent := range map[string]any{
			"application/vnd.x+json": object, "application/x-www-form-urlencoded": form, "multipart/form-data": multi,
			"text/plain": plain, "application/xml": "<a>" + plain + "</a>", "application/octet-stream": file,
		} {
			want := sent
			if mediaType == "application/octet-stream" {
				want = string(content)
			}
			if mediaType == "multipart/form-data" {
				with := maps.Clone(multi)
				with["file"] = `a"b.bin application/x-thing ` + string(content)
				want = with
			}
			_, out := dispatch(t, b, "svc.op", string(must(encode(map[string]any{"content_type": mediaType, "body": sent}))))
			if out.Error != nil {
				t.Fatalf("%s: %+v", mediaType, out.Error)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: the server received (-sent +received):\n%s", mediaType, diff)
			}
		}
	}
}

// receivedBody reads a body as a server does.
func receivedBody(t *testing.T, r *http.Request) any {
	body, _ := io.ReadAll(r.Body)
	mediaType, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		t.Error(err)
	}
	fromJSON := func(text []byte) (v any) {
		if err := json.Unmarshal(text, &v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		return v
	}
	switch mediaType {
	case "application/vnd.x+json":
		return fromJSON(body)
	case "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(body))
		if err != nil {
			t.Error(err)
		}
		list := []any{}
		for _, v := range values["list"] {
			list = append(list, v)
		}
		return map[string]any{
			"text": values.Get("text"), "list": list, "object": fromJSON([]byte(values.Get("object"))),
			"deep": map[string]any{"k": values.Get("deep[k]"), "l": values.Get("deep[l]")},
		}
	case "multipart/form-data":
		got := map[string]any{}
		list := []any{}
		reader := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
		for {
			p, err := reader.NextPart()
			if err != nil {
				break
			}
			content, _ := io.ReadAll(p)
			switch {
			case p.FileName() != "":
				got[p.FormName()] = strings.ReplaceAll(p.FileName(), "%22", `"`) + " " + p.Header.Get("Content-Type") + " " + string(content)
			case p.Header.Get("Content-Type") == "application/json":
				got[p.FormName()] = fromJSON(content)
			case p.FormName() == "list":
				list = append(list, string(content))
			default:
				got[p.FormName()] = string(content)
			}
		}
		got["list"] = list
		return got
	}
	return string(body)
}
