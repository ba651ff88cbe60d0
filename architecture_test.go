package heddle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// room is a package of the house and the packages of this module that it may
// import. ARCHITECTURE.md draws the same picture.
type room struct {
	name string
	// imports is what its code may import; "*" is everything.
	imports []string
	// tests is what its tests may import besides.
	tests []string
	// why says what the arrows are for, or what the absence of one protects.
	why string
}

// house is the import diagram. A new package or a new arrow is a change here and
// in ARCHITECTURE.md first. The root package is ".".
var house = []room{
	{
		".", everything, nil,
		"the front door: the only place where the parts meet",
	},
	{
		"cmd/worker",
		[]string{"."},
		nil,
		"an application of the front door like any other",
	},
	{
		"cmd/starter",
		[]string{
			"catalog", "catalog/policy", "catalog/search", "catalog/search/evaluate", "internal/audit", "internal/config",
			"internal/connect", "internal/connections", "internal/netguard", "internal/oauth", "internal/telemetry",
			"providers/mcp", "providers/openapi", "secrets", "signals", "signals/contract", "signals/encryption",
		},
		[]string{"internal/testkit", "test/authserver"},
		"a backend like any other: it talks to threads through signals alone; specifications and policies are looked at without them",
	},
	{
		"workflows",
		[]string{"activities", "catalog", "codemode/snippet", "signals/contract"},
		nil,
		"replayed code: payloads and names of activities, nothing that acts",
	},
	{
		"activities",
		[]string{"catalog", "codemode/snippet", "signals/contract"},
		nil,
		"declares the interfaces it needs, so that workflows can import it and stay light; what a snippet is, is data",
	},
	{
		"catalog",
		[]string{"internal/plainjson", "internal/typo"},
		[]string{"catalog/catalogtest"},
		"the leaf that all sources share: knows neither who asks nor who answers",
	},
	{
		"catalog/expression", nil, nil,
		"evaluates CEL on JSON; knows neither tools nor calls",
	},
	{
		"catalog/policy",
		[]string{"catalog", "catalog/expression"},
		nil,
		"decides about calls from what it is told of them",
	},
	{
		"catalog/lookup",
		[]string{"catalog", "catalog/expression"},
		nil,
		"judges by declared expressions what a read tells of a write",
	},
	{
		"catalog/undo",
		[]string{"catalog", "catalog/expression"},
		nil,
		"makes by declared expressions the call that undoes a write",
	},
	{
		"catalog/search", nil,
		[]string{"catalog/search/evaluate"},
		"ranks texts: knows neither catalogs nor scopes",
	},
	{
		"catalog/search/evaluate",
		[]string{"catalog/search"},
		nil,
		"measures the search on sets of tools and queries",
	},
	{
		"catalog/catalogtest",
		[]string{"catalog"},
		nil,
		"the conformance suite for sources of tools",
	},
	{
		"codemode",
		[]string{
			"activities", "catalog", "codemode/check", "codemode/engine", "codemode/snippet", "codemode/typescript", "signals/contract",
		},
		[]string{"codemode/lookup", "codemode/sandbox"},
		"runs a segment of a snippet, as activities ask it to; it never looks at snippet text",
	},
	{
		"codemode/snippet", nil, nil,
		"what a snippet is and how its execution is told: data that both sides of the sandbox share",
	},
	{
		"codemode/internal/outline", nil, nil,
		"shortens JSON and keeps its structure",
	},
	{
		"codemode/internal/wire",
		[]string{"codemode/snippet"},
		nil,
		"what an engine and its children say to each other",
	},
	{
		"codemode/sandbox",
		[]string{"codemode/check", "codemode/internal/outline", "codemode/internal/wire", "codemode/snippet"},
		nil,
		"the child's side: the only package that parses or runs snippet text",
	},
	{
		"codemode/engine",
		[]string{"codemode/internal/wire", "codemode/snippet"},
		[]string{"codemode/sandbox"},
		"the worker's side: children, limits, deliveries; it never looks at snippet text",
	},
	{
		"codemode/schema", nil, nil,
		"reads JSON Schema documents; knows no tool",
	},
	{
		"codemode/schema/schematest",
		[]string{"codemode/schema"},
		nil,
		"makes schemas and values for tests",
	},
	{
		"codemode/typescript",
		[]string{"codemode/schema", "codemode/snippet"},
		[]string{"catalog", "codemode/schema/schematest", "providers/openapi"},
		"writes schemas as TypeScript: text in, text out",
	},
	{
		"codemode/lookup",
		[]string{"catalog", "catalog/search", "codemode/schema", "codemode/typescript"},
		[]string{"catalog/catalogtest"},
		"what a model asks about tools: the broker's listings, searched and written as TypeScript",
	},
	{
		"codemode/check",
		[]string{"codemode/schema", "codemode/snippet", "internal/typo"},
		[]string{"catalog", "codemode/schema/schematest"},
		"works on what a snippet's process says of its calls, never on source",
	},
	{
		"signals",
		[]string{"signals/contract"},
		[]string{"internal/testkit"},
		"what a backend imports: it pulls in nothing of the worker",
	},
	{
		"signals/encryption",
		[]string{"internal/keyring"},
		nil,
		"encrypts what reaches Temporal, for a worker and for a backend: the Temporal client and the standard library",
	},
	{
		"internal/keyring", nil, nil,
		"keys by their ids; the standard library alone, since backends import it",
	},
	{
		"signals/contract", nil, nil,
		"what crosses the wire: all that a backend in another language has",
	},
	{
		"models", nil, nil,
		"says what a model vendor is; holds no code",
	},
	{
		"models/modeltest",
		[]string{"activities", "signals/contract"},
		nil,
		"the conformance suite for models",
	},
	{
		"models/openai",
		[]string{"activities", "signals/contract"},
		[]string{"models/modeltest"},
		"a vendor's model: knows what a model turn is, not who asks for it",
	},
	{
		"models/scripted",
		[]string{"activities", "signals/contract"},
		[]string{"models/modeltest"},
		"a model that plays a file: knows what a model turn is, not who asks for it",
	},
	{
		"providers/local",
		[]string{"catalog"},
		[]string{"catalog/catalogtest"},
		"a source of tools: knows what a tool is, and no other source",
	},
	{
		"providers/mcp",
		[]string{"catalog", "internal/netguard", "internal/oauth", "internal/plainjson", "secrets", "signals/contract"},
		[]string{"catalog/catalogtest", "internal/child", "internal/connections", "test/authserver"},
		"a source of tools: what servers of the Model Context Protocol offer",
	},
	{
		"providers/web",
		[]string{"catalog"},
		[]string{"catalog/catalogtest"},
		"a source of tools: what the tools of the web are; who answers them is handed in",
	},
	{
		"test/mcp/conformance",
		[]string{"catalog", "internal/netguard", "internal/oauth", "providers/mcp"},
		nil,
		"the client that the conformance suite of the Model Context Protocol drives",
	},
	{
		"providers/openapi",
		[]string{"catalog", "internal/netguard", "internal/oauth", "secrets", "signals/contract"},
		[]string{"catalog/catalogtest", "providers/openapi/openapitest"},
		"a source of tools: knows what a tool is, what a stored file is called, and no other source",
	},
	{
		"secrets",
		[]string{"catalog", "internal/keyring"},
		[]string{"internal/testkit"},
		"keeps values and finds them in what leaves: knows scopes and references, neither tools nor threads",
	},
	{
		"providers/openapi/openapitest", nil, nil,
		"a service for tests: knows its specification by another parser alone",
	},
	{
		"internal/netguard", nil, nil,
		"what asks outside, within the rules",
	},
	{
		"internal/oauth",
		[]string{"internal/netguard"},
		[]string{"test/authserver"},
		"a client of authorization servers: keeps nothing",
	},
	{
		"internal/connections",
		[]string{"catalog", "internal/netguard", "internal/oauth", "secrets"},
		[]string{"internal/testkit", "test/authserver"},
		"keeps what people have let this side have, in the store of secrets",
	},
	{
		"test/authserver", nil, nil,
		"an authorization server for tests: knows nothing of the client that it tests",
	},
	{
		"internal/blobs",
		[]string{"signals/contract"},
		nil,
		"stores values and hands out refs to them",
	},
	{
		"internal/ledger",
		[]string{"activities", "catalog", "signals/contract"},
		[]string{"internal/testkit", "workflows"},
		"keeps the claims of writes, locks, and what tenants use in Temporal",
	},
	{
		"internal/audit", nil, nil,
		"the audit log: lines bound to one another by their hashes",
	},
	{
		"internal/child", nil, nil,
		"runs another program and ends it",
	},
	{
		"internal/config",
		[]string{"activities", "catalog", "catalog/lookup", "catalog/policy", "catalog/undo", "codemode/snippet", "internal/typo", "secrets", "signals/contract"},
		nil,
		"reads limits and names; what they name is built by the front door",
	},
	{
		"internal/plainjson", nil, nil,
		"writes JSON",
	},
	{
		"internal/typo", nil, nil,
		"how far two names are apart",
	},
	{
		"internal/connect", nil, nil,
		"dials Temporal",
	},
	{
		"internal/telemetry", nil, nil,
		"logs",
	},
	{
		"internal/testkit",
		[]string{"internal/child", "signals/contract"},
		nil,
		"what tests on a real Temporal server share",
	},
	{
		"examples/support",
		[]string{".", "catalog"},
		everything,
		"an agent's tools, as an application has them",
	},
	{
		"examples/support/worker",
		[]string{".", "examples/support"},
		nil,
		"an application of the front door like any other",
	},
	{
		"examples/support/demo",
		[]string{"examples/support", "internal/child"},
		nil,
		"starts the programs that a user would start by hand",
	},
	{
		"examples/github-triage", nil, nil,
		"a service for the example to work on: its agent and tools are a configuration file",
	},
	{
		"examples/github-triage/demo",
		[]string{"examples/github-triage", "internal/child"},
		nil,
		"starts the programs that a user would start by hand",
	},
	{
		"test/node", nil,
		[]string{"internal/testkit"},
		"a backend in another language: it has the wire contract and nothing else",
	},
	{
		"test/services", nil, everything,
		"tests of threads with services elsewhere",
	},
	{
		"test/mcp/threads", nil, everything,
		"servers of the Model Context Protocol, as threads on real workers use them",
	},
	{
		"test/leak", nil, everything,
		"tests that no secret leaves a worker, and no tenant learns of another",
	},
	{
		"test/durability", nil, everything,
		"tests of the whole",
	},
	{
		"test/chaos", everything,
		[]string{"internal/testkit"},
		"the bench that kills: judges the whole from outside",
	},
	{
		"bench", everything, nil,
		"measures any part, and the whole",
	},
	{
		"bench/run",
		[]string{"bench"},
		nil,
		"the command that measures",
	},
}

