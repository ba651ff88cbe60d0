package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// The largest values that make sense; a larger one is a slip of the pen.
const (
	maxSteps       = 10_000
	maxCalls       = 100_000
	maxThreadCalls = 100_000_000
	maxBytes       = 1 << 40
	maxTokens      = 1_000_000_000_000
	maxOutput      = 10_000_000
	maxTime        = 30 * 24 * time.Hour
	maxExpiry      = 365 * 24 * time.Hour
	maxStopTimeout = time.Hour
)

// Parse reads the content of a configuration file. The path names the file in
// problems, and its folder is where relative paths start. An error is a
// [Problems].
func Parse(path string, data []byte, env Lookup) (*Config, error) {
	c, err := Default(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	document, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, Problems{syntaxProblem(path, err)}
	}
	r := &reader{file: path, env: env, at: map[string]position{}, text: map[string]textStart{}}
	for i, doc := range document.Docs {
		root := value{reader: r, node: doc.Body}
		switch {
		case doc.Body == nil: // nothing but comments
		case i > 0:
			r.at[""] = positionOf(doc.Body.GetToken())
			root.problem("is a second YAML document; a configuration is one")
		default:
			r.at[""] = positionOf(doc.Body.GetToken())
			c.read(root, filepath.Dir(path))
		}
	}
	c.file, c.at, c.text = path, r.at, r.text
	if len(r.problems) > 0 {
		return nil, r.problems.sorted()
	}
	return c, nil
}

func (c *Config) read(root value, dir string) {
	if _, empty := root.node.(*ast.NullNode); empty {
		return
	}
	root.fields(
		field{name: "temporal", read: func(v value) { c.readTemporal(v, dir) }},
		field{name: "task_queue", read: func(v value) {
			if queue := v.expanded(); queue != "" {
				c.TaskQueue = queue
			}
		}},
		field{name: "stop_timeout", read: func(v value) { c.StopTimeout = v.duration(maxStopTimeout) }},
		field{name: "blobs", read: func(v value) {
			if blobs := v.expanded(); strings.Contains(blobs, "://") {
				c.Blobs = blobs
			} else if blobs != "" {
				c.Blobs = absolute(v, dir, blobs)
			}
		}},
		field{name: "sandbox", read: func(v value) {
			switch mode := v.expanded(); mode {
			case "hardened", "":
			case "unhardened":
				c.Unhardened = true
			default:
				v.problem("unknown mode %q; known are hardened and unhardened", mode)
			}
		}},
		field{name: "secrets", read: func(v value) { c.Secrets = readSecrets(v, dir) }},
		field{name: "connections", read: func(v value) { c.Connections = readConnections(v) }},
		field{name: "models", read: func(v value) {
			v.entries(func(name string, entry value) {
				checkName(entry, name)
				c.Models = append(c.Models, readModel(entry, name, dir))
			})
		}},
		field{name: "mcp", read: func(v value) {
			v.entries(func(name string, entry value) {
				checkName(entry, name)
				c.MCP = append(c.MCP, readMCP(entry, name))
			})
		}},
		field{name: "web", read: func(v value) { c.Web = readWeb(v) }},
		field{name: "agents", read: func(v value) {
			v.entries(func(name string, entry value) {
				checkName(entry, name)
				c.Agents = append(c.Agents, readAgent(entry, name, dir))
			})
		}},
		field{name: "scripts", read: func(v value) {
			v.entries(func(name string, entry value) { c.Scripts = append(c.Scripts, readScript(entry, name, dir)) })
		}},
		field{name: "modes", read: func(v value) {
			v.entries(func(name string, entry value) { c.Modes = append(c.Modes, readMode(entry, name)) })
		}},
		field{name: "policy", read: func(v value) { c.Policy = readRules(v) }},
		field{name: "audit", read: func(v value) { c.Audit = absolute(v, dir, v.expanded()) }},
		field{name: "limits", read: func(v value) { c.Limits, c.Totals = readBounds(v) }},
		field{name: "openapi", read: func(v value) {
			v.entries(func(namespace string, entry value) {
				c.OpenAPI = append(c.OpenAPI, readOpenAPI(entry, namespace, dir))
			})
		}},
	)
}

func (c *Config) readTemporal(v value, dir string) {
	v.fields(
		field{name: "address", read: func(v value) { c.Temporal.Address = v.expanded() }},
		field{name: "namespace", read: func(v value) { c.Temporal.Namespace = v.expanded() }},
		field{name: "profile", read: func(v value) { c.Temporal.Profile = v.expanded() }},
		field{name: "encryption", read: func(v value) { c.Temporal.Encryption = readKeySource(v, dir) }},
	)
}

