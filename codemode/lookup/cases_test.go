package lookup_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/lookup"
)

// searchCase is a fault that somebody reported of a search of tools.
type searchCase struct {
	Tools []struct {
		ID, Description, Tenant, Server string
		Allowed                         *bool
	}
	Caller  struct{ Tenant string }
	Queries []struct {
		Q          string
		Top1       string
		Top1Not    string   `yaml:"top1_not"`
		Top3       []string `yaml:"top3_has"`
		Top5       []string `yaml:"top5_has"`
		Only       []string
		EmptyOrAny bool `yaml:"empty_or_any"`
		NoError    bool `yaml:"no_error"`
	}
}

// Each fault that was reported of other searches of tools.
func TestCases(t *testing.T) {
	root := os.Getenv("HEDDLE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(root, "cases", "inputs", "se-*.yaml"))
	if err != nil || len(files) == 0 {
		t.Skip("the shared test data is not here: set HEDDLE_SHARED to its folder")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c searchCase
			if err := yaml.Unmarshal(text, &c); err != nil {
				t.Fatal(err)
			}
			c.run(t)
		})
	}
}

func (c searchCase) run(t *testing.T) {
	l, scope, ids := c.catalog(t)
	for _, q := range c.Queries {
		input, err := json.Marshal(map[string]string{"query": q.Q})
		if err != nil {
			t.Fatal(err)
		}
		text, err := l.Search(t.Context(), scope, input)
		if err != nil {
			t.Errorf("%q: %v", q.Q, err)
			continue
		}
		var found lookup.Found
		if err := json.Unmarshal(text, &found); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, hit := range found.Items {
			got = append(got, ids[hit.ID])
		}
		first := ""
		if len(got) > 0 {
			first = got[0]
		}
		if q.Top1 != "" && first != q.Top1 || q.Top1Not != "" && first == q.Top1Not {
			t.Errorf("%q finds %v, want %s first and not %q", q.Q, got, q.Top1, q.Top1Not)
		}
		for n, wanted := range map[int][]string{3: q.Top3, 5: q.Top5} {
			for _, id := range wanted {
				if !slices.Contains(got[:min(n, len(got))], id) {
					t.Errorf("%q finds %v, want %s among the first %d", q.Q, got, id, n)
				}
			}
		}
		if q.Only != nil {
			if len(got) != len(q.Only) || len(q.Only) > 0 && !slices.Equal(got, q.Only) || found.Total != len(q.Only) {
				t.Errorf("%q finds %v of %d, want only %v", q.Q, got, found.Total, q.Only)
			}
			c.wantSecret(t, string(text))
		}
	}
	for _, tool := range c.Tools {
		if c.hidden(tool.Tenant, tool.Allowed) {
			wantUnknown(t, l, scope, tool.ID)
		}
	}
}

func (c searchCase) hidden(tenant string, allowed *bool) bool {
	return tenant != c.Caller.Tenant || allowed != nil && !*allowed
}

// wantSecret demands that an answer says nothing of what the caller may not see.
func (c searchCase) wantSecret(t *testing.T, answer string) {
	t.Helper()
	for _, tool := range c.Tools {
		if c.hidden(tool.Tenant, tool.Allowed) && strings.Contains(answer, tool.ID) {
			t.Errorf("the answer tells of %s: %s", tool.ID, answer)
		}
	}
}

// wantUnknown demands that a tool is refused in the words of one that does not exist.
func wantUnknown(t *testing.T, l *lookup.Lookup, scope catalog.Scope, id string) {
	t.Helper()
	refusal := func(id string) string {
		_, err := l.Describe(t.Context(), scope, json.RawMessage(`{"id":"`+id+`"}`))
		var fault *catalog.Error
		if !errors.As(err, &fault) {
			t.Fatalf("describe %s: %v", id, err)
		}
		return strings.ReplaceAll(fault.Code+" "+fault.Message, id, "")
	}
	if got, want := refusal(id), refusal("t9.zzzzzzzz"); got != want {
		t.Errorf("describe %s is refused with %q, an unknown tool with %q", id, got, want)
	}
}

// catalog makes the tools of a case, each tenant's a source of its own, and returns
// what they are called in the case by their ids.
func (c searchCase) catalog(t *testing.T) (*lookup.Lookup, catalog.Scope, map[string]string) {
	t.Helper()
	scope := catalog.Scope{Tenant: c.Caller.Tenant, Thread: "t", Agent: "a"}
	ids := map[string]string{}
	owned := tenants{}
	for _, one := range c.Tools {
		id := one.ID
		if !strings.Contains(id, ".") {
			id = "tools." + id
		}
		ids[id] = one.ID
		if one.Allowed == nil || *one.Allowed {
			scope.Tools = append(scope.Tools, id)
		}
		if one.Server == "down" {
			owned.down = append(owned.down, id)
			continue
		}
		description := one.Description
		if description == "" {
			description = "Does it."
		}
		if owned.tools == nil {
			owned.tools = map[string][]catalog.Tool{}
		}
		owned.tools[one.Tenant] = append(owned.tools[one.Tenant], tool(id, description, catalog.Read, `{"type":"object"}`))
	}
	broker, err := catalog.New(owned)
	if err != nil {
		t.Fatal(err)
	}
	return lookup.New(broker), scope, ids
}

// tenants is a source in which each tenant has tools of its own, and some a server
// that is down.
type tenants struct {
	tools map[string][]catalog.Tool
	down  []string
}

func (tenants) Name() string                                  { return "connections" }
func (tenants) ListingKey(catalog.Scope) string               { return "" }
func (tenants) Tools(context.Context) ([]catalog.Tool, error) { return nil, errors.New("not asked") }

func (s tenants) ToolsFor(_ context.Context, scope catalog.Scope) ([]catalog.Tool, error) {
	var parts []catalog.Unavailable
	for range s.down {
		parts = append(parts, catalog.Unavailable{Source: "broken", Reason: "connection refused"})
	}
	if len(parts) > 0 {
		return s.tools[scope.Tenant], &catalog.PartialError{Parts: parts}
	}
	return s.tools[scope.Tenant], nil
}
