package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// pagedSpec describes one list whose answers go on in the way that the test says.
func pagedSpec(parameters, response string) Location {
	return Location{Bytes: []byte(`
openapi: 3.1.0
info: {title: Paged, version: '1'}
paths:
  /items:
    get:
      operationId: list
      parameters: [` + parameters + `]
      responses: {'200': {description: ok, ` + response + `}}
`)}
}

const arrayOfItems = `content: {application/json: {schema: {type: array, items: {type: object}}}}`

func objectWith(properties string) string {
	return `content: {application/json: {schema: {type: object, properties: {data: {type: array, items: {type: object}}, ` + properties + `}}}}`
}

// fiveItems serves five items, two a page; answer writes one page and how it goes
// on from index next, which is 0 on the last page.
func fiveItems(t *testing.T, start func(url.Values) int, answer func(w http.ResponseWriter, r *http.Request, items string, from, next int)) (*httptest.Server, *int) {
	t.Helper()
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		from := start(r.URL.Query())
		var items []string
		for i := from; i < min(from+2, 5); i++ {
			items = append(items, fmt.Sprintf(`{"id":"i%d"}`, i))
		}
		next := from + 2
		if next >= 5 {
			next = 0
		}
		w.Header().Set("Content-Type", "application/json")
		answer(w, r, "["+strings.Join(items, ",")+"]", from, next)
	}))
	t.Cleanup(server.Close)
	return server, &requests
}

// index reads a number of the query.
func index(name string, scale, base int) func(url.Values) int {
	return func(q url.Values) int {
		n, err := strconv.Atoi(strings.TrimPrefix(q.Get(name), "c"))
		if err != nil {
			return 0
		}
		return (n - base) * scale
	}
}

func TestPages(t *testing.T) {
	body := func(format string) func(http.ResponseWriter, *http.Request, string, int, int) {
		return func(w http.ResponseWriter, r *http.Request, items string, _, next int) {
			fmt.Fprint(w, strings.NewReplacer("ITEMS", items, "CURSOR", cursorText(next, "c%d"), "MORE", strconv.FormatBool(next > 0),
				"NEXT", cursorText(next, "http://"+r.Host+"/v1/items?from=%d")).Replace(format))
		}
	}
	for name, tt := range map[string]struct {
		spec   Location
		start  func(url.Values) int
		answer func(http.ResponseWriter, *http.Request, string, int, int)
		// list points to the list in the answer.
		list string
		// beyond says that the end is known from an empty page only.
		beyond bool
	}{
		"the header Link": {
			pagedSpec("", `headers: {Link: {schema: {type: string}}}, `+arrayOfItems), index("from", 1, 0),
			func(w http.ResponseWriter, r *http.Request, items string, _, next int) {
				if next > 0 {
					w.Header().Set("Link", fmt.Sprintf(`</v1/items?from=0>; rel="first"; title="a, \"b\"", <http://%s/v1/items?from=%d>; rel="x next"`, r.Host, next))
				}
				fmt.Fprint(w, items)
			}, "", false,
		},
		"a cursor": {
			pagedSpec(`{name: cursor, in: query, schema: {type: string}}`, objectWith(`next_cursor: {type: [string, 'null']}`)),
			index("cursor", 1, 0), body(`{"data":ITEMS,"next_cursor":"CURSOR"}`), "/data", false,
		},
		"a cursor within": {
			pagedSpec(`{name: page_token, in: query, schema: {type: string}}`, objectWith(`meta: {type: object, properties: {nextPageToken: {type: string}}}`)),
			index("page_token", 1, 0), body(`{"data":ITEMS,"meta":{"nextPageToken":"CURSOR"}}`), "/data", false,
		},
		"an address in the body": {
			pagedSpec("", objectWith(`next: {type: [string, 'null']}`)),
			index("from", 1, 0), body(`{"data":ITEMS,"next":"NEXT"}`), "/data", false,
		},
		"after the last item": {
			pagedSpec(`{name: starting_after, in: query, schema: {type: string}}`, objectWith(`has_more: {type: boolean}`)),
			func(q url.Values) int {
				n, err := strconv.Atoi(strings.TrimPrefix(q.Get("starting_after"), "i"))
				if err != nil {
					return 0
				}
				return n + 1
			}, body(`{"data":ITEMS,"has_more":MORE}`), "/data", false,
		},
		"numbers from 0": {
			pagedSpec(`{name: page, in: query, schema: {type: integer, minimum: 0}}`, arrayOfItems), index("page", 2, 0), body("ITEMS"), "", true,
		},
		"numbers from 1": {
			pagedSpec(`{name: page, in: query, schema: {type: integer, default: 1}}`, arrayOfItems),
			func(q url.Values) int { return index("page", 2, 1)(url.Values{"page": {orOne(q.Get("page"))}}) }, body("ITEMS"), "", true,
		},
		"an offset": {
			pagedSpec(`{name: offset, in: query, schema: {type: integer}}`, objectWith(`total: {type: integer}`)),
			index("offset", 1, 0), body(`{"data":ITEMS,"total":5}`), "/data", true,
		},
		"a link of the specification": {
			pagedSpec(`{name: resume, in: query, schema: {type: string}}`, objectWith(`go_on: {type: string}`)+`, links: {next: {operationId: list, parameters: {resume: '$response.body#/go_on'}}}`),
			index("resume", 1, 0), body(`{"data":ITEMS,"go_on":"CURSOR"}`), "/data", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, requests := fiveItems(t, tt.start, tt.answer)
			b := newBroker(t, newSource(t, Options{Spec: tt.spec}, server.URL+"/v1"))
			for pages, want := range map[int]int{1: 2, 2: 4, 3: 5, 9: 5} {
				*requests = 0
				_, out := dispatch(t, b, "svc.list", fmt.Sprintf(`{"pages":%d}`, pages))
				list, ok := lookup(out.Result, tt.list)
				if out.Error != nil || out.Warning != "" || !ok || len(elements(list)) != want {
					t.Fatalf("%d pages: %+v", pages, out)
				}
				for i, item := range elements(list) {
					if id := objectOf(item).text("id"); id != fmt.Sprintf("i%d", i) {
						t.Errorf("%d pages: item %d is %s", pages, i, id)
					}
				}
				most := min(pages, 3)
				if tt.beyond && pages > 3 {
					most++
				}
				if *requests != most {
					t.Errorf("%d pages took %d requests, want %d", pages, *requests, most)
				}
			}
		})
	}
}

