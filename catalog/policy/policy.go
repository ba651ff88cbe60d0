package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/heddle-dev/heddle/catalog"
)

// Scope is where rules stand.
type Scope string

// The scopes, the outermost first.
const (
	App    Scope = "app"
	Agent  Scope = "agent"
	Thread Scope = "thread"
	Prompt Scope = "prompt"
)

func (s Scope) of(agent string) string {
	if agent == "" {
		return "the " + string(s)
	}
	return fmt.Sprintf("the %s %s", s, agent)
}

// Set is all the rules of a worker.
type Set struct {
	// App are the rules for every call.
	App []Rule
	// Agents are the rules for the calls of single agents.
	Agents map[string][]Rule
	// AgentTools are the globs of the tools that agents may use: a rule of an agent
	// that takes none of them is refused. An agent that is not among them may use any.
	AgentTools map[string][]string
	// Modes are the names of the modes that there are.
	Modes []string
}

// Policy is a compiled [Set]. It is safe for concurrent use.
type Policy struct {
	app    []compiled
	agents map[string][]compiled
	set    Set
	given  given
}

var _ catalog.Policy = (*Policy)(nil)

// compiled is a rule with its condition, nil for none.
type compiled struct {
	Rule
	when cel.Program
}

// New compiles rules. The error joins a *[Fault] for each thing that is wrong.
func New(set Set) (*Policy, error) {
	var faults []error
	compileAll := func(scope Scope, agent string, rules []Rule) []compiled {
		made, wrong := compileScope(scope, agent, rules, set)
		for _, fault := range wrong {
			faults = append(faults, fault)
		}
		return made
	}
	p := &Policy{set: set, app: compileAll(App, "", set.App), agents: map[string][]compiled{}}
	names := make([]string, 0, len(set.Agents))
	for agent := range set.Agents {
		names = append(names, agent)
	}
	slices.Sort(names)
	for _, agent := range names {
		p.agents[agent] = compileAll(Agent, agent, set.Agents[agent])
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return p, nil
}

// compileScope compiles the rules of one scope.
func compileScope(scope Scope, agent string, rules []Rule, set Set) (made []compiled, faults []*Fault) {
	for i, rule := range rules {
		if rule.Name == "" {
			rule.Name = fmt.Sprintf("%s-%d", scope, i+1)
		}
		add := func(line, column int, field, format string, args ...any) {
			faults = append(faults, &Fault{
				Scope: scope, Agent: agent, Index: i, Field: field, Line: line, Column: column, Place: rule.Place, Message: fmt.Sprintf(format, args...),
			})
		}
		report := func(field, format string, args ...any) { add(0, 0, field, format, args...) }
		if i == MaxRules {
			report("", "is one too many: a scope has at most %d rules", MaxRules)
			break
		}
		before := len(faults)
		checker{rule, report}.check(set.Modes)
		if rule.WithoutApproval && (scope != App || rule.Effect != Allow) {
			report("without_approval", "only a rule of the application that allows can waive an approval")
		}
		if tools, limited := set.AgentTools[agent]; limited && agent != "" && !reaches(rule, tools) {
			report("tools", "can never match: agent %s may use %s", agent, orNothing(tools))
		}
		c := compiled{Rule: rule}
		if strings.TrimSpace(rule.When) != "" {
			var wrong []whenFault
			c.when, wrong = compile(rule.When)
			for _, fault := range wrong {
				add(fault.line, fault.column, "when", "%s", fault.message)
			}
		} else if rule.When != "" {
			report("when", "is empty")
		}
		if len(faults) == before {
			shadowed(made, rule, report)
		}
		made = append(made, c)
	}
	return made, faults
}

// shadowed reports a rule that stands behind one which takes all of its calls.
func shadowed(earlier []compiled, rule Rule, report func(field, format string, args ...any)) {
	for _, other := range earlier {
		switch {
		case other.Name == rule.Name:
			report("name", "another rule has the name %q too (%s)", rule.Name, other.where())
			return
		case other.covers(rule):
			report("", "can never match: rule %q before it (%s) takes every call that it would", other.Name, other.where())
			return
		}
	}
}

func (r Rule) where() string {
	if r.Place == "" {
		return "in the same scope"
	}
	return r.Place
}

// reaches reports whether a rule can take a call of one of the tools.
func reaches(r Rule, tools []string) bool {
	within := func(glob string) bool {
		return slices.ContainsFunc(tools, func(own string) bool { return coversGlob(own, glob) || coversGlob(glob, own) })
	}
	if len(r.Tools) > 0 {
		return slices.ContainsFunc(r.Tools, within)
	}
	if len(r.Namespaces) > 0 {
		return slices.ContainsFunc(r.Namespaces, func(namespace string) bool { return within(namespace + ".*") })
	}
	return len(tools) > 0
}

func orNothing(tools []string) string {
	if len(tools) == 0 {
		return "no tool"
	}
	return list(tools)
}
