package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// readCase reads the data of a case. Each is a fault that some client of the
// protocol had.
func readCase(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/cases", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// tool finds a tool of a source.
func tool(t *testing.T, s *mcp.Source, id string) catalog.Tool {
	t.Helper()
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tools, func(x catalog.Tool) bool { return x.ID == id })
	if i < 0 {
		t.Fatalf("there is no %s among %v", id, ids(t, s))
	}
	return tools[i]
}

func TestCaseSchemaWithoutProperties(t *testing.T) {
	var c struct {
		Descriptors json.RawMessage `json:"descriptors"`
	}
	readCase(t, "schema-without-properties", &c)
	f := newFake(t)
	f.offer(string(c.Descriptors))
	s := f.source()
	for _, id := range []string{"far.now", "far.now2"} {
		if got := string(tool(t, s, id).Input); got != `{"properties":{},"type":"object"}` {
			t.Errorf("%s: input schema is %s", id, got)
		}
		newDesk(t, s).want(id, `{}`, `{}`)
	}
}

func TestCaseDefsAndAdditionalDropped(t *testing.T) {
	var c struct {
		Descriptors []json.RawMessage `json:"descriptors"`
		Calls       []struct {
			Arguments json.RawMessage `json:"arguments"`
			Valid     bool            `json:"valid"`
		} `json:"calls"`
	}
	readCase(t, "defs-and-additional-dropped", &c)
	var descriptor struct {
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if err := json.Unmarshal(c.Descriptors[0], &descriptor); err != nil {
		t.Fatal(err)
	}
	f := newFake(t)
	f.offer("[" + string(c.Descriptors[0]) + "]")
	s := f.source()
	if got := tool(t, s, "far.book").Input; string(got) != string(descriptor.InputSchema) {
		t.Errorf("the schema has changed on the way:\n%s\n%s", got, descriptor.InputSchema)
	}
	for _, call := range c.Calls {
		out := newDesk(t, s).call("far.book", string(call.Arguments))
		if valid := out.Error == nil; valid != call.Valid {
			t.Errorf("%s: error %v, want valid: %t", call.Arguments, out.Error, call.Valid)
		}
	}
}

// pages scripts tools/list with one answer for each cursor.
func (f *fake) pages(answer func(cursor string) string) {
	f.on("tools/list", func(w http.ResponseWriter, m message) { reply(w, m, answer(m.param("cursor"))) })
}

// stub is a tool of which only the name matters.
func stub(name string) string {
	return fmt.Sprintf(`{"name":%q,"description":"x","inputSchema":{"type":"object"}}`, name)
}

func TestCaseToolsListPages(t *testing.T) {
	var c struct {
		Pages []struct {
			Cursor     json.RawMessage `json:"cursor"`
			Tools      []string        `json:"tools"`
			NextCursor json.RawMessage `json:"nextCursor"`
		} `json:"pages"`
	}
	readCase(t, "tools-list-pages", &c)
	f := newFake(t)
	f.pages(func(cursor string) string {
		for _, p := range c.Pages {
			if want := string(p.Cursor); want != cursor && (cursor != "" || want != "null") {
				continue
			}
			var tools []string
			for _, name := range p.Tools {
				tools = append(tools, stub(name))
			}
			next := ""
			if len(p.NextCursor) > 0 {
				next = `,"nextCursor":` + string(p.NextCursor)
			}
			return `{"tools":[` + strings.Join(tools, ",") + `]` + next + `}`
		}
		t.Errorf("page %s is asked for", cursor)
		return `{}`
	})
	if got, want := ids(t, f.source()), []string{"far.t01", "far.t02", "far.t03", "far.t04"}; !slices.Equal(got, want) {
		t.Errorf("tools are %v, want %v", got, want)
	}
}

func TestCaseToolsListCursorLoop(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(cursor string) string
		most   int
		ids    int
		reason string
	}{
		"same":            {func(string) string { return `{"tools":[` + stub("a") + `,` + stub("b") + `],"nextCursor":"X"}` }, 0, 2, "cursor that was followed before"},
		"empty-string":    {func(string) string { return `{"tools":[` + stub("a") + `,` + stub("b") + `],"nextCursor":""}` }, 0, 2, ""},
		"duplicate-names": {func(string) string { return `{"tools":[` + stub("a") + `,` + stub("a") + `]}` }, 0, 1, "used twice"},
		"endless": {func(cursor string) string {
			i := 0
			_, _ = fmt.Sscanf(cursor, `"%d"`, &i)
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, stub(fmt.Sprint("t", i)), i+1)
		}, 30, 30, "only the first 30 entries"},
		"endless and empty": {func(cursor string) string { return `{"tools":[],"nextCursor":` + nextCursor(cursor) + `}` }, 0, 0, "only the first 100 pages"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.pages(c.answer)
			s := f.source(func(o *mcp.Options) { o.MaxTools = c.most })
			if got := ids(t, s); len(got) != c.ids {
				t.Errorf("there are %d tools, want %d: %v", len(got), c.ids, got)
			}
			report := s.Report()
			if c.reason == "" && len(report.Left) > 0 || c.reason != "" && !strings.Contains(fmt.Sprint(report.Left), c.reason) {
				t.Errorf("the report is %+v, want %q", report, c.reason)
			}
			if leftOut, stale := s.Shortfall(catalog.Scope{}); stale != nil || len(leftOut) != len(report.Left) || !strings.Contains(strings.Join(leftOut, "\n"), c.reason) {
				t.Errorf("it says that it lacks %v, %v", stale, leftOut)
			}
			if n := len(f.received("tools/list")); n > 100 {
				t.Errorf("%d pages were asked for", n)
			}
		})
	}
}

