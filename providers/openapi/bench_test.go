package openapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// BenchmarkCall compares a call of a tool with the bare request that it makes.
func BenchmarkCall(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "[]")
	}))
	b.Cleanup(server.Close)
	source, err := New(Options{Namespace: "svc", Spec: yamlSpec(issuesSpec), Server: server.URL, Allow: []string{"127.0.0.1"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(source.Close)
	tools, err := source.Tools(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("heddle", func(b *testing.B) {
		for b.Loop() {
			if _, err := tools[0].Call(b.Context(), catalog.Call{Input: json.RawMessage("{}")}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("net_http", func(b *testing.B) {
		for b.Loop() {
			response, err := http.Get(server.URL + "/issues")
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
	})
}