// readKeySource reads where keys are.
func readKeySource(v value, dir string) (keys KeySource) {
	before := len(v.problems)
	v.fields(
		field{name: "key_env", read: func(v value) { keys.Env = v.keyEnv() }},
		field{name: "key_file", read: func(v value) { keys.File = absolute(v, dir, v.filled()) }},
	)
	if len(v.problems) == before && (keys.Env == "") == (keys.File == "") {
		v.problem("want either key_env or key_file")
	}
	return keys
}

func readModel(v value, name, dir string) Model {
	m := Model{Name: name}
	v.fields(
		field{name: "provider", required: true, read: func(v value) { m.Provider = Provider(v.text()) }},
		field{name: "model", read: func(v value) { m.Model = v.filled() }},
		field{name: "base_url", read: func(v value) { m.BaseURL = v.baseURL() }},
		field{name: "api_key_env", read: func(v value) { m.APIKeyEnv = v.envName() }},
		field{name: "script", read: func(v value) {
			if script := v.expanded(); script != "" {
				m.Script = absolute(v, dir, script)
			}
		}},
		field{name: "price", read: func(v value) {
			v.fields(
				field{name: "input_per_million_usd", required: true, read: func(v value) { m.Price.Input = v.dollars() }},
				field{name: "output_per_million_usd", required: true, read: func(v value) { m.Price.Output = v.dollars() }},
			)
		}},
	)
	switch m.Provider {
	case OpenAI:
		v.needs("model", m.Provider)
		v.forbids(m.Provider, "script")
	case Scripted:
		v.needs("script", m.Provider)
		v.forbids(m.Provider, "model", "base_url", "api_key_env")
	case "": // reported where it was read
	default:
		value{reader: v.reader, path: v.path + ".provider"}.
			problem("unknown provider %q; known are %s and %s", m.Provider, OpenAI, Scripted)
	}
	return m
}

// needs reports a field that a model of the provider must have.
func (v value) needs(name string, provider Provider) {
	if _, ok := v.at[v.path+"."+name]; !ok {
		v.problem("the field %s is missing; a model of provider %s needs it", name, provider)
	}
}

// forbids reports fields that mean nothing for a model of the provider.
func (v value) forbids(provider Provider, names ...string) {
	for _, name := range names {
		if _, ok := v.at[v.path+"."+name]; ok {
			value{reader: v.reader, path: v.path + "." + name}.
				problem("a model of provider %s has no such field", provider)
		}
	}
}

func readAgent(v value, name, dir string) Agent {
	a := Agent{Name: name, Limits: activities.DefaultLimits}
	v.fields(
		field{name: "model", required: true, read: func(v value) { a.Model = v.filled() }},
		field{name: "instructions", read: func(v value) { a.Instructions = v.text() }},
		field{name: "instructions_file", read: func(v value) {
			name := v.text()
			if name == "" {
				return
			}
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			text, err := instructions(name)
			if err != nil {
				v.problem("%s", err)
			}
			a.Instructions = text
		}},
		field{name: "max_output_tokens", read: func(v value) { a.MaxOutputTokens = int(v.integer(maxOutput)) }},
		field{name: "tools", read: func(v value) { a.Tools = v.globs() }},
		field{name: "exposure", read: func(v value) {
			a.Exposure = activities.Exposure(v.text())
			if a.Exposure != "" && !slices.Contains(activities.Exposures, a.Exposure) {
				v.problem("unknown exposure %q; known are %q", a.Exposure, activities.Exposures)
			}
		}},
		field{name: "eager", read: func(v value) { a.Eager = v.globs() }},
		field{name: "web", read: func(v value) { a.NoWeb = !v.boolean() }},
		field{name: "limits", read: func(v value) { readLimits(v, &a.Limits) }},
		field{name: "mode", read: func(v value) { a.Mode = v.text() }},
		field{name: "policy", read: func(v value) { a.Policy = readRules(v) }},
	)
	if len(a.Eager) > 0 && (a.Exposure == "" || a.Exposure == activities.ExposureDirect) {
		value{reader: v.reader, path: v.path + ".eager"}.
			problem("has no effect: with exposure direct the model is shown all tools")
	}
	_, inline := v.at[v.path+".instructions"]
	_, file := v.at[v.path+".instructions_file"]
	if inline == file {
		v.problem("want either instructions or instructions_file")
	}
	return a
}