var everything = []string{"*"}

// workflowImports is all that workflow code may import from outside the module:
// what gives the same when it is replayed. What is missing here is missing for a
// reason: os, net, sync and context reach the world or the scheduler, maps
// iterates in random order, math/rand and uuid are random, log writes twice.
var workflowImports = map[string]string{
	"cmp":                         "pure",
	"crypto/sha256":               "pure",
	"encoding/hex":                "pure",
	"encoding/json":               "for json.RawMessage; decoding belongs in an activity",
	"errors":                      "pure",
	"fmt":                         "pure on the plain values that workflows print",
	"slices":                      "pure",
	"strconv":                     "pure",
	"strings":                     "pure",
	"time":                        "durations and arithmetic; the clock is workflow.Now",
	"unicode/utf8":                "pure",
	"go.temporal.io/api/enums/v1": "constants",
	"go.temporal.io/sdk/log":      "the interface of the replay-aware logger",
	"go.temporal.io/sdk/temporal": "errors, retry policies, search attribute keys",
	"go.temporal.io/sdk/workflow": "the workflow API itself",
}

// heavy is what nothing that workflows depends on may depend on, however far
// away, each with the reason.
var heavy = map[string]string{
	"github.com/dop251/goja":        "a JavaScript engine runs in an activity",
	"github.com/mark3labs/mcp-go":   "MCP servers are reached from an activity",
	"github.com/getkin/kin-openapi": "OpenAPI services are reached from an activity",
	"github.com/openai/openai-go":   "models are reached from an activity",
	"github.com/anthropics":         "models are reached from an activity",
	"google.golang.org/genai":       "models are reached from an activity",
	"github.com/chromedp":           "browsers are driven from an activity",
	"gocloud.dev":                   "buckets are reached from an activity",
	"modernc.org/sqlite":            "databases are reached from an activity",
	"github.com/goccy/go-yaml":      "configuration is read before a workflow begins",
	"github.com/google/cel-go":      "policies and lookups are evaluated in an activity",
	"github.com/spf13/cobra":        "command lines are read before a workflow begins",
	"go.temporal.io/sdk/client":     "a workflow that calls Temporal as a client is not replayed alike",
	"go.temporal.io/sdk/worker":     "a workflow does not know the worker that it runs in",
	"go.temporal.io/sdk/contrib":    "connections are made before a workflow begins",
}