func orOne(s string) string {
	if s == "" {
		return "1"
	}
	return s
}

func cursorText(next int, format string) string {
	if next == 0 {
		return ""
	}
	return fmt.Sprintf(format, next)
}

// TestPagesOfHostileServices follow no address elsewhere, and none twice.
func TestPagesOfHostileServices(t *testing.T) {
	spec := pagedSpec("", `headers: {Link: {schema: {type: string}}}, `+arrayOfItems)
	for name, tt := range map[string]struct {
		link string
		code string
		want int
	}{
		"another host":     {`<http://169.254.169.254/latest>; rel=next`, CodeRefused, 1},
		"another scheme":   {`<file:///etc/passwd>; rel=next`, CodeRefused, 1},
		"outside the base": {`</admin>; rel=next`, CodeRefused, 1},
		"climbing":         {`<../../admin>; rel=next`, CodeRefused, 1},
		"itself":           {`</v1/items>; rel=next`, "", 1},
		"round and round":  {`<?a=1>; rel=next`, "", 2},
		"no address":       {`rel=next, <>; rel=next, <`, "", 1},
	} {
		server, requests := service(t, &upstream{Status: 200, JSON: json.RawMessage(`[{}]`), Headers: map[string]string{"Content-Type": "application/json", "Link": tt.link}})
		_, out := dispatch(t, newBroker(t, newSource(t, Options{Spec: spec}, server.URL+"/v1")), "svc.list", `{"pages":50}`)
		if len(*requests) != tt.want || (tt.code == "") != (out.Error == nil) || out.Error != nil && (out.Error.Code != tt.code || out.Error.Effect != catalog.EffectNone) {
			t.Errorf("%s: %d requests, outcome %+v", name, len(*requests), out)
		}
	}
}

