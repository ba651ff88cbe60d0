package openapi

import (
	"strings"
	"testing"
)

// Who is asked about a call sees the request that will be sent, and it is the one
// that is.
func TestWhoIsAskedSeesTheRequest(t *testing.T) {
	server, requests := service(t, nil)
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(issuesSpec)}, server.URL))
	plan, out := dispatch(t, b, "svc.create", `{"body":{"title":"x"}}`)
	if plan.Error != nil || out.Error != nil || len(*requests) != 1 {
		t.Fatalf("%v, %v, %d requests", plan.Error, out.Error, len(*requests))
	}
	sent := (*requests)[0]
	if want := sent.Method + " " + server.URL + sent.raw; plan.Does != want || !strings.HasPrefix(want, "POST ") {
		t.Errorf("the person is told %q, and %q was sent", plan.Does, want)
	}
}
