package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const services = `
openapi:
  github:
    spec: https://example.com/${VERSION:-v3}/openapi.json
    server: ${GITHUB:-https://api.github.com}
    auth:
      "*": {token: github.token}
      basicAuth: {username: ann, password: app:github.password}
      oauth: {client_id: "${CLIENT:-heddle}", client_secret: tenant:github.client}
    scheme: {type: header, name: X-Key}
    origins: [https://uploads.github.com]
    allow: ["localhost:8080"]
    protect: [github.repos.*, "DELETE /admin/*", "* /keys"]
    reads: [POST /search]
    timeout: 30s
  billing:
    spec: specs/billing.yaml
    root: .
`

func TestParseOpenAPI(t *testing.T) {
	dir := t.TempDir()
	got, err := Parse(filepath.Join(dir, "heddle.yaml"), []byte(services), env(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := []OpenAPI{
		{
			Namespace: "github", URL: "https://example.com/v3/openapi.json", Server: "https://api.github.com",
			Logins: map[string]Login{
				"*": {Token: "github.token"}, "basicAuth": {Username: "ann", Password: "app:github.password"},
				"oauth": {ClientID: "heddle", ClientSecret: "tenant:github.client"},
			},
			Scheme: &Scheme{Type: "header", Name: "X-Key"}, Origins: []string{"https://uploads.github.com"}, Allow: []string{"localhost:8080"},
			Protect: []string{"github.repos.*", "DELETE /admin/*", "* /keys"}, Reads: []string{"POST /search"}, Timeout: 30 * time.Second,
		},
		{Namespace: "billing", File: filepath.Join(dir, "specs/billing.yaml"), Root: dir},
	}
	if diff := cmp.Diff(want, got.OpenAPI); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseOpenAPINamesThePlace(t *testing.T) {
	for field, want := range map[string]string{
		"servers: x":                           "openapi.api.servers: unknown field; did you mean server?",
		"server: api.example.com":              "openapi.api.server: want a URL",
		"server: 'https://ann:hunter2@a.b'":    "openapi.api.server: holds a credential",
		"root: elsewhere":                      "openapi.api.root: the specification is not in this folder",
		"auth: {a: {}}":                        "openapi.api.auth.a: want one of token, username with password, and client_id with client_secret",
		"auth: {a: {username: ann}}":           "openapi.api.auth.a: want both username and password",
		"auth: {a: {token: b, client_id: c}}":  "openapi.api.auth.a: want both client_id and client_secret",
		"auth: {a: {token: 'hunter2 hunter'}}": "openapi.api.auth.a.token: want a reference to a secret",
		"auth: {a: {token: magic:hunter2}}":    "openapi.api.auth.a.token: want a reference to a secret",
		"scheme: {type: digest}":               `openapi.api.scheme.type: unknown type "digest"`,
		"scheme: {type: header}":               "openapi.api.scheme: the field name is missing: that of the header",
		"origins: [a.b]":                       "openapi.api.origins[0]: want a URL",
		"protect: [x, '*.get']":                "openapi.api.protect[0]: ",
		"protect: ['DELETE admin']":            "openapi.api.protect[0]: want a pattern of tool ids",
		"reads: [search]":                      "openapi.api.reads[0]: want method and path of one operation",
		"timeout: 31m":                         "openapi.api.timeout: 31m0s is out of range",
	} {
		_, err := Parse("c.yaml", []byte("openapi:\n  api:\n    spec: a/b.yaml\n    "+field+"\n"), env(nil))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "c.yaml:4:") && !strings.HasPrefix(err.Error(), "c.yaml:2:") {
			t.Errorf("%s: %v, want %s", field, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the problem repeats a secret: %v", field, err)
		}
	}
	_, err := Parse("c.yaml", []byte("openapi: {api: {}}"), env(nil))
	if err == nil || !strings.Contains(err.Error(), "openapi.api: the field spec is missing") {
		t.Errorf("without a specification: %v", err)
	}
}
