package heddle

import (
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// The parts of [MCP].
type (
	// MCPOptions say which server tools are taken from, and what they may do.
	MCPOptions = mcp.Options
	// MCPCommand is a server that runs on the worker's machine.
	MCPCommand = mcp.Command
	// MCPPermission says what may be done with the tools that a pattern matches.
	MCPPermission = mcp.Permission
	// MCPSecretHeader is the value of a header that a secret is part of.
	MCPSecretHeader = mcp.SecretHeader
)

// MCP adds the tools of a server that speaks the Model Context Protocol, and what it
// has of resources and prompts as tools that read:
//
//	heddle.MCP(heddle.MCPOptions{
//		Namespace:     "github",
//		URL:           "https://mcp.example.com/mcp",
//		SecretHeaders: map[string]heddle.MCPSecretHeader{"Authorization": {Secret: "github.token", Prefix: "Bearer "}},
//	})
//
// The server is asked nothing before an agent that may use its tools has a turn. All
// its tools are writes, unless Trusted or Permissions say otherwise. How a write is
// undone is said with [UndoBy], how to find out what became of one with [LookUp].
func MCP(options MCPOptions) Option {
	return optionFunc(func(p *parts) { p.mcp = append(p.mcp, options) })
}

// openMCP makes the sources of the servers that the program and the configuration
// file name.
func (p *parts) openMCP(c *config.Config, secrets catalog.Secrets) {
	open := func(o mcp.Options, problem func(error) error) {
		if o.Secrets == nil {
			o.Secrets = secrets
		}
		if o.Files == nil {
			o.Files = &p.files
		}
		if o.Connection != "" {
			source, err := mcp.NewConnected(o)
			if err != nil {
				p.problem(problem(err))
				return
			}
			p.sources = append(p.sources, source)
			p.closers = append(p.closers, source.Close)
			return
		}
		source, err := mcp.New(o)
		if err != nil {
			p.problem(problem(err))
			return
		}
		p.sources = append(p.sources, source)
		p.closers = append(p.closers, source.Close)
	}
	for _, o := range p.mcp {
		open(o, func(err error) error { return err })
	}
	for _, server := range c.MCP {
		p.declareOf(c, "mcp."+server.Name, server.Lookups, server.Undos)
		open(mcpOptions(server), func(err error) error { return c.Problem("mcp."+server.Name, err.Error()) })
	}
}

// mcpOptions are the options of a server of the configuration file.
func mcpOptions(m config.MCP) mcp.Options {
	o := mcp.Options{
		Namespace: m.Name, URL: m.URL, SSE: m.SSE, Headers: m.Headers, Connection: m.Connection,
		Trusted: m.Trusted, HonoursKeys: m.HonoursKeys, Timeout: m.Timeout, Allow: m.Allow,
	}
	for name, h := range m.SecretHeaders {
		if o.SecretHeaders == nil {
			o.SecretHeaders = map[string]mcp.SecretHeader{}
		}
		o.SecretHeaders[name] = mcp.SecretHeader(h)
	}
	for _, t := range m.Tools {
		o.Permissions = append(o.Permissions, mcp.Permission{Tool: t.Tool, Access: mcp.Access(t.Access)})
	}
	if len(m.Command) > 0 {
		o.Command = &mcp.Command{Path: m.Command[0], Args: m.Command[1:], Env: m.Env}
	}
	return o
}
