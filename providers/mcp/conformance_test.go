package mcp_test

import (
	"net/http"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/catalogtest"
	"github.com/heddle-dev/heddle/providers/mcp"
)

func TestConformance(t *testing.T) {
	catalogtest.Run(t, func(t testing.TB) catalogtest.Fixture {
		f := newFake(t)
		f.offer(`[
			{"name":"echo","description":"Says what it hears.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},
			{"name":"fail","description":"Fails.","inputSchema":{"type":"object"}},
			{"name":"wait","description":"Waits.","inputSchema":{"type":"object"}}
		]`)
		f.on("tools/call", func(w http.ResponseWriter, m message) {
			switch m.param("name") {
			case `"fail"`:
				reply(w, m, `{"content":[{"type":"text","text":"no luck"}],"isError":true}`)
			case `"wait"`:
				<-t.Context().Done()
			default:
				f.answer(w, m)
			}
		})
		// The servers of two fixtures have the same address as far as a descriptor goes.
		return catalogtest.Fixture{
			Source:  f.source(func(o *mcp.Options) { o.Trusted = true }),
			Good:    []catalogtest.Call{{Tool: "far.echo", Input: `{"text":"hello"}`}},
			Bad:     []catalogtest.Call{{Tool: "far.echo", Input: `{"text":1}`}, {Tool: "far.echo", Input: `{}`}},
			Failing: []catalogtest.Failure{{Call: catalogtest.Call{Tool: "far.fail", Input: `{}`}, Code: catalog.CodeToolFailed}},
			Slow:    &catalogtest.Call{Tool: "far.wait", Input: `{}`},
			Reached: func() int { return len(f.received("tools/call")) },
		}
	})
}
