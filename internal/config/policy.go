package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/policy"
)

// CompilePolicy compiles the rules of the file. Those of a program stand before
// them; its modes are among the set's. The error joins a [Problem] for each fault
// of the file, and a *[policy.Fault] for each of the program.
func (c *Config) CompilePolicy(program policy.Set) (*policy.Policy, error) {
	set := policy.Set{
		App: append(append([]policy.Rule{}, program.App...), c.Policy...), Modes: program.Modes,
		Agents: map[string][]policy.Rule{}, AgentTools: map[string][]string{},
	}
	for name, rules := range program.Agents {
		set.Agents[name], set.AgentTools[name] = rules, program.AgentTools[name]
	}
	for _, agent := range c.Agents {
		set.Agents[agent.Name], set.AgentTools[agent.Name] = agent.Policy, agent.Tools
	}
	compiled, err := policy.New(set)
	if err == nil {
		return compiled, nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, err
	}
	var problems []error
	for _, one := range joined.Unwrap() {
		problems = append(problems, c.locate(one, len(program.App)))
	}
	return nil, errors.Join(problems...)
}

// locate says where in the file a fault of a rule lies, if it is one of the file's.
func (c *Config) locate(err error, before int) error {
	var fault *policy.Fault
	if !errors.As(err, &fault) {
		return err
	}
	field := fmt.Sprintf("agents.%s.policy[%d]", fault.Agent, fault.Index)
	if fault.Scope == policy.App {
		field = fmt.Sprintf("policy[%d]", fault.Index-before)
	}
	if _, inFile := c.at[field]; !inFile {
		return err
	}
	if _, known := c.at[field+"."+fault.Field]; known && fault.Field != "" {
		field += "." + fault.Field
	}
	problem := c.Problem(field, fault.Message)
	if begin, known := c.text[field]; known && fault.Line > 0 {
		at := begin.of(fault.Line, fault.Column)
		problem.Line, problem.Column = at.line, at.column
	}
	return problem
}

// textStart is where a text begins in the file. Of a text of several lines, all
// but the first begin at the column indent.
type textStart struct {
	position
	indent int
}

func (s textStart) of(line, column int) position {
	if line == 1 {
		return position{s.line, s.column + column - 1}
	}
	return position{s.line + line - 1, s.indent + column - 1}
}

// startOf finds where the text of a value begins: behind a quote, or in the line
// after the mark of a block.
func startOf(node ast.Node) textStart {
	switch node := node.(type) {
	case *ast.LiteralNode:
		at := positionOf(node.Start)
		origin := strings.TrimLeft(node.Value.GetToken().Origin, "\n")
		indent := len(origin) - len(strings.TrimLeft(origin, " ")) + 1
		return textStart{position{at.line + 1, indent}, indent}
	default:
		at := positionOf(node.GetToken())
		if kind := node.GetToken().Type; kind == token.DoubleQuoteType || kind == token.SingleQuoteType {
			at.column++
		}
		return textStart{at, 1}
	}
}

func readRules(v value) (rules []policy.Rule) {
	v.list(func(entry value) { rules = append(rules, readRule(entry)) })
	return rules
}

func readRule(v value) policy.Rule {
	at := v.at[v.path]
	r := policy.Rule{Place: fmt.Sprintf("%s:%d:%d", v.file, at.line, at.column)}
	v.fields(
		field{name: "name", read: func(v value) { r.Name = v.text() }},
		field{name: "effect", required: true, read: func(v value) { r.Effect = policy.Effect(v.text()) }},
		field{name: "tools", read: func(v value) { r.Tools = v.texts() }},
		field{name: "namespaces", read: func(v value) { r.Namespaces = v.texts() }},
		field{name: "operation", read: func(v value) { r.Operation = catalog.Operation(v.text()) }},
		field{name: "capabilities", read: func(v value) { r.Capabilities = v.texts() }},
		field{name: "tags", read: func(v value) { r.Tags = v.texts() }},
		field{name: "modes", read: func(v value) { r.Modes = v.texts() }},
		field{name: "when", read: func(v value) {
			r.When = v.text()
			v.reader.text[v.path] = startOf(v.node)
		}},
		field{name: "reason", read: func(v value) { r.Reason = v.text() }},
		field{name: "approvers", read: func(v value) { r.Approvers = int(v.integer(catalog.MaxApprovers)) }},
		field{name: "without_approval", read: func(v value) { r.WithoutApproval = v.boolean() }},
	)
	return r
}

func readMode(v value, name string) catalog.Mode {
	m := catalog.Mode{Name: name}
	v.fields(
		field{name: "allow", required: true, read: func(v value) { m.Allow = v.texts() }},
		field{name: "deny", read: func(v value) { m.Deny = v.texts() }},
		field{name: "writable", read: func(v value) { m.Writable = v.texts() }},
		field{name: "prompt", read: func(v value) { m.Prompt = v.text() }},
	)
	if len(m.Allow) > 0 {
		if err := m.Check(); err != nil {
			v.problem("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	return m
}

// texts reads a list of text that is not empty.
func (v value) texts() (texts []string) {
	v.list(func(entry value) { texts = append(texts, entry.text()) })
	if sequence, ok := v.node.(*ast.SequenceNode); ok && len(sequence.Values) == 0 {
		v.problem("is empty; leave it out")
	}
	return texts
}

// boolean reads true or false.
func (v value) boolean() bool {
	node, ok := v.node.(*ast.BoolNode)
	if !ok {
		v.want("true or false")
		return false
	}
	return node.Value
}
