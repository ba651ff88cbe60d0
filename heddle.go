package heddle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/lookup"
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/internal/connect"
	"github.com/heddle-dev/heddle/internal/connections"
	"github.com/heddle-dev/heddle/providers/local"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/signals/encryption"
)

// App is a worker whose parts fit together. Run it with [App.Run].
type App struct {
	config     *config.Config
	connection client.Options
	agents     map[string]activities.Agent
	broker     *catalog.Broker
	// scripts are the sources of the saved scripts, by the ids of their tools.
	scripts map[string]string
	vault   *secrets.Vault
	// connections are what people have let this side have.
	connections *connections.Book
	exits       *exits
	// closers end what sources hold open, when the worker has stopped.
	closers []func()
	files   *files
	// rerank puts hits of searches in order, unless nil.
	rerank lookup.Reranker
	// elsewhere are declarations about tools that have to be asked for.
	elsewhere []declaration
	logger    *slog.Logger
}

// New builds an application. It reads the configuration file and looks at
// nothing else outside; the error lists everything that is wrong, one problem a
// line.
func New(options ...Option) (*App, error) {
	p := &parts{logger: slog.Default(), lookups: map[string]catalog.Lookup{}, undos: map[string]catalog.UndoFunc{}}
	for _, option := range options {
		option.apply(p)
	}
	redactor := &secrets.Redactor{}
	app := &App{
		exits:  &exits{redactor: redactor},
		logger: slog.New(secrets.NewHandler(p.logger.Handler(), redactor)),
	}
	app.config = p.readConfig()
	app.vault = p.openSecrets(app.config, redactor)
	app.connections = p.openConnections(app.config, app.vault)
	codec := p.readCodec(app.config, redactor)
	app.connection = codec.Options(p.connection(app.config))
	app.connection.FailureConverter = app.exits.failureConverter(codec)
	p.configuredOpenAPI(app.config)
	p.openMCP(app.config, app.vault)
	p.openWeb(app.config, app.vault)
	app.files, app.closers, app.rerank = &p.files, p.closers, p.rerank
	app.scripts = p.saveScripts(app.config)
	app.broker = p.openCatalog()
	if app.broker != nil {
		app.broker.Protect(app.vault)
		if app.connections != nil && app.config.Connections.Callback != nil {
			app.broker.Reconnect(app.askConsent)
		}
		app.broker.LookUp(p.lookups)
		app.broker.Undo(p.undos)
		app.elsewhere = p.checkDeclared(app.broker)
	}
	p.govern(app.config, app.broker)
	app.agents = app.exits.guardModels(p.buildAgents(app.config))
	for _, model := range app.config.Models {
		redactor.Hide("", []byte(os.Getenv(model.APIKeyEnv)))
	}
	if err := errors.Join(p.problems...); err != nil {
		return nil, err
	}
	return app, nil
}

// readConfig reads the configuration file. After a problem the defaults stand in
// for it, so that what does not depend on it can be checked still.
func (p *parts) readConfig() *config.Config {
	c, err := config.Default(".")
	if p.configFile != "" {
		c, err = config.Load(p.configFile)
	}
	if err != nil {
		p.problem(err)
		p.configBroken = true
		return &config.Config{}
	}
	return c
}

func (p *parts) connection(c *config.Config) client.Options {
	options, err := connect.Options(connect.Target{}, connect.Target{Address: c.Temporal.Address, Namespace: c.Temporal.Namespace, Profile: c.Temporal.Profile})
	if err != nil {
		p.problem(err)
	}
	return options
}

// readCodec reads the keys by which all that reaches Temporal is encrypted. Without
// keys nothing is.
func (p *parts) readCodec(c *config.Config, redactor *secrets.Redactor) *encryption.Codec {
	from := c.Temporal.Encryption
	if from == (config.KeySource{}) {
		return &encryption.Codec{}
	}
	keys, err := secrets.ReadKey(from.Env, from.File)
	if err == nil {
		secrets.HideKeys(redactor, keys)
		var codec *encryption.Codec
		if codec, err = encryption.Parse(string(keys)); err == nil {
			return codec
		}
	}
	p.problem(c.Problem("temporal.encryption", err.Error()))
	return &encryption.Codec{}
}

func (p *parts) openCatalog() *catalog.Broker {
	sources := p.sources
	if len(p.tools) > 0 {
		sources = append([]catalog.Source{local.New(p.tools...)}, sources...)
	}
	broker, err := catalog.New(sources...)
	if err != nil {
		p.problem(err)
	}
	return broker
}

// toolCounts warns of globs that match no tool, which is a slip of the pen or a
// source that cannot be read now, and counts the tools of each agent. Sources
// elsewhere are not asked for that.
func (a *App) toolCounts(ctx context.Context) (map[string]int, error) {
	here := a.broker.Here()
	counts := map[string]int{}
	for name, agent := range a.agents {
		for _, glob := range agent.Tools {
			tools, err := here.List(ctx, catalog.Scope{Tools: []string{glob}})
			if err != nil {
				return nil, err
			}
			if len(tools) == 0 && len(a.broker.Elsewhere(catalog.Scope{Tools: []string{glob}})) == 0 {
				a.logger.Warn("a glob of an agent matches no tool", "agent", name, "glob", glob)
			}
		}
		tools, err := here.List(ctx, catalog.Scope{Agent: name, Tools: agent.Tools})
		if err != nil {
			return nil, err
		}
		counts[name] = len(tools)
	}
	return counts, nil
}

// agentNames are the names of the agents, sorted.
func (a *App) agentNames() []string {
	names := make([]string, 0, len(a.agents))
	for name := range a.agents {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// checkAgent says what is wrong with an agent that the program itself adds.
func checkAgent(a Agent) error {
	var problems []error
	bad := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("agent %q: "+format, append([]any{a.Name}, args...)...))
	}
	if err := config.CheckName(a.Name); err != nil {
		bad("%w", err)
	}
	if a.Instructions == "" {
		bad("has no instructions")
	}
	if a.MaxOutputTokens < 0 {
		bad("max output tokens are %d, want 0 or more", a.MaxOutputTokens)
	}
	for _, glob := range catalog.Globs(a.Tools) {
		if err := catalog.CheckGlob(glob); err != nil {
			bad("%w", err)
		}
	}
	for _, glob := range catalog.Globs(a.Eager) {
		if err := catalog.CheckGlob(glob); err != nil {
			bad("eager: %w", err)
		}
	}
	if len(a.Eager) > 0 && (a.Exposure == "" || a.Exposure == Direct) {
		bad("eager has no effect: with exposure direct the model is shown all tools")
	}
	if a.Exposure != "" && !slices.Contains(activities.Exposures, a.Exposure) {
		bad("exposure is %q; known are %q", a.Exposure, activities.Exposures)
	}
	l := a.Limits
	of := l.Thread
	if min(int64(l.Steps), l.InputBytes, l.OutputBytes, int64(of.Steps), int64(of.Calls), of.Tokens, of.CostMicros, of.InputBytes, of.OutputBytes, of.TimeMS, int64(l.Calls), l.Tokens, l.CostMicros, int64(l.Time), int64(l.ApprovalExpiry), int64(l.ReconcileExpiry), int64(l.ApprovalReminder)) < 0 {
		bad("a limit is negative; 0 means the default")
	}
	return errors.Join(problems...)
}
