package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/policy"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/signals/contract"
)

// maxFile bounds a configuration file and a file of instructions, in bytes.
const maxFile = 1 << 20

// Config is the configuration of a worker. Every default is filled in.
type Config struct {
	Temporal  Temporal
	TaskQueue string
	// StopTimeout is how long activities may go on once the worker is asked to
	// stop.
	StopTimeout time.Duration
	// Blobs is the store of large values: the URL of a bucket or an absolute
	// folder.
	Blobs string
	// Unhardened runs snippets also where the system cannot lock their processes in.
	Unhardened bool
	Models     []Model
	Agents     []Agent
	// Modes are the modes that a thread can be in, besides the built-in ones.
	Modes []catalog.Mode
	// Policy are the rules for every call; see [Config.CompilePolicy].
	Policy []policy.Rule
	// Audit is the absolute folder of audit logs. Empty: there are none.
	Audit string
	// Limits bound calls, each and together.
	Limits catalog.Limits
	// Totals limit what each tenant uses in a period, by its name; those of "*" hold for
	// who has no entry, and for what an entry leaves out.
	Totals map[string][]contract.Total
	// Scripts are the snippets that are saved by name.
	Scripts []Script
	// OpenAPI are the services whose operations are tools.
	OpenAPI []OpenAPI
	// MCP are the servers of the Model Context Protocol that have tools.
	MCP []MCP
	Web Web
	// Secrets are the stores of secrets, in the order in which they are asked.
	Secrets []secrets.Location
	// Connections say how people let this side into services.
	Connections Connections

	file string
	at   map[string]position
	text map[string]textStart
}

// Temporal says where the server is, as far as the environment and a profile do
// not say it.
type Temporal struct {
	Address   string
	Namespace string
	Profile   string
	// Encryption says where the keys are by which all that reaches Temporal is
	// encrypted. The zero value encrypts nothing.
	Encryption KeySource
}

// KeySource is where keys are: an environment variable or a file that is its owner's
// alone. At most one is set.
type KeySource struct{ Env, File string }

// Provider is who serves a model.
type Provider string

// The providers.
const (
	// OpenAI is any server that speaks OpenAI's chat completions.
	OpenAI Provider = "openai"
	// Scripted plays a file of turns.
	Scripted Provider = "scripted"
)

// Model is a model that agents refer to by name.
type Model struct {
	Name     string
	Provider Provider
	// Model is the vendor's name.
	Model string
	// BaseURL is empty for the vendor's own.
	BaseURL string
	// APIKeyEnv names the environment variable that holds the key. Empty: the
	// server wants none.
	APIKeyEnv string
	// Script is the absolute path of a scripted model's file.
	Script string
	Price  activities.Price
}

// Agent is an agent as configured.
type Agent struct {
	Name            string
	Instructions    string
	Model           string
	MaxOutputTokens int
	Tools           []string
	Exposure        activities.Exposure
	// Eager are globs over the tools whose signatures the model is told.
	Eager  []string
	Limits activities.Limits
	// Mode is that of a thread whose backend chose none. Empty: none binds it.
	Mode string
	// Policy are the rules for the agent's calls.
	Policy []policy.Rule
	// NoWeb leaves out the tools of the web.
	NoWeb bool
}

// DefaultStopTimeout is the StopTimeout of a configuration that sets none.
const DefaultStopTimeout = 30 * time.Second

// DefaultBlobs is the folder of large values, next to the configuration file.
const DefaultBlobs = ".heddle/blobs"

// Default is the configuration of an empty file in a folder.
func Default(dir string) (*Config, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("folder of the configuration: %w", err)
	}
	return &Config{
		TaskQueue:   contract.TaskQueue,
		StopTimeout: DefaultStopTimeout,
		Blobs:       filepath.Join(abs, DefaultBlobs),
		Secrets:     []secrets.Location{{Kind: secrets.KindEnv}},
	}, nil
}

// Load reads a configuration file and the files that it names. An error about
// its content is a [Problems].
func Load(path string) (*Config, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return Parse(path, data, os.LookupEnv)
}

// readFile reads a file of at most maxFile bytes.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a folder", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s: is %d bytes long, at most %d are allowed", path, info.Size(), maxFile)
	}
	return os.ReadFile(path)
}
