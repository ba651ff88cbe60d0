package heddle

import (
	"errors"
	"log/slog"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/policy"
	"github.com/heddle-dev/heddle/codemode/lookup"
	"github.com/heddle-dev/heddle/providers/mcp"
	"github.com/heddle-dev/heddle/providers/openapi"
	"github.com/heddle-dev/heddle/secrets"
)

// Option is something that [New] builds an application from: a tool, an agent,
// a model, a source of tools, the path of a configuration file.
type Option interface {
	apply(*parts)
}

// optionFunc is an [Option] that is a function.
type optionFunc func(*parts)

func (f optionFunc) apply(p *parts) { f(p) }

// parts are what the options add up to. Nothing is checked while they are
// gathered: [New] reports all problems at once.
type parts struct {
	configFile string
	agents     []Agent
	models     []namedModel
	sources    []catalog.Source
	tools      []catalog.Tool
	toolsets   map[string]bool // by name
	modes      []catalog.Mode
	rules      []policy.Rule
	mcp        []mcp.Options
	// lookups and undos are declared of tools that write, by their ids; declared are
	// both as they are held against the catalog.
	lookups  map[string]catalog.Lookup
	undos    map[string]catalog.UndoFunc
	declared []declaration
	// rerank puts hits of searches in order.
	rerank lookup.Reranker
	// withoutWeb says that no agent has the tools of the web.
	withoutWeb bool
	// stores keep secrets, and renewals renew them.
	stores   []secrets.Store
	renewals []secrets.Renew
	// closers end what sources hold open.
	closers  []func()
	logger   *slog.Logger
	problems []error
	// specs are the OpenAPI specifications that sources share.
	specs openapi.Specs
	// files are what tools make and take.
	files files
	// configBroken says that the configuration file could not be read, so that
	// what is missing may be in it.
	configBroken bool
}

type namedModel struct {
	name  string
	model activities.Model
}

// problem records why an option cannot be used.
func (p *parts) problem(err error) { p.problems = append(p.problems, err) }

// Limits bound one turn of an agent. A field that is 0 means the default:
// 25 steps, 1,000 calls, 500,000 tokens, no bound on cost, 30 minutes, and
// approvals that expire after 72 hours.
type Limits = activities.Limits

// Agent is whom a thread talks to. As an [Option] it adds an agent to those of
// the configuration file.
type Agent struct {
	// Name is how a backend asks for the agent: 1 to 64 characters of
	// A-Z a-z 0-9 . _ -
	Name string
	// Instructions are the system prompt.
	Instructions string
	// Model is the name of a model: one given with [Model], or one of the
	// configuration file.
	Model string
	// MaxOutputTokens bounds a reply of the model. 0: the vendor's default.
	MaxOutputTokens int
	// Tools are the tools that the agent may use: ids, globs over ids such as
	// orders.items.* , and names of toolsets or other namespaces, such as orders, which
	// stand for all that is in them. None means no tool.
	Tools []string
	// Exposure is how the model reaches the tools. Empty: [Direct].
	Exposure Exposure
	// Eager are those of the tools, named as in Tools, that the agent is likely to need: the
	// model is told their signatures beforehand, and need not search for them. They
	// have no meaning with [Direct], which shows all tools.
	Eager []string
	// NoWeb leaves out web.search and web.fetch, which an agent has otherwise.
	NoWeb bool
	// Limits bound a turn.
	Limits Limits
	// Mode is that of a thread whose backend chose none. Empty: none binds it.
	Mode string
	// Policy are rules for the agent's calls. They tighten what [Policy] and the
	// configuration file say for all agents, and loosen nothing.
	Policy []Rule
}

// Exposure is how an agent's model reaches its tools.
type Exposure = activities.Exposure

// The exposures.
const (
	// Direct: each tool is a function that the model can call.
	Direct = activities.ExposureDirect
	// Gateway: the model searches, describes and calls the tools by four functions.
	Gateway = activities.ExposureGateway
	// Code: the model writes snippets of TypeScript that call the tools.
	Code = activities.ExposureCode
	// Auto: Direct while the tools are few, and else Code.
	Auto = activities.ExposureAuto
)

func (a Agent) apply(p *parts) { p.agents = append(p.agents, a) }

// Model adds a model under a name that agents refer to. The model is asked with
// that name as [activities.ModelRequest.Model].
func Model(name string, model activities.Model) Option {
	return optionFunc(func(p *parts) { p.models = append(p.models, namedModel{name, model}) })
}

// Source adds a source of tools.
func Source(source catalog.Source) Option {
	return optionFunc(func(p *parts) {
		if source == nil {
			p.problem(errors.New("a source of tools is nil"))
			return
		}
		p.sources = append(p.sources, source)
	})
}

// Rerank has a function put the best hits of each search for tools, at most
// [lookup.MaxReranked], into the order in which a model is shown them: by a model of
// embeddings, say, or by what was used before. It gets what was wanted and the tools
// that were found, all of which the agent may use, and returns their ids; what it
// leaves out follows, and it can add none. A tool that was named exactly comes first
// all the same. A function that fails, or takes more than a second, costs nothing but its
// order: the search is answered in its own, with a note, and the worker's log says why.
//
//	heddle.Rerank(func(ctx context.Context, scope catalog.Scope, wants []string, tools []catalog.Descriptor) ([]string, error) {
//		return embeddings.Order(ctx, wants, tools)
//	})
func Rerank(order lookup.Reranker) Option {
	return optionFunc(func(p *parts) {
		switch {
		case order == nil:
			p.problem(errors.New("rerank: the function is nil"))
		case p.rerank != nil:
			p.problem(errors.New("rerank: is given twice"))
		}
		p.rerank = order
	})
}

// ConfigFile names the configuration file. Without it an application has no
// configuration but its options and the environment.
func ConfigFile(path string) Option {
	return optionFunc(func(p *parts) { p.configFile = path })
}

// Logger is what the worker logs to. Without it that is [slog.Default].
func Logger(logger *slog.Logger) Option {
	return optionFunc(func(p *parts) { p.logger = logger })
}
