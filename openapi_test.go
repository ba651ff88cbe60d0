package heddle_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle"
)

func TestOpenAPI(t *testing.T) {
	spec := heddle.OpenAPISpec{Bytes: []byte("openapi: 3.1.0\ninfo: {title: x, version: '1'}\npaths: {/a: {get: {responses: {}}}}")}
	if _, err := heddle.New(heddle.OpenAPI(heddle.OpenAPIOptions{Namespace: "shop", Spec: spec})); err != nil && strings.Contains(err.Error(), "openapi") {
		t.Error(err)
	}
	_, err := heddle.New(heddle.OpenAPI(heddle.OpenAPIOptions{Namespace: "no.dots", Spec: spec}))
	if err == nil || !strings.Contains(err.Error(), `"no.dots"`) {
		t.Errorf("error is %v", err)
	}
}

func TestConfiguredOpenAPI(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "api.json")
	if err := os.WriteFile(spec, []byte(`{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{"/a":{"get":{"operationId":"get","responses":{}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := heddle.New(configFile(t, sound+"openapi:\n  shop: {spec: "+spec+", auth: {'*': {token: shop.token}}}\n")); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"no.dots: {spec: " + spec + "}":              `openapi.no.dots: openapi: namespace "no.dots"`,
		"shop: {spec: " + spec + ", allow: ['a/b']}": `openapi.shop: openapi: shop: netguard: allowed host "a/b"`,
	} {
		_, err := heddle.New(configFile(t, sound+"openapi:\n  "+text+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "heddle.yaml:6:3: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestOpenAPIFetchesNothingAtFirst builds an application whose specification cannot
// be had now.
func TestOpenAPIFetchesNothingAtFirst(t *testing.T) {
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	text := fmt.Sprintf("openapi:\n  shop: {spec: %q, allow: [%q]}\n", server.URL+"/openapi.json", server.Listener.Addr().String())
	if _, err := heddle.New(configFile(t, sound+text)); err != nil || asked {
		t.Errorf("error %v, asked %t", err, asked)
	}
}
