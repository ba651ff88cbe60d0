package heddle

import (
	"errors"
	"fmt"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/policy"
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/providers/local"
)

// Rule takes some calls and says what becomes of them; see the package
// catalog/policy. What it can say stands in docs/policy.md.
type Rule = policy.Rule

// What becomes of the calls that a [Rule] takes.
const (
	Allow = policy.Allow
	Ask   = policy.Ask
	Block = policy.Block
)

// Mode is what an agent may do for the time being: a backend puts a thread into
// one. The modes ask, plan, build and review are always there.
type Mode = catalog.Mode

// Policy adds rules for the calls of all agents. They stand before those of the
// configuration file: the first that takes a call decides.
//
// A rule that does not compile, or that could never take a call, is an error of
// [New].
func Policy(rules ...Rule) Option {
	place := local.Caller(1)
	return optionFunc(func(p *parts) {
		for _, rule := range rules {
			if rule.Place == "" {
				rule.Place = place
			}
			p.rules = append(p.rules, rule)
		}
	})
}

// Modes adds modes. One with the name of a built-in takes its place.
func Modes(modes ...Mode) Option {
	return optionFunc(func(p *parts) { p.modes = append(p.modes, modes...) })
}

// govern gives the broker its modes and its policy.
func (p *parts) govern(c *config.Config, broker *catalog.Broker) {
	modes, err := catalog.NewModes(append(p.modes, c.Modes...)...)
	if err != nil {
		p.problem(err)
	}
	program := policy.Set{App: p.rules, Agents: map[string][]policy.Rule{}, AgentTools: map[string][]string{}, Modes: modes.Names()}
	for _, agent := range p.agents {
		program.Agents[agent.Name], program.AgentTools[agent.Name] = agent.Policy, agent.Tools
		if agent.Mode != "" {
			if _, unknown := modes.Of(agent.Mode); unknown != nil {
				p.problem(fmt.Errorf("agent %q: %w", agent.Name, noMode(agent.Mode, modes)))
			}
		}
	}
	for _, agent := range c.Agents {
		if _, unknown := modes.Of(agent.Mode); unknown != nil {
			p.problem(c.Problem("agents."+agent.Name+".mode", noMode(agent.Mode, modes).Error()))
		}
	}
	rules, err := c.CompilePolicy(program)
	if err != nil {
		p.problem(err)
		return
	}
	if broker != nil {
		broker.Govern(rules, modes)
		broker.Limit(c.Limits)
	}
}

func noMode(name string, modes catalog.Modes) error {
	err := fmt.Sprintf("there is no mode %q; there are", name)
	for i, known := range modes.Names() {
		if i > 0 {
			err += ","
		}
		err += " " + known
	}
	return errors.New(err)
}