func TestPagesFailAsAWhole(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if requests++; requests == 2 {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprint(w, `[{}]`)
	}))
	t.Cleanup(server.Close)
	numbered := pagedSpec(`{name: page, in: query, schema: {type: integer}}`, arrayOfItems)
	b := newBroker(t, newSource(t, Options{Spec: numbered}, server.URL))
	_, out := dispatch(t, b, "svc.list", `{"page":1,"pages":3}`)
	if out.Error == nil || out.Error.Code != "http_403" || !strings.HasPrefix(out.Error.Message, "page 2: ") {
		t.Errorf("a page that fails: %+v", out)
	}
	plan, _ := dispatch(t, b, "svc.list", `{"pages":3}`)
	if plan.Error == nil || plan.Error.Code != catalog.CodeInvalidInput || plan.Error.Violations[0].Pointer != "/page" || requests != 2 {
		t.Errorf("pages from an unknown number: %+v", plan)
	}
	for _, input := range []string{`{"pages":0}`, `{"pages":101}`, `{"pages":"all"}`} {
		if plan, _ := dispatch(t, b, "svc.list", input); plan.Error == nil {
			t.Errorf("%s is taken", input)
		}
	}
}

// TestWhatHasNoPages keeps its input.
func TestWhatHasNoPages(t *testing.T) {
	for name, spec := range map[string]Location{
		"no list":     pagedSpec(`{name: page, in: query, schema: {type: integer}}`, `content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}`),
		"two lists":   pagedSpec(`{name: page, in: query, schema: {type: integer}}`, `content: {application/json: {schema: {type: object, properties: {a: {type: array}, b: {type: array}}}}}`),
		"one page":    pagedSpec("", arrayOfItems),
		"a write":     {Bytes: []byte(strings.Replace(string(pagedSpec(`{name: page, in: query, schema: {type: integer}}`, arrayOfItems).Bytes), "    get:", "    post:", 1))},
		"not a count": pagedSpec(`{name: page, in: query, schema: {type: object}}`, arrayOfItems),
	} {
		tools, err := newSource(t, Options{Spec: spec}, "").Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		complete, err := tools[0].Complete()
		if err != nil || strings.Contains(string(complete.Input), `"pages"`) {
			t.Errorf("%s: input is %s, %v", name, complete.Input, err)
		}
	}
	taken := pagedSpec(`{name: page, in: query, schema: {type: integer}}, {name: pages, in: query, schema: {type: string}}`, arrayOfItems)
	tools, _ := newSource(t, Options{Spec: taken}, "").Tools(t.Context())
	complete, err := tools[0].Complete()
	if properties := objectOf(objectOf(complete.Input)["properties"]); err != nil || properties["pages_"] == nil || !slices.Equal(objectOf(properties["pages"]).types(), []string{"string"}) {
		t.Errorf("a parameter of that name: input is %s, %v", complete.Input, err)
	}
}

// TestPagesOfPublishedServices finds how services go on that are known.
func TestPagesOfPublishedServices(t *testing.T) {
	for _, tt := range []struct {
		file, operation string
		want            pager
	}{
		{"github-rest.json", "GET /repos/{owner}/{repo}/pulls", pager{linked: true}},
		{"github-rest.json", "GET /search/issues", pager{list: "/items"}},
		{"stripe.json", "GET /v1/customers", pager{list: "/data", more: "/has_more", last: "id"}},
		{"stripe.json", "GET /v1/subscriptions/search", pager{list: "/data", more: "/has_more", next: "/next_page"}},
		{"spotify-restgpt.json", "GET /playlists/{playlist_id}/tracks", pager{list: "/items", next: "/next"}},
		{"google-calendar.json", "GET /users/me/calendarList", pager{list: "/items", next: "/nextPageToken"}},
		{"slack-web-api.swagger2.json", "GET /users.conversations", pager{list: "/channels", next: "/response_metadata/next_cursor"}},
	} {
		spec, err := Load(t.Context(), published(t, tt.file), nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := spec.compile(spec.operations[spec.byKey[tt.operation]])
		if err != nil || c.op.key() != tt.operation || c.pager == nil {
			t.Errorf("%s: %s has no pages, %v", tt.file, tt.operation, err)
			continue
		}
		got := *c.pager
		got.input, got.cursor, got.number, got.offset = "", nil, nil, nil
		if got != tt.want {
			t.Errorf("%s: %s: %+v, want %+v", tt.file, tt.operation, got, tt.want)
		}
	}
}
