package search_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog/search"
)

// tools makes documents of lines "id: description"; what stands before the last
// dot of an id is the namespace.
func tools(lines ...string) []search.Document {
	var documents []search.Document
	for _, line := range lines {
		id, description, _ := strings.Cut(line, ": ")
		d := search.Document{ID: id, Name: id, Description: description}
		if i := strings.LastIndexByte(id, '.'); i >= 0 {
			d.Namespace, d.Name = id[:i], id[i+1:]
		}
		documents = append(documents, d)
	}
	return documents
}

func find(x *search.Index, texts ...string) []string {
	return ids(x.Search(search.Query{Texts: texts}))
}

func ids(result search.Result) []string {
	var ids []string
	for _, hit := range result.Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

// within checks that all that is wanted is among the first n.
func within(t *testing.T, query string, got []string, n int, want ...string) {
	t.Helper()
	for _, id := range want {
		if !slices.Contains(got[:min(n, len(got))], id) {
			t.Errorf("%q finds %v, want %s among the first %d", query, got, id, n)
		}
	}
}

func TestNamesComeFirst(t *testing.T) {
	lines := []string{"mem.search_graph: Search", "mem.trace_path: Trace", "mem.get_code_snippet: Code"}
	for _, kind := range []string{"issues", "repos", "code", "users", "orgs", "teams", "commits", "labels", "topics", "gists"} {
		lines = append(lines, fmt.Sprintf("gh.search_%s: Search graph of %s with search query, search sort, search graph", kind, kind))
	}
	x := search.Build(tools(lines...))
	for _, query := range []string{
		"search_graph", "mem.search_graph", "Search Graph", "MEM.SEARCH_GRAPH", "searchGraph", "search-graph",
		" search_graph\n", "'search_graph'", "use `search_graph` to search the graph of issues",
	} {
		within(t, query, find(x, query), 1, "mem.search_graph")
	}
	names := "search_graph trace_path get_code_snippet mem"
	within(t, names, find(x, names), 3, "mem.search_graph", "mem.trace_path", "mem.get_code_snippet")
	got := find(x, "trace_path", "search_graph")
	if want := []string{"mem.trace_path", "mem.search_graph"}; !slices.Equal(got[:2], want) {
		t.Errorf("several texts find %v, want %v first", got, want)
	}
}

func TestAWordThatIsANameIsStillAWord(t *testing.T) {
	x := search.Build(tools(
		"design.search: Courses and workshops on design", "now.trends: Trends", "local: Restaurants and shops near you",
		"flights.find: Search for flights between two cities",
	))
	within(t, "search for flights", find(x, "search for flights from Oslo to Rome"), 1, "flights.find")
	within(t, "search", find(x, "search"), 1, "design.search")
	within(t, "search, local", find(x, "search, local"), 2, "design.search", "local")
}

func TestEqualNamesAreOrderedByID(t *testing.T) {
	x := search.Build(tools("b.get: Get", "c.get: Get", "a.get: Get", "a.get.get: Get"))
	if got, want := find(x, "get"), []string{"a.get", "a.get.get", "b.get", "c.get"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

func TestWordsOfIdentifiers(t *testing.T) {
	x := search.Build(tools(
		"dashboard-create: Create a dashboard", "insight-create: Create an insight", "insight-list: List insights",
		"update_device_radio: Change transmit power (tx) and channel of a Wi-Fi radio",
		"dns_txt_records: List DNS TXT records", "sendMail: Send an e-mail message",
		"createCalendarEvent: Create event in calendar",
	))
	within(t, "create dashboard insight", find(x, "create dashboard insight"), 3, "dashboard-create", "insight-create")
	for query, want := range map[string]string{
		"update wlan radio tx power": "update_device_radio",
		"update tx power":            "update_device_radio",
		"send email":                 "sendMail",
		"sendmail":                   "sendMail",
		"create calendar event":      "createCalendarEvent",
		"createcalendarevent":        "createCalendarEvent",
		"wifi radio":                 "update_device_radio",
	} {
		within(t, query, find(x, query), 1, want)
	}
}

func TestTyposAndOtherWords(t *testing.T) {
	x := search.Build(tools(
		"pileometh: Extract methylation metrics", "delete_message: Delete a chat message",
		"list_pull_requests: List pull requests in a repository", "get_weather: Forecast for a place",
		"calendar.add: Adds to the calendar", "configuration.show: Shows the configuration",
	))
	for query, want := range map[string]string{
		"PileOMth":                             "pileometh",
		"pileomet":                             "pileometh",
		"run pileo on it":                      "pileometh",
		"run pilometh on it":                   "pileometh",
		"run pullrequests":                     "list_pull_requests",
		"remove a message":                     "delete_message",
		"delte mesages":                        "delete_message",
		"open PRs":                             "list_pull_requests",
		"will it rain, do I need an umbrella?": "get_weather",
		"calender":                             "calendar.add",
		"config":                               "configuration.show",
	} {
		within(t, query, find(x, query), 3, want)
	}
	find(x, "Nachricht löschen") // in a language that no tool speaks
}

// A word that the tools have is taken at its word.
func TestNoTypoWhereTheWordIsKnown(t *testing.T) {
	x := search.Build(tools("a.form: Form", "a.farm: Farm", "a.firm: Firm"))
	if got := find(x, "a farm"); !slices.Equal(got, []string{"a.farm"}) {
		t.Errorf("farm finds %v", got)
	}
	if got := find(x, "order 4711"); len(got) > 0 {
		t.Errorf("a number that is nowhere finds %v", got)
	}
}

func TestABroadDescriptionDoesNotWin(t *testing.T) {
	x := search.Build(tools(
		"execute_python: Run Python to read files, make HTTP requests, transform data, edit assets, list actors, import meshes, anything",
		"import_mesh: Import a mesh file", "list_actors: List actors in the level", "read_file: Read a file",
	))
	for query, want := range map[string]string{
		"import a mesh": "import_mesh", "list actors": "list_actors", "read a file": "read_file",
	} {
		within(t, query, find(x, query), 1, want)
	}
}

func TestEachPartOfARequestIsAnswered(t *testing.T) {
	lines := []string{"music.playlist: Create a playlist of songs", "weather.get: Weather in a city"}
	// There are more of these than are weighed against each other, and they have more
	// of the query than what is asked for besides.
	lines = append(lines, "stock.price: Stock price and news of a company at the market")
	for i := range 80 {
		lines = append(lines, fmt.Sprintf("stock%d.price: Price of company news", i))
	}
	for i := range 800 {
		lines = append(lines, fmt.Sprintf("misc.w%dx: Something else", i))
	}
	x := search.Build(tools(lines...))
	query := "Look up the stock price and the news of a company at the market. Then create a playlist, and tell me the weather."
	within(t, query, find(x, query), 4, "music.playlist", "weather.get")
	several := []string{"stock price and news of a company at the market", "weather", "playlist"}
	within(t, "several texts", find(x, several...), 5, "music.playlist", "weather.get")
}

func TestWhatBringsNothingNewComesLater(t *testing.T) {
	x := search.Build(tools(
		"a.find: Find files and folders", "b.find: Find files and folders", "c.find: Find files and folders",
		"d.seek: Find files", "e.grep: Text", "f.rename_folder: Rename",
	))
	got := find(x, "find text in files")
	if first := slices.Index(got, "e.grep"); first > 2 {
		t.Errorf("found %v, want what is about text among the first three", got)
	}
	if slices.Index(got, "d.seek") > slices.Index(got, "b.find") {
		t.Errorf("found %v, want another tool before one of the same name", got)
	}
}

func TestAllFieldsAreSearched(t *testing.T) {
	x := search.Build([]search.Document{{
		ID: "ns.one", Namespace: "zephyr", Name: "quokka", Title: "Wombat", Description: "Numbat", Tags: []string{"bilby"},
		Parameters: []search.Parameter{{Name: "dunnartId", Description: "The potoroo", Values: []string{"quoll"}}}, Outputs: []string{"bettong_count"},
	}})
	for word, field := range map[string]search.Field{
		"zephyr": search.Namespace, "quokka": search.Name, "wombat": search.Title, "numbats": search.Description,
		"bilby": search.Tags, "dunnart": search.ParameterNames, "potoroo": search.ParameterDescriptions, "quoll": search.ParameterDescriptions, "bettong": search.Outputs,
	} {
		result := x.Search(search.Query{Texts: []string{"which " + word}})
		if len(result.Hits) != 1 {
			t.Fatalf("%s is not found", word)
		}
		want := []search.Match{{Word: word, Fields: []string{field.String()}}}
		if diff := cmp.Diff(want, result.Hits[0].Matched); diff != "" {
			t.Errorf("%s matches otherwise (-want +got):\n%s", word, diff)
		}
	}
}

func TestMatchedSaysWhatIsRelated(t *testing.T) {
	x := search.Build(tools("delete_message: Delete a chat message"))
	hit := x.Search(search.Query{Texts: []string{"Remove the message"}}).Hits[0]
	want := []search.Match{
		{Word: "remove", Related: true, Fields: []string{"name", "description"}},
		{Word: "message", Fields: []string{"name", "description"}},
	}
	if diff := cmp.Diff(want, hit.Matched); diff != "" {
		t.Errorf("matched (-want +got):\n%s", diff)
	}
	if hit.Score <= 0 || hit.Score >= 1 {
		t.Errorf("score is %v, want one between 0 and 1", hit.Score)
	}
}

func TestFilters(t *testing.T) {
	documents := tools("a.read_file: Read a file", "a.write_file: Write a file", "b.read_file: Read a file", "b.write_file: Write a file")
	for i := range documents {
		documents[i].Operation = strings.Split(documents[i].Name, "_")[0]
	}
	x := search.Build(documents)
	for _, tt := range []struct {
		query search.Query
		want  string
	}{
		{search.Query{Texts: []string{"file"}, Namespace: "a", Operation: "write"}, "a.write_file"},
		{search.Query{Texts: []string{"write_file"}, Namespace: "b"}, "b.write_file b.read_file"},
		{search.Query{Texts: []string{"write_file"}, Operation: "read"}, "a.read_file b.read_file"},
		{search.Query{Operation: "read"}, "a.read_file b.read_file"},
		{search.Query{Texts: []string{"file"}, Namespace: "c"}, ""},
	} {
		result := x.Search(tt.query)
		if got := strings.Join(ids(result), " "); got != tt.want || result.Total != len(result.Hits) {
			t.Errorf("%+v finds %s of %d, want %s", tt.query, got, result.Total, tt.want)
		}
	}
}

func TestWhatIsNotAllowedIsNotThere(t *testing.T) {
	x := search.Build(tools("t1.pay: Pay", "t2.pay: Pay", "t1.hidden: Hidden things", "t1.broken: Pay"))
	mine := x.Restrict(func(id string) bool { return id == "t1.pay" })
	result := mine.Search(search.Query{Texts: []string{"pay"}})
	if got := ids(result); !slices.Equal(got, []string{"t1.pay"}) || result.Total != 1 || mine.Len() != 1 {
		t.Errorf("finds %v of %d in %d", got, result.Total, mine.Len())
	}
	for _, query := range []string{"hidden", "t2.pay", "hiden", "t1.hidden", ""} {
		result := mine.Search(search.Query{Texts: []string{query}})
		if text, _ := json.Marshal(result); strings.Contains(string(text), "t2") || strings.Contains(string(text), "hidden\"]") || result.Total > 1 {
			t.Errorf("%q shows %s", query, text)
		}
	}
	if none := mine.Restrict(func(id string) bool { return id == "t2.pay" }); none.Len() != 0 || len(find(none, "pay")) > 0 {
		t.Error("restricting twice allows what the first did not")
	}
}

func TestAMiss(t *testing.T) {
	x := search.Build(tools("orders.refund_order: Pays an order back", "orders.get: An order", "chat.send: A message"))
	result := x.Search(search.Query{Texts: []string{"xrefundorderx"}})
	want := search.Result{Nearest: []string{"orders.refund_order"}, Namespaces: []string{"chat", "orders"}}
	if diff := cmp.Diff(want, result); diff != "" {
		t.Errorf("a miss (-want +got):\n%s", diff)
	}
	if result := x.Search(search.Query{Texts: []string{"refund"}}); result.Nearest != nil || result.Namespaces != nil {
		t.Errorf("a hit comes with suggestions: %+v", result)
	}
}

func TestOddQueries(t *testing.T) {
	x := search.Build(tools("a.get: Get a thing", "b.list: List things"))
	for _, query := range []string{
		"", " ", "to", "a+b(*[", `"unclosed`, "title:*^2 AND -x OR ~", "\x00", "\xff\xfe", "😀", "…", strings.Repeat("a", 64<<10),
		strings.Repeat("get things. ", 6<<10), strings.Repeat("新", 20<<10), "\u202eteg", strings.Repeat("x ", 4<<10) + "get",
	} {
		x.Search(search.Query{Texts: []string{query}})
	}
	if got := find(x, "", "  ", "?"); !slices.Equal(got, []string{"a.get", "b.list"}) {
		t.Errorf("a blank query lists %v", got)
	}
	if got := x.Search(search.Query{Limit: -1, Offset: -1}); got.Total != 2 || len(got.Hits) != 2 {
		t.Errorf("negative bounds give %+v", got)
	}
	if got := x.Search(search.Query{Offset: 1 << 40}); got.Total != 2 || got.Hits != nil {
		t.Errorf("a page behind the end gives %+v", got)
	}
	empty := search.Build(nil)
	if got := empty.Search(search.Query{Texts: []string{"get"}}); got.Total != 0 || got.Hits != nil {
		t.Errorf("an empty index gives %+v", got)
	}
}

func TestOddDocuments(t *testing.T) {
	huge := strings.Repeat("word ", 1<<20)
	x := search.Build([]search.Document{
		{ID: "a", Description: "first"},
		{ID: "a", Description: "second"},
		{},
		{ID: "\xff", Name: "\x00", Description: huge + "tail", Parameters: []search.Parameter{{}, {Name: huge}}},
		{ID: "天気.予報", Description: "天気予報を取得します"},
	})
	if x.Len() != 4 {
		t.Errorf("index has %d documents, want the first of each id", x.Len())
	}
	if got := find(x, "second tail"); len(got) > 0 {
		t.Errorf("found %v by what is not searched", got)
	}
	within(t, "CJK", find(x, "東京の天気"), 1, "天気.予報")
}

func TestDeprecatedToolsComeBehind(t *testing.T) {
	documents := tools("a.pay_v1: Pay an invoice", "b.pay_v2: Pay an invoice")
	documents[0].Deprecated = true
	x := search.Build(documents)
	within(t, "pay an invoice", find(x, "pay an invoice"), 1, "b.pay_v2")
	within(t, "pay_v1", find(x, "pay_v1"), 1, "a.pay_v1")
}

func TestPerNamespace(t *testing.T) {
	lines := []string{"z.issue_list: List issues"}
	for i := range 20 {
		lines = append(lines, fmt.Sprintf("big.list_issues_%c: List issues", 'a'+i))
	}
	x := search.Build(tools(lines...))
	got := ids(x.Search(search.Query{Texts: []string{"list the issues"}, PerNamespace: 3, Limit: 30}))
	if i := slices.Index(got, "z.issue_list"); i > 3 || len(got) != 21 {
		t.Errorf("at most three of a namespace before others, found %v", got)
	}
}
