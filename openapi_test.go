package heddle_test

import (
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
