package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

const startDevExamples = `  # In memory: everything is gone when the server ends
  temporal-devserver server start-dev

  # On a file: workflows survive a restart, and a kill
  temporal-devserver server start-dev --db-filename heddle.db

  # Own ports, two namespaces, a search attribute, no UI
  temporal-devserver server start-dev --port 7300 --headless \
      -n default -n staging --search-attribute Agent=Keyword

  # Override any dynamic config key (the value is JSON)
  temporal-devserver server start-dev \
      --dynamic-config-value history.transferProcessorMaxPollRPS=100 \
      --dynamic-config-value 'frontend.keepAliveMaxConnectionAge="30s"'`

// newRootCommand builds the command tree. It mirrors the part of the official
// CLI that starts a development server, and nothing else of it.
func newRootCommand(stdout io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:     "temporal-devserver",
		Short:   "Temporal server, Temporal UI and SQLite in one binary",
		Example: startDevExamples,
		Version: versionLine(),
		// main prints the error, once and without the usage text: a wrong flag
		// should not push its own message off the screen.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(stdout)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
	})

	server := &cobra.Command{
		Use:     "server",
		Short:   "Run a Temporal server",
		Example: startDevExamples,
		Version: versionLine(),
		Args:    rejectArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	server.SetVersionTemplate("{{.Version}}\n")
	server.AddCommand(newStartDevCommand(stdout))
	root.AddCommand(server)
	return root
}

// newStartDevCommand builds "server start-dev".
func newStartDevCommand(stdout io.Writer) *cobra.Command {
	var flags startDevFlags
	cmd := &cobra.Command{
		Use:   "start-dev",
		Short: "Start a development server",
		Long: `Start a Temporal development server: every service, the UI and SQLite in this
process. Without --db-filename all state is in memory.

It listens on loopback only unless --ip says otherwise, and has no
authentication: do not bind it to an address that others can reach.`,
		Example: startDevExamples,
		Args:    rejectArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags.uiPortSet = cmd.Flags().Changed("ui-port")
			opts, err := flags.options()
			if err != nil {
				return err
			}
			return run(cmd.Context(), opts, stdout, cmd.ErrOrStderr())
		},
	}
	flags.register(cmd)
	return cmd
}

// rejectArgs says what is wrong with an argument that is neither a flag nor a
// subcommand; cobra's own message blames an "unknown command" even where no
// command could stand.
func rejectArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unexpected argument %q for %q (see %s --help)",
		strings.Join(args, " "), cmd.CommandPath(), cmd.CommandPath())
}

// register declares the flags under the names the official CLI gives them.
func (f *startDevFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.ip, "ip", "localhost", "IP address of the frontend service")
	fs.IntVarP(&f.port, "port", "p", 7233, "port of the frontend gRPC service; 0 picks a free one")
	fs.IntVar(&f.httpPort, "http-port", 0, "port of the frontend HTTP API; 0 picks a free one")
	fs.IntVar(&f.metricsPort, "metrics-port", 0, "port of the Prometheus /metrics endpoint; 0 picks a free one")
	fs.StringVarP(&f.dbFilename, "db-filename", "f", "", "SQLite file for persistent state (default: in memory)")
	fs.StringArrayVarP(&f.namespaces, "namespace", "n", nil, `namespace to create, repeatable; "default" always exists`)
	fs.StringArrayVar(&f.searchAttributes, "search-attribute", nil,
		"search attribute to register as NAME=TYPE, repeatable; TYPE is one of "+strings.Join(searchAttributeTypeNames(), ", "))
	fs.StringArrayVar(&f.dynamicConfig, "dynamic-config-value", nil, "dynamic config as KEY=JSON_VALUE, repeatable")
	fs.StringArrayVar(&f.pragmas, "sqlite-pragma", nil,
		"SQLite pragma as NAME=VALUE, repeatable; NAME is one of "+strings.Join(allowedPragmas, ", "))
	fs.BoolVar(&f.headless, "headless", false, "do not start the UI")
	fs.StringVar(&f.uiIP, "ui-ip", "", "IP address of the UI (default: that of --ip)")
	fs.IntVar(&f.uiPort, "ui-port", 0, "port of the UI; 0 picks a free one (default: --port + 1000)")
	fs.StringVar(&f.uiPublicPath, "ui-public-path", "", "path under which the UI is served")
	fs.StringVar(&f.uiAssetPath, "ui-asset-path", "", "directory with UI assets to serve instead of the built-in ones")
	fs.StringVar(&f.uiCodecEndpoint, "ui-codec-endpoint", "", "URL of the codec server that the UI decodes payloads with")
	fs.StringVar(&f.logLevel, "log-level", "warn", "log level: "+strings.Join(logLevels, ", "))
	fs.StringVar(&f.logFormat, "log-format", "text", "log format: "+strings.Join(logFormats, ", "))
	fs.BoolVar(&f.logConfig, "log-config", false, "print the server configuration to stderr")
}