// backendImports is all that the code of the package signals may import from
// outside the module and the standard library: a backend pays for no more.
var backendImports = map[string]string{
	"go.temporal.io":             "the Temporal client",
	"google.golang.org/grpc":     "the codes of the Temporal client's errors",
	"google.golang.org/protobuf": "the messages of the Temporal client",
}

func TestImportsFollowTheDiagram(t *testing.T) {
	for _, fault := range diagramFaults(house, listPackages(t, "./...")) {
		t.Error(fault)
	}
}

func TestDiagramFaults(t *testing.T) {
	rooms := []room{
		{name: ".", imports: everything, tests: everything},
		{name: "leaf"},
		{name: "flow", imports: []string{"leaf"}, tests: []string{"kit"}},
		{name: "kit"},
	}
	sound := []goPackage{
		ours("", "leaf", "flow", "kit"), ours("leaf"), ours("kit"),
		{ImportPath: modulePath + "/flow", Imports: []string{"fmt", modulePath + "/leaf"}, XTestImports: []string{modulePath + "/flow", modulePath + "/kit"}},
	}
	tests := []struct {
		name     string
		packages []goPackage
		want     string
	}{
		{"sound", sound, ""},
		{"broken arrow", append(sound[:3:3], ours("flow", "leaf", "kit")), "no arrow flow -> kit"},
		{"arrow to the front door", append(sound[:3:3], ours("flow", "")), "no arrow flow -> ."},
		{"unknown package", append(sound[:4:4], ours("new")), "package new is not in the diagram"},
		{"package gone", sound[:3], "package flow is in the diagram but not in the module"},
		{"test arrow", append(sound[:3:3], goPackage{ImportPath: modulePath + "/flow", TestImports: []string{modulePath}}), "no arrow flow -> . for tests"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			faults := strings.Join(diagramFaults(rooms, tt.packages), "\n")
			if (tt.want == "") != (faults == "") || !strings.Contains(faults, tt.want) {
				t.Errorf("faults = %q, want one that says %q", faults, tt.want)
			}
		})
	}
}

