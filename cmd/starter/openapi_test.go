package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const inspectedSpec = `
openapi: 3.0.3
info: {title: Orders, version: '1'}
servers: [{url: 'https://api.example.com'}]
paths:
  /orders/{id}:
    get: {operationId: get, tags: [Orders], parameters: [{name: lost, in: nowhere}], responses: {'200': {description: ok}}}
    delete: 7
`

// starter runs a command line that needs no server.
func starter(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &cli{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs, env: func(string) string { return "" }, isTerminal: func(any) bool { return false }}
	code = c.run(context.Background(), args)
	return code, out.String(), errs.String()
}

func TestOpenAPIInspect(t *testing.T) {
	file := filepath.Join(t.TempDir(), "openapi.yaml")
	if err := os.WriteFile(file, []byte(inspectedSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := starter(t, "", "openapi", "inspect", file, "--json")
	var report map[string]any
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != exitOK {
		t.Fatalf("exit code %d, %s, %v", code, stderr, err)
	}
	if report["operations"] != 2.0 || report["tools"] != 1.0 || report["load_ms"] == nil {
		t.Errorf("report is %s", stdout)
	}
	for _, want := range []string{`"pointer":"/paths/~1orders~1{id}/delete"`, `"pointer":"/paths/~1orders~1{id}/get/parameters/0"`, `"tool":"api.orders.get"`, `"endpoint":"GET /orders/{id}"`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the report lacks %s: %s", want, stdout)
		}
	}
	code, stdout, _ = starter(t, inspectedSpec, "openapi", "inspect", "-", "--namespace", "shop")
	for _, want := range []string{"2 operations, 1 tools", "shop.orders.get({id})", "GET /orders/{id}", "Skipped:", "Degraded:"} {
		if code != exitOK || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d; the text lacks %q:\n%s", code, want, stdout)
		}
	}
}

func TestOpenAPIInspectFails(t *testing.T) {
	for name, tt := range map[string]struct {
		stdin string
		args  []string
		code  int
		says  string
	}{
		"nothing usable":  {"openapi: 3.1.0\ninfo: {title: x, version: '1'}\nwebhooks: {}\n", []string{"-"}, exitFailed, "no operation"},
		"no OpenAPI":      {"a: 1\n", []string{"-"}, exitFailed, "no OpenAPI specification"},
		"nothing":         {"", []string{"-"}, exitFailed, "is empty"},
		"no such file":    {"", []string{"/nowhere/openapi.yaml"}, exitFailed, "cannot be read"},
		"private address": {"", []string{"https://169.254.169.254/openapi.json"}, exitFailed, "not public"},
		"no argument":     {"", nil, exitUsage, "missing argument"},
		"bad namespace":   {"", []string{"-", "--namespace", "a.b"}, exitUsage, "namespace"},
	} {
		code, _, stderr := starter(t, tt.stdin, append([]string{"openapi", "inspect"}, tt.args...)...)
		if code != tt.code || !strings.Contains(stderr, tt.says) {
			t.Errorf("%s: exit code %d, %q; want %d and %q", name, code, stderr, tt.code, tt.says)
		}
	}
}
