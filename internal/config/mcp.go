package config

import (
	"slices"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/lookup"
	"github.com/heddle-dev/heddle/catalog/undo"
)

// MCP is a server of the Model Context Protocol, as configured. What else can be
// wrong with it is found where the source is made.
type MCP struct {
	// Name is the namespace of its tools.
	Name string
	// URL or Command says where it is.
	URL     string
	Command []string
	// SSE says that it speaks HTTP with server-sent events.
	SSE bool
	// Env is the environment of a command, as NAME=value.
	Env []string
	// Headers are sent with each request, and SecretHeaders are made of secrets.
	Headers       map[string]string
	SecretHeaders map[string]SecretHeader
	// Connection names the connection whose token authenticates.
	Connection string
	Trusted    bool
	// Tools say what may be done with which tools, in the file's order.
	Tools []ToolAccess
	// HonoursKeys are patterns of tools that honour idempotency keys; Lookups say how
	// to find out what became of a write, Undos how one is undone.
	HonoursKeys []string
	Lookups     []lookup.Declaration
	Undos       []undo.Declaration
	Timeout     time.Duration
	// Allow are hosts that may be reached by plain HTTP and at private addresses.
	Allow []string
}

// SecretHeader is the value of a header that a secret is part of.
type SecretHeader struct{ Secret, Prefix string }

// ToolAccess says what may be done with the tools that a pattern matches.
type ToolAccess struct{ Tool, Access string }

func readMCP(v value, name string) MCP {
	m := MCP{Name: name, Headers: map[string]string{}, SecretHeaders: map[string]SecretHeader{}}
	v.fields(
		field{name: "url", read: func(v value) { m.URL = v.filled() }},
		field{name: "transport", read: func(v value) {
			switch v.text() {
			case "http":
			case "sse":
				m.SSE = true
			default:
				v.problem("want http or sse")
			}
		}},
		field{name: "command", read: func(v value) {
			v.list(func(argument value) { m.Command = append(m.Command, argument.expanded()) })
		}},
		field{name: "env", read: func(v value) {
			v.entries(func(name string, entry value) { m.Env = append(m.Env, name+"="+entry.expanded()) })
		}},
		field{name: "headers", read: func(v value) { v.entries(m.readHeader) }},
		field{name: "connection", read: func(v value) {
			m.Connection = v.text()
			if err := catalog.CheckSecretName(m.Connection); m.Connection != "" && err != nil {
				v.problem("%s", err)
			}
		}},
		field{name: "trusted", read: func(v value) { m.Trusted = v.boolean() }},
		field{name: "tools", read: func(v value) {
			v.entries(func(tool string, entry value) { m.Tools = append(m.Tools, ToolAccess{tool, entry.text()}) })
		}},
		field{name: "honours_keys", read: func(v value) {
			v.each(func(_ value, pattern string) { m.HonoursKeys = append(m.HonoursKeys, pattern) })
		}},
		field{name: "reconcile", read: func(v value) { m.Lookups = readLookups(v, name) }},
		field{name: "undo", read: func(v value) { m.Undos = readUndos(v, name) }},
		field{name: "timeout", read: func(v value) { m.Timeout = v.duration(catalog.MaxTimeout) }},
		field{name: "allow", read: func(v value) {
			v.list(func(host value) { m.Allow = append(m.Allow, host.filled()) })
		}},
	)
	if (m.URL == "") == (len(m.Command) == 0) {
		v.problem("want either url or command")
	}
	slices.Sort(m.Env)
	return m
}

// readHeader reads a header: its text, or the secret that it is made of.
func (m *MCP) readHeader(name string, v value) {
	if !v.isMapping() {
		m.Headers[name] = v.expanded()
		return
	}
	var h SecretHeader
	v.fields(
		field{name: "secret", required: true, read: func(v value) {
			h.Secret = v.text()
			if _, err := catalog.ParseSecretRef(h.Secret); h.Secret != "" && err != nil {
				v.problem("%s", err)
			}
		}},
		field{name: "prefix", read: func(v value) { h.Prefix = v.text() }},
	)
	m.SecretHeaders[name] = h
}

// Web says where web.search and web.fetch get their answers.
type Web struct {
	// Off says that no agent has them.
	Off bool
	// URL is the service, empty for the usual one, and Allow are hosts as of [MCP].
	URL   string
	Allow []string
}

// readWeb reads true, false, or which service is asked.
func readWeb(v value) Web {
	if !v.isMapping() {
		return Web{Off: !v.boolean()}
	}
	var w Web
	v.fields(
		field{name: "url", required: true, read: func(v value) { w.URL = v.filled() }},
		field{name: "allow", read: func(v value) {
			v.list(func(host value) { w.Allow = append(w.Allow, host.filled()) })
		}},
	)
	return w
}