func TestWorkflowsImportOnlyWhatReplays(t *testing.T) {
	for _, pkg := range listPackages(t, "./workflows/...") {
		for _, imported := range pkg.Imports {
			if _, allowed := workflowImports[imported]; !allowed && !isOurs(imported) {
				t.Errorf("%s imports %s, which is not on the list of what replays alike (workflowImports)", shortName(pkg.ImportPath), imported)
			}
		}
	}
}

func TestWorkflowsStayLight(t *testing.T) {
	for _, pkg := range listPackages(t, "-deps", "./workflows") {
		for prefix, why := range heavy {
			if isWithin(pkg.ImportPath, prefix) {
				t.Errorf("workflows depends on %s: %s (go list -deps ./workflows)", pkg.ImportPath, why)
			}
		}
	}
}

func TestBackendsStayLight(t *testing.T) {
	for _, pkg := range listPackages(t, "./signals/...") {
		for _, imported := range pkg.Imports {
			if !isStandard(imported) && !isOurs(imported) && !isWithinAny(imported, backendImports) {
				t.Errorf("%s imports %s: a backend that imports it would pull that in (backendImports)", shortName(pkg.ImportPath), imported)
			}
		}
	}
}

// diagramFaults says where packages stray from rooms.
func diagramFaults(rooms []room, packages []goPackage) []string {
	known := make(map[string]room, len(rooms))
	for _, r := range rooms {
		known[r.name] = r
	}
	var faults []string
	for _, pkg := range packages {
		name := shortName(pkg.ImportPath)
		r, ok := known[name]
		if !ok {
			faults = append(faults, fmt.Sprintf("package %s is not in the diagram: add it to house in architecture_test.go, and to ARCHITECTURE.md", name))
			continue
		}
		delete(known, name)
		faults = append(faults, missingArrows(r, pkg.Imports, r.imports, "")...)
		testImports := slices.Concat(pkg.TestImports, pkg.XTestImports)
		faults = append(faults, missingArrows(r, testImports, slices.Concat(r.imports, r.tests), " for tests")...)
	}
	for name := range known {
		faults = append(faults, fmt.Sprintf("package %s is in the diagram but not in the module: remove it from house in architecture_test.go, and from ARCHITECTURE.md", name))
	}
	slices.Sort(faults)
	return faults
}

// missingArrows says which imports of a room have no arrow.
func missingArrows(r room, imports, allowed []string, suffix string) []string {
	var faults []string
	for _, imported := range imports {
		to := shortName(imported)
		if !isOurs(imported) || to == r.name || slices.Contains(allowed, "*") || slices.Contains(allowed, to) {
			continue
		}
		faults = append(faults, fmt.Sprintf("the diagram has no arrow %s -> %s%s (%s: %s)", r.name, to, suffix, r.name, r.why))
	}
	return faults
}
