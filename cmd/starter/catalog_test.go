package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const evalTools = `{"id": "orders.refund", "name": "refund", "description": "Pays an order back.", "parameters": {"type": "object", "properties": {"order": {"type": "string", "description": "number of the order"}}}, "category": "x"}

{"id": "weather.get", "description": "Forecast for a place"}
{"id": "misc.nothing", "name": "nothing", "description": "Blank."}
`

const evalQueries = `{"id": "1", "query": "refund the order", "relevant": ["orders.refund"], "split": "x"}
{"id": "2", "query": "will it rain", "relevant": ["weather.get"]}
{"id": "3", "query": "qwxz", "relevant": ["misc.nothing"]}
{"id": "4", "query": "order and weather", "relevant": ["orders.refund", "weather.get"]}
`

// sets writes a set of tools and queries to files, and returns the flags for them.
func sets(t *testing.T, tools, queries string) []string {
	t.Helper()
	dir := t.TempDir()
	var flags []string
	for _, file := range [][2]string{{"tools", tools}, {"queries", queries}} {
		path := filepath.Join(dir, file[0]+".jsonl")
		if err := os.WriteFile(path, []byte(file[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--"+file[0], path)
	}
	return flags
}

func TestCatalogEval(t *testing.T) {
	flags := append([]string{"catalog", "eval"}, sets(t, evalTools, evalQueries)...)
	code, stdout, stderr := starter(t, "", append(flags, "--json")...)
	if code != exitOK || stderr != "" || !strings.HasPrefix(stdout, `{"hit@1":75,"recall@5":75,"recall@10":75,"ndcg@10":75,"p50_ms":`) ||
		strings.Count(stdout, "\n") != 1 {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
	code, stdout, _ = starter(t, "", append(flags, "--misses", "1")...)
	for _, want := range []string{"3 tools", "4 queries", "HIT@1", "75.0", "1 queries find no relevant tool", "qwxz", "finds nothing"} {
		if code != exitOK || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d; the text lacks %q:\n%s", code, want, stdout)
		}
	}
	flags[3] = "-"
	if code, stdout, stderr := starter(t, evalTools, append(flags, "--json")...); code != exitOK {
		t.Errorf("from standard input: exit code %d, %s%s", code, stdout, stderr)
	}
}

func TestCatalogEvalFails(t *testing.T) {
	for _, tt := range []struct{ tools, queries, want string }{
		{"{\"id\": \"a\"}\n\n{bad", evalQueries, "tools.jsonl:3: not JSON"},
		{"[]", evalQueries, "tools.jsonl:1: the line is a JSON array, want an object"},
		{`{"name": "a"}`, evalQueries, "tools.jsonl:1: the tool has no id"},
		{`{"id": 7}`, evalQueries, "tools.jsonl:1: id is a JSON number"},
		{"{\"id\": \"a\"}\n{\"id\": \"a\"}", evalQueries, `tools.jsonl:2: the id "a" was given in line 1 already`},
		{`{"id": "a", "parameters": [1]}`, evalQueries, "tools.jsonl:1: parameters: want a JSON Schema, an object"},
		{"\n", evalQueries, "tools.jsonl: there is no tool in it"},
		{evalTools, "\n" + `{"query": "x", "relevant": ["nowhere"]}`, `queries.jsonl:2: relevant tool "nowhere" is not among the tools`},
		{evalTools, `{"query": "x"}`, "queries.jsonl:1: no relevant tool is given"},
		{evalTools, `{"query": " ", "relevant": ["a"]}`, "queries.jsonl:1: the query is empty"},
		{evalTools, "", "queries.jsonl: there is no query in it"},
	} {
		code, stdout, stderr := starter(t, "", append([]string{"catalog", "eval", "--json"}, sets(t, tt.tools, tt.queries)...)...)
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("exit code %d, stdout %q, stderr %q; want %q", code, stdout, stderr, tt.want)
		}
	}
	for args, want := range map[string]string{
		"":                                  "--tools: give the file of tools",
		"--tools x":                         "--queries: give the file of queries",
		"--tools - --queries -":             "cannot both be standard input",
		"--tools a --queries b --misses -1": "--misses -1: want 0 or more",
		"--tools a --queries b --misses 1 --json": "--misses does not go with --json",
	} {
		code, _, stderr := starter(t, "", append([]string{"catalog", "eval"}, strings.Fields(args)...)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, stderr %q; want %q", args, code, stderr, want)
		}
	}
	if code, _, stderr := starter(t, "", "catalog", "eval", "--tools", "/nowhere.jsonl", "--queries", "x"); code != exitFailed || !strings.Contains(stderr, "/nowhere.jsonl") {
		t.Errorf("a file that is not there: exit code %d, stderr %q", code, stderr)
	}
}
