package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
)

// Options say which server a source is of, and what its tools may do. Namespace and
// one of URL and Command are required.
type Options struct {
	// Namespace begins the id of each tool, such as github.
	Namespace string
	// URL is where the server is reached over streamable HTTP.
	URL string
	// SSE says that the server at URL speaks HTTP with server-sent events, as of
	// 2024-11-05. It is never found out by trying.
	SSE bool
	// Command is a server that runs on this machine.
	Command *Command
	// Headers are sent with each request. They may be secret, and are in no log and
	// no error.
	Headers map[string]string
	// SecretHeaders are headers whose values secrets are part of, from Secrets.
	SecretHeaders map[string]SecretHeader
	Secrets       catalog.Secrets
	// Connection names the connection whose token authenticates, of whoever calls; see
	// [NewConnected].
	Connection string
	// Credentials gives what differs between tenants and changes with time. Nil: the
	// Headers are all.
	Credentials Credentials
	// Trusted believes the server when it says that a tool only reads.
	Trusted bool
	// Permissions say what may be done with which tools. One that matches none of the
	// server's tools makes the source unavailable: it is a slip of the pen, or a tool
	// was renamed that would now go unnoticed.
	Permissions []Permission
	// HonoursKeys names writes, as patterns of the server's names like those of
	// Permissions, that honour the idempotency key in _meta: two calls with one key
	// have one effect. Only then is a write whose outcome is unknown sent again, under
	// the same key.
	HonoursKeys []string
	// Timeout bounds one call. 0: [catalog.DefaultTimeout].
	Timeout time.Duration
	// Allow names hosts that may be reached by plain HTTP and at private addresses,
	// each as host or host:port. None others may.
	Allow []string
	// MaxMessage bounds one message of the server, in bytes. 0: [DefaultMaxMessage].
	MaxMessage int64
	// MaxTools bounds how many tools are taken of the server. 0: [DefaultMaxTools].
	MaxTools int
	// MaxConnections bounds the connections that are open at one time.
	// 0: [DefaultMaxConnections].
	MaxConnections int
	// Idle is how long a connection is kept that nobody uses. 0: [DefaultIdle].
	Idle time.Duration
	// Files keeps images, sounds and files of results. Nil: they stay in the result.
	Files Store
	// Answer answers what the server asks the user in the middle of a call. Nil: the
	// server is told that it cannot ask.
	Answer Answer
}

// check says what of the options cannot be, and reads the address.
func (o *Options) check() (*url.URL, error) {
	if err := CheckNamespace(o.Namespace); err != nil {
		return nil, err
	}
	if (o.URL == "") == (o.Command == nil) {
		return nil, errors.New("want either a URL or a command")
	}
	for name, value := range o.Headers {
		if err := checkHeader(name, value); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(o.checkSecretHeaders(), o.checkConnection()); err != nil {
		return nil, err
	}
	for _, p := range o.Permissions {
		if err := CheckPermission(p); err != nil {
			return nil, err
		}
	}
	if o.Timeout < 0 || o.Timeout > catalog.MaxTimeout {
		return nil, fmt.Errorf("the timeout is %s, want 0 to %s", o.Timeout, catalog.MaxTimeout)
	}
	if min(o.MaxMessage, int64(o.MaxTools), int64(o.MaxConnections), int64(o.Idle)) < 0 {
		return nil, errors.New("a limit is negative; 0 means the default")
	}
	if o.MaxMessage > catalog.MaxOutput {
		return nil, fmt.Errorf("the bound of a message is %d bytes, want %d at most", o.MaxMessage, catalog.MaxOutput)
	}
	o.fill()
	if o.Command != nil {
		return nil, o.checkCommand()
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Fragment != "" {
		return nil, errors.New("url: want one such as https://mcp.example.com/mcp")
	}
	return u, nil
}

func (o *Options) checkCommand() error {
	switch {
	case o.Command.Path == "":
		return errors.New("command: names no program")
	case o.SSE || len(o.Headers)+len(o.SecretHeaders) > 0 || o.Credentials != nil || o.Connection != "" || len(o.Allow) > 0:
		return errors.New("a command is spoken to without HTTP: it has no headers, no credentials and no allowed hosts")
	}
	for _, entry := range o.Command.Env {
		if name, _, ok := strings.Cut(entry, "="); !ok || name == "" {
			return errors.New("command: an entry of its environment is not NAME=value")
		}
	}
	return nil
}

func (o *Options) fill() {
	if o.MaxMessage == 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	if o.MaxTools == 0 {
		o.MaxTools = DefaultMaxTools
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = DefaultMaxConnections
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
}

// network are the rules for the requests to a server.
func (o *Options) network() (*netguard.Client, error) {
	return netguard.New(netguard.Options{Allow: o.Allow, MaxBody: o.MaxMessage * streamFactor, Timeout: maxRequest})
}
