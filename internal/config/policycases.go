package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/policy"
)

// PolicyCases are calls and what is to become of them, by which a team tests the
// policy of a configuration file. docs/policy.md shows the form of their file.
type PolicyCases struct {
	// Config is the path of the configuration file.
	Config string
	Cases  []PolicyCase
}

// PolicyCase is one call.
type PolicyCase struct {
	Name string
	// Place says where the case stands, such as cases.yaml:12:5.
	Place    string
	Question catalog.Question
	// Resource is the resource key of the call.
	Resource string
	// Want is what is to become of the call, Rule the name of the rule that is to
	// decide it, and Approvers how many people are to be asked; empty and 0 leave it
	// open.
	Want      policy.Effect
	Rule      string
	Approvers int
}

// LoadPolicyCases reads a file of cases. An error about its content is a
// [Problems].
func LoadPolicyCases(path string) (*PolicyCases, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("cases: %w", err)
	}
	return ParsePolicyCases(path, data)
}

// ParsePolicyCases reads the content of a file of cases.
func ParsePolicyCases(path string, data []byte) (*PolicyCases, error) {
	document, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, Problems{syntaxProblem(path, err)}
	}
	r := &reader{file: path, at: map[string]position{}, text: map[string]textStart{}}
	if len(document.Docs) != 1 || document.Docs[0].Body == nil {
		return nil, Problems{{File: path, Message: "want one YAML document with the field cases"}}
	}
	root := value{reader: r, node: document.Docs[0].Body}
	r.at[""] = positionOf(root.node.GetToken())
	found := &PolicyCases{Config: filepath.Join(filepath.Dir(path), "heddle.yaml")}
	found.read(root, filepath.Dir(path))
	if len(r.problems) > 0 {
		return nil, r.problems.sorted()
	}
	return found, nil
}

func (p *PolicyCases) read(root value, dir string) {
	tools := map[string]catalog.Descriptor{}
	var cases []value
	root.fields(
		field{name: "config", read: func(v value) {
			if name := v.text(); filepath.IsAbs(name) {
				p.Config = name
			} else if name != "" {
				p.Config = filepath.Join(dir, name)
			}
		}},
		field{name: "tools", required: true, read: func(v value) {
			v.entries(func(id string, entry value) {
				if err := catalog.CheckID(id); err != nil {
					entry.problem("%s", err)
				}
				tools[id] = readFacts(entry, id)
			})
		}},
		field{name: "cases", required: true, read: func(v value) { v.list(func(entry value) { cases = append(cases, entry) }) }},
	)
	if len(cases) == 0 && len(root.problems) == 0 {
		root.problem("has no cases")
	}
	for i, entry := range cases { // the tools may stand below them
		p.Cases = append(p.Cases, readCase(entry, i, tools))
	}
}

// readFacts reads what a rule can ask of a tool.
func readFacts(v value, id string) catalog.Descriptor {
	d := catalog.Descriptor{ID: id}
	v.fields(
		field{name: "operation", required: true, read: func(v value) {
			if d.Operation = catalog.Operation(v.text()); d.Operation != catalog.Read && d.Operation != catalog.Write && d.Operation != "" {
				v.problem("want %s or %s", catalog.Read, catalog.Write)
			}
		}},
		field{name: "capabilities", read: func(v value) { d.Capabilities = v.texts() }},
		field{name: "tags", read: func(v value) { d.Tags = v.texts() }},
		field{name: "approval", read: func(v value) {
			if d.Approval = catalog.Approval(v.text()); d.Approval != catalog.ApprovalAlways && d.Approval != catalog.ApprovalNever {
				v.problem("want %s or %s; left out, writes are asked about", catalog.ApprovalAlways, catalog.ApprovalNever)
			}
		}},
		field{name: "approvers", read: func(v value) { d.Approvers = int(v.integer(catalog.MaxApprovers)) }},
	)
	return d
}

func readCase(v value, number int, tools map[string]catalog.Descriptor) PolicyCase {
	at := v.at[v.path]
	c := PolicyCase{Name: fmt.Sprintf("case %d", number+1), Place: fmt.Sprintf("%s:%d:%d", v.file, at.line, at.column)}
	q := &c.Question
	q.Now = time.Now()
	v.fields(
		field{name: "name", read: func(v value) { c.Name = v.text() }},
		field{name: "tool", required: true, read: func(v value) {
			id := v.text()
			tool, known := tools[id]
			if !known && id != "" {
				v.problem("tool %s is not among the file's tools", id)
			}
			q.Tool = tool
		}},
		field{name: "input", read: func(v value) { q.Input = v.object() }},
		field{name: "resource", read: func(v value) { c.Resource = v.text() }},
		field{name: "tenant", read: func(v value) { q.Scope.Tenant = v.text() }},
		field{name: "user", read: func(v value) { q.Scope.User = v.text() }},
		field{name: "roles", read: func(v value) { q.Scope.Roles = v.texts() }},
		field{name: "agent", read: func(v value) { q.Scope.Agent = v.text() }},
		field{name: "thread", read: func(v value) { q.Scope.Thread = v.text() }},
		field{name: "mode", read: func(v value) { q.Scope.Mode = v.text() }},
		field{name: "at", read: func(v value) {
			text := v.text()
			at, err := time.Parse(time.RFC3339, text)
			if err != nil && text != "" {
				v.problem("want a time such as \"2026-11-30T09:00:00Z\"")
			}
			q.Now = at
		}},
		field{name: "want", required: true, read: func(v value) {
			if c.Want = policy.Effect(v.text()); c.Want != policy.Allow && c.Want != policy.Ask && c.Want != policy.Block {
				v.problem("want %s, %s or %s", policy.Allow, policy.Ask, policy.Block)
			}
		}},
		field{name: "rule", read: func(v value) { c.Rule = v.text() }},
		field{name: "approvers", read: func(v value) { c.Approvers = int(v.integer(catalog.MaxApprovers)) }},
	)
	return c
}

// object reads a mapping as a JSON object.
func (v value) object() json.RawMessage {
	var object map[string]any
	if err := yaml.NodeToValue(v.node, &object); err != nil {
		v.want("a mapping")
		return nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		v.problem("is no JSON: %s", err)
	}
	return text
}