// globs reads a list of tools by name, as globs over their ids: see
// [catalog.Globs].
func (v value) globs() []string {
	var globs []string
	v.list(func(glob value) {
		text := glob.text()
		if text == "" {
			return
		}
		meant := catalog.Globs([]string{text})
		if err := catalog.CheckGlob(meant[0]); err != nil {
			glob.problem("%s", err)
		}
		globs = append(globs, meant...)
	})
	return globs
}

func readLimits(v value, l *activities.Limits) {
	v.fields(
		field{name: "steps", read: func(v value) { l.Steps = int(v.integer(maxSteps)) }},
		field{name: "calls", read: func(v value) { l.Calls = int(v.integer(maxCalls)) }},
		field{name: "tokens", read: func(v value) { l.Tokens = v.integer(maxTokens) }},
		field{name: "cost_usd", read: func(v value) { l.CostMicros = v.dollars() }},
		field{name: "input_bytes", read: func(v value) { l.InputBytes = v.integer(maxBytes) }},
		field{name: "output_bytes", read: func(v value) { l.OutputBytes = v.integer(maxBytes) }},
		field{name: "time", read: func(v value) { l.Time = v.duration(maxTime) }},
		field{name: "thread", read: func(v value) { readThreadLimits(v, &l.Thread) }},
		field{name: "approval_expiry", read: func(v value) { l.ApprovalExpiry = v.duration(maxExpiry) }},
		field{name: "reconcile_expiry", read: func(v value) { l.ReconcileExpiry = v.duration(maxExpiry) }},
		field{name: "approval_reminder", read: func(v value) { l.ApprovalReminder = v.duration(maxExpiry) }},
	)
}

// readThreadLimits reads what bounds all turns of a thread together.
func readThreadLimits(v value, l *contract.Limits) {
	v.fields(
		field{name: "steps", read: func(v value) { l.Steps = int(v.integer(maxCalls)) }},
		field{name: "calls", read: func(v value) { l.Calls = int(v.integer(maxThreadCalls)) }},
		field{name: "tokens", read: func(v value) { l.Tokens = v.integer(maxTokens) }},
		field{name: "cost_usd", read: func(v value) { l.CostMicros = v.dollars() }},
		field{name: "input_bytes", read: func(v value) { l.InputBytes = v.integer(maxBytes) }},
		field{name: "output_bytes", read: func(v value) { l.OutputBytes = v.integer(maxBytes) }},
		field{name: "time", read: func(v value) { l.TimeMS = v.duration(maxExpiry).Milliseconds() }},
	)
}

// instructions reads a file of instructions.
func instructions(path string) (string, error) {
	data, err := readFile(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
	if text == "" {
		return "", fmt.Errorf("%s: is empty", path)
	}
	return text, nil
}

// absolute resolves a path against the file's folder.
func absolute(v value, dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	abs, err := filepath.Abs(filepath.Join(dir, path))
	if err != nil {
		v.problem("%s", err)
	}
	return abs
}

// checkName reports a name that agents and models cannot have.
func checkName(v value, name string) {
	if err := CheckName(name); err != nil {
		v.problem("%s", err)
	}
}

// CheckName says why a name cannot be that of an agent or a model: it is 1 to 64
// characters of A-Z a-z 0-9 . _ -
func CheckName(name string) error {
	if name == "" || len(name) > 64 {
		return fmt.Errorf("the name %q is %d characters long, want 1 to 64", name, len(name))
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		default:
			return fmt.Errorf("the name %q holds %q; use A-Z a-z 0-9 . _ -", name, r)
		}
	}
	return nil
}

// baseURL reads the URL of a model's server, without any credential in it.
func (v value) baseURL() string {
	text := v.expanded()
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		v.problem("want a URL such as https://host/v1")
	case u.User != nil:
		v.problem("holds a credential; name the variable that holds it in api_key_env")
	case u.RawQuery != "", u.Fragment != "":
		v.problem("want a URL without ? and #")
	}
	return text
}

// envName reads the name of an environment variable. What is none is not
// repeated in the problem: it may be the key itself.
func (v value) envName() string {
	name := v.text()
	if name != "" && !isEnvName(name) {
		v.problem("want the name of an environment variable such as OPENAI_API_KEY, not the key itself")
		return ""
	}
	return name
}
