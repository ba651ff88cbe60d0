package heddle

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/models/openai"
	"github.com/heddle-dev/heddle/models/scripted"
)

// builtModel is a model that agents can be given.
type builtModel struct {
	model activities.Model
	name  string // the vendor's
	price activities.Price
}

// buildAgents puts together the agents of the program and of the file.
func (p *parts) buildAgents(c *config.Config) map[string]activities.Agent {
	m := p.gatherModels(c)
	agents := map[string]activities.Agent{}
	for _, agent := range p.agents {
		if err := checkAgent(agent); err != nil {
			p.problem(err)
		}
		if _, twice := agents[agent.Name]; twice {
			p.problem(fmt.Errorf("agent %q: is added twice by the program", agent.Name))
		}
		built, err := m.get(agent.Model)
		if err != nil {
			p.problem(fmt.Errorf("agent %q: %w", agent.Name, err))
		} else if max(agent.Limits.CostMicros, agent.Limits.Thread.CostMicros) > 0 && built.price == (activities.Price{}) {
			p.problem(fmt.Errorf("agent %q: limits the cost, but its model %q has no price, which only the configuration file can give", agent.Name, agent.Model))
		}
		agents[agent.Name] = activities.Agent{
			Name: agent.Name, Instructions: agent.Instructions, MaxOutputTokens: agent.MaxOutputTokens,
			Tools: p.withWeb(c, catalog.Globs(agent.Tools), agent.NoWeb), Exposure: agent.Exposure, Eager: catalog.Globs(agent.Eager), Limits: agent.Limits.WithDefaults(), Mode: agent.Mode,
			Model: built.model, ModelName: built.name, Price: built.price,
		}
	}
	for _, agent := range c.Agents {
		if _, twice := agents[agent.Name]; twice {
			p.problem(c.Problem("agents."+agent.Name, "the program adds an agent of that name too"))
		}
		built, err := m.get(agent.Model)
		if err != nil {
			p.problem(c.Problem("agents."+agent.Name+".model", err.Error()))
		} else if max(agent.Limits.CostMicros, agent.Limits.Thread.CostMicros) > 0 && built.model != nil && built.price == (activities.Price{}) {
			p.problem(c.Problem("agents."+agent.Name+".limits.cost_usd",
				fmt.Sprintf("has no effect: model %q has no price", agent.Model)))
		}
		agents[agent.Name] = activities.Agent{
			Name: agent.Name, Instructions: agent.Instructions, MaxOutputTokens: agent.MaxOutputTokens,
			Tools: p.withWeb(c, agent.Tools, agent.NoWeb), Exposure: agent.Exposure, Eager: agent.Eager, Limits: agent.Limits, Mode: agent.Mode,
			Model: built.model, ModelName: built.name, Price: built.price,
		}
	}
	p.checkCosts(c, agents)
	if len(agents) == 0 && !p.configBroken {
		p.problem(errors.New("there is no agent: add one to the configuration file, or with heddle.Agent"))
	}
	return agents
}

// checkCosts refuses a total of a tenant's cost that some agent's is not counted in.
func (p *parts) checkCosts(c *config.Config, agents map[string]activities.Agent) {
	for _, tenant := range slices.Sorted(maps.Keys(c.Totals)) {
		for _, total := range c.Totals[tenant] {
			for _, name := range slices.Sorted(maps.Keys(agents)) {
				if agent := agents[name]; total.CostMicros > 0 && agent.Model != nil && agent.Price == (activities.Price{}) {
					p.problem(c.Problem(fmt.Sprintf("limits.tenants.%s.total.%s.cost_usd", tenant, total.Period),
						fmt.Sprintf("cannot be kept: the model of agent %s has no price", name)))
				}
			}
		}
	}
}

// models are the models that agents can name. One of the configuration file is
// built when the first agent asks for it, so that a key is needed only where its
// model is used.
type models struct {
	built      map[string]builtModel
	failed     map[string]error
	configured map[string]config.Model
	// complete is false where the configuration file could not be read.
	complete bool
}

func (p *parts) gatherModels(c *config.Config) *models {
	m := &models{
		built: map[string]builtModel{}, failed: map[string]error{}, configured: map[string]config.Model{},
		complete: !p.configBroken,
	}
	for _, given := range p.models {
		switch _, twice := m.built[given.name]; {
		case given.model == nil:
			p.problem(fmt.Errorf("model %q: is nil", given.name))
		case twice:
			p.problem(fmt.Errorf("model %q: is added twice by the program", given.name))
		}
		if err := config.CheckName(given.name); err != nil {
			p.problem(fmt.Errorf("model: %w", err))
		}
		m.built[given.name] = builtModel{model: given.model, name: given.name}
	}
	for _, model := range c.Models {
		if _, twice := m.built[model.Name]; twice {
			p.problem(c.Problem("models."+model.Name, "the program adds a model of that name too"))
		}
		m.configured[model.Name] = model
	}
	return m
}

func (m *models) get(name string) (builtModel, error) {
	if built, ok := m.built[name]; ok {
		return built, m.failed[name]
	}
	model, ok := m.configured[name]
	switch {
	case ok:
	case !m.complete: // it may be in the part that could not be read
		return builtModel{}, nil
	case name == "":
		return builtModel{}, errors.New("names no model")
	default:
		return builtModel{}, fmt.Errorf("there is no model %q; %s", name, m.names())
	}
	built := builtModel{name: model.Model, price: model.Price}
	var err error
	switch model.Provider {
	case config.OpenAI:
		built.model, err = openAI(model)
	case config.Scripted:
		built.model, err = scripted.Load(model.Script)
	}
	if err != nil {
		err = fmt.Errorf("model %q: %w", name, err)
	}
	m.built[name], m.failed[name] = built, err
	return built, err
}

func openAI(model config.Model) (activities.Model, error) {
	var key string
	if model.APIKeyEnv != "" {
		key = os.Getenv(model.APIKeyEnv)
	}
	// A server of one's own may want no key; OpenAI itself always does.
	if key == "" && model.BaseURL == "" {
		return nil, fmt.Errorf("needs a key: set the environment variable %s", orElse(model.APIKeyEnv,
			"that api_key_env names, or base_url for a server that wants none"))
	}
	return openai.New(openai.Config{BaseURL: model.BaseURL, APIKey: openai.Key(key)})
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// names lists the models there are, for people.
func (m *models) names() string {
	names := make([]string, 0, len(m.built)+len(m.configured))
	for name := range m.built {
		names = append(names, name)
	}
	for name := range m.configured {
		if _, built := m.built[name]; !built {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "there are none"
	}
	slices.Sort(names)
	return "there are " + strings.Join(names, ", ")
}