func nextCursor(cursor string) string {
	i := 0
	_, _ = fmt.Sscanf(cursor, `"%d"`, &i)
	return fmt.Sprintf(`"%d"`, i+1)
}

// results scripts the results of calls, in their order.
func (f *fake) results(all []json.RawMessage) {
	next := 0
	f.on("tools/call", func(w http.ResponseWriter, m message) {
		reply(w, m, string(all[next]))
		next++
	})
}

func TestCaseErrorLookingSuccess(t *testing.T) {
	var c struct {
		Results []json.RawMessage `json:"results"`
	}
	readCase(t, "error-looking-success", &c)
	f := newFake(t)
	f.results(c.Results)
	d := newDesk(t, f.source())
	d.want("far.echo", `{"text":"x"}`, `"missing required parameter: owner"`)
	out := d.call("far.echo", `{"text":"x"}`)
	if out.Error != nil || compact(t, out.Result) != `{"n":3}` {
		t.Errorf("result is %s, %v", out.Result, out.Error)
	}
}

func compact(t *testing.T, text json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestCaseContentKinds(t *testing.T) {
	var c struct {
		Results []json.RawMessage `json:"results"`
	}
	readCase(t, "content-kinds", &c)
	f := newFake(t)
	f.results(c.Results)
	d := newDesk(t, f.source())
	for i, want := range []string{
		`{"a":1}`, `{"a":1}`, `["one","two"]`,
		`[{"bytes_base64":"iVBORw0KGgo=","content_type":"image/png","size":8,"type":"image"},"see"]`,
		`{"text":"body","type":"resource","uri":"file:///a.txt"}`,
		`{"name":"y","type":"resource_link","uri":"https://x.case.example/y"}`,
		`{"type":"future_kind","x":1}`,
	} {
		out := d.call("far.echo", `{"text":"x"}`)
		if out.Error != nil || compact(t, out.Result) != want {
			t.Errorf("result %d is %s, %v; want %s", i+1, out.Result, out.Error, want)
		}
	}
}

func TestCaseNullVersusAbsentArguments(t *testing.T) {
	f := newFake(t)
	f.offer(`[{"name":"now","description":"x","inputSchema":{"type":"object","properties":{}}},
		{"name":"q","inputSchema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]}}}}]`)
	d := newDesk(t, f.source())
	d.want("far.now", `{}`, `{}`)
	d.want("far.q", `{"b":null}`, `{"b":null}`)
	d.wantError("far.q", `{"a":null,"b":null}`, catalog.CodeInvalidInput, catalog.EffectNone)
	for _, m := range f.received("tools/call") {
		if a := m.param("arguments"); !strings.HasPrefix(a, "{") {
			t.Errorf("arguments on the wire are %q", a)
		}
	}
}

func TestCaseNameWithServerPrefix(t *testing.T) {
	var c struct {
		Tools []string `json:"tools"`
	}
	readCase(t, "name-with-server-prefix", &c)
	f := newFake(t)
	var offers []string
	for _, name := range c.Tools {
		offers = append(offers, stub(name))
	}
	f.offer("[" + strings.Join(offers, ",") + "]")
	s := f.source(func(o *mcp.Options) { o.Namespace = "n4e9e25f1-b480-40f3" })
	first := ids(t, s)
	slices.Sort(first)
	if n := len(slices.Compact(slices.Clone(first))); n != len(c.Tools) {
		t.Errorf("%d names make %d ids: %v", len(c.Tools), n, first)
	}
	d := newDesk(t, s)
	for _, id := range first {
		d.call(id, `{}`)
	}
	var wire []string
	for _, m := range f.received("tools/call") {
		var name string
		_ = json.Unmarshal([]byte(m.param("name")), &name)
		wire = append(wire, name)
	}
	slices.Sort(wire)
	slices.Sort(c.Tools)
	if !slices.Equal(wire, c.Tools) {
		t.Errorf("the server was called by %q, want %q", wire, c.Tools)
	}
}

func TestCaseRugPull(t *testing.T) {
	var c struct {
		V1      map[string]json.RawMessage   `json:"v1"`
		Changes []map[string]json.RawMessage `json:"changes"`
	}
	readCase(t, "rug-pull", &c)
	render := func(change map[string]json.RawMessage) string {
		all := map[string]json.RawMessage{}
		for k, v := range c.V1 {
			all[k] = v
		}
		for k, v := range change {
			if k != "note" {
				all[k] = v
			}
		}
		text, err := json.Marshal([]any{all})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	request := catalog.Request{Tool: "far.send_mail", Input: json.RawMessage(`{"to":"a@b.example"}`)}
	for i, want := range []string{catalog.CodeDescriptorChanged, catalog.CodeDescriptorChanged, "", catalog.CodeToolNotFound, ""} {
		f := newFake(t)
		f.offer(render(nil))
		s := f.source()
		d := newDesk(t, s)
		plan := d.broker.Plan(t.Context(), d.scope, request)
		if plan.Error != nil || !plan.NeedsApproval {
			t.Fatalf("plan is %+v", plan)
		}
		f.offer(render(c.Changes[i]))
		f.announce(s, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		eventually(t, "the listing is asked for anew", func() bool { ids(t, s); return len(f.received("tools/list")) > 1 })
		out := d.broker.Dispatch(t.Context(), d.scope, request, plan)
		switch {
		case want == "" && out.Error != nil:
			t.Errorf("change %d: %v, want no error", i+1, out.Error)
		case want != "" && (out.Error == nil || out.Error.Code != want):
			t.Errorf("change %d: error is %v, want %s", i+1, out.Error, want)
		}
		if again := d.broker.Plan(t.Context(), d.scope, request); i == 2 && !again.NeedsApproval {
			t.Error("a hint of the server lowers the protection")
		}
	}
}

// announce sends on the stream that a source listens on.
func (f *fake) announce(_ *mcp.Source, text string) {
	f.t.Helper()
	select {
	case f.listener <- text:
	case <-time.After(patience):
		f.t.Error("nobody listens")
	}
}

func TestCaseListChangedMidRun(t *testing.T) {
	f := newFake(t)
	v1 := `{"name":"a","description":"x","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`
	v2 := `{"name":"a","description":"x","inputSchema":{"type":"object","properties":{"n":{"type":"string"}}}}`
	f.offer(`[` + v1 + `,` + stub("b") + `]`)
	s := f.source()
	d := newDesk(t, s)
	request := catalog.Request{Tool: "far.a", Input: json.RawMessage(`{"n":1}`)}
	plan := d.broker.Plan(t.Context(), d.scope, request)
	f.offer(`[` + v2 + `,` + stub("c") + `]`)
	f.announce(s, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	eventually(t, "the new tools are seen", func() bool { return slices.Equal(ids(t, s), []string{"far.a", "far.c"}) })
	if out := d.broker.Dispatch(t.Context(), d.scope, request, plan); out.Error == nil || out.Error.Effect == catalog.EffectUnknown {
		t.Errorf("a call planned for the old description ends in %+v", out)
	}
	d.wantError("far.b", `{}`, catalog.CodeToolNotFound, catalog.EffectNone)
	if n := len(f.received("tools/call")); n != 0 {
		t.Errorf("the server was called %d times", n)
	}
}

func TestCaseLargeInt(t *testing.T) {
	var c struct {
		Descriptor json.RawMessage `json:"descriptor"`
		Call       string          `json:"call_raw"`
		Result     string          `json:"result_raw"`
	}
	readCase(t, "large-int", &c)
	f := newFake(t)
	f.offer("[" + string(c.Descriptor) + "]")
	f.results([]json.RawMessage{json.RawMessage(c.Result)})
	newDesk(t, f.source()).want("far.get", c.Call, `{"id":9223372036854775807,"ratio":0.1}`)
	if got := f.received("tools/call")[0].param("arguments"); !strings.Contains(got, "9007199254740993") {
		t.Errorf("arguments on the wire are %s", got)
	}
}
