package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/connections"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// addition is what a person wants to connect.
type addition struct {
	place
	name   string
	scopes []string
	// issuer, or the endpoints, of an authorization server that the service does not name.
	issuer, authorizationURL, tokenURL, revocationURL string
	clientID                                          string
	secretStdin, tokenStdin                           bool
	port                                              int
	noBrowser                                         bool
}

func (c *cli) connectionsAddCommand() *cobra.Command {
	var a addition
	cmd := &cobra.Command{
		Use:   "add <url>",
		Short: "Connect a service",
		Long: `Connect a service: find out who may grant access to it, have a person consent in a
browser, store what was granted, and list the service's tools if it speaks the Model
Context Protocol.

The address where to consent is printed on standard error, and opened if this is a
terminal. The answer comes to this machine, on loopback; over SSH, forward the port that
you choose with --port.

A service that says nothing of itself needs --issuer, or --authorization-url and
--token-url. A server that registers no clients by itself needs --client-id of one that
was registered there with the redirect URL http://127.0.0.1:PORT/connections/callback,
and --port; its secret is read from standard input with --client-secret-stdin.

With --token-stdin an API key or a token is read from standard input, and nobody is asked.
To connect again what is there replaces it.`,
		Example: `  starter connections add https://mcp.example.com/mcp --tenant acme --name crm
  starter connections add https://mcp.example.com/mcp --tenant acme --user ann --scope read --scope write
  starter connections add https://api.github.com --tenant acme --name github --port 8791 \
    --authorization-url https://github.com/login/oauth/authorize \
    --token-url https://github.com/login/oauth/access_token --client-id Iv1.0123456789
  pass show billing | starter connections add https://billing.example.com --tenant acme --name billing --token-stdin`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.addConnection(cmd.Context(), args[0], a) },
	}
	a.flags(cmd, true)
	flags := cmd.Flags()
	flags.StringVar(&a.name, "name", "", "name of the connection (default: the host of the URL)")
	flags.StringSliceVar(&a.scopes, "scope", nil, "scope to ask for (default: those that the service wants)")
	flags.StringVar(&a.issuer, "issuer", "", "authorization server (default: the one that the service names)")
	flags.StringVar(&a.authorizationURL, "authorization-url", "", "where to consent, at a server without metadata")
	flags.StringVar(&a.tokenURL, "token-url", "", "where tokens are had, at a server without metadata")
	flags.StringVar(&a.revocationURL, "revocation-url", "", "where tokens are revoked, at a server without metadata")
	flags.StringVar(&a.clientID, "client-id", "", "client that was registered by hand (default: register one)")
	flags.BoolVar(&a.secretStdin, "client-secret-stdin", false, "read the client's secret from standard input")
	flags.BoolVar(&a.tokenStdin, "token-stdin", false, "read an API key or a token from standard input, and ask nobody")
	flags.IntVar(&a.port, "port", 0, "port on loopback for the answer (default: a free one)")
	flags.BoolVar(&a.noBrowser, "no-browser", false, "print the address where to consent, and open nothing")
	return cmd
}

func (a *addition) check() error {
	switch {
	case a.tokenStdin && (a.secretStdin || a.clientID != "" || a.issuer != "" || a.authorizationURL != "" || len(a.scopes) > 0):
		return misused("--token-stdin: with a token nobody is asked, and there is nothing else to say")
	case (a.authorizationURL == "") != (a.tokenURL == ""), a.revocationURL != "" && a.tokenURL == "":
		return misused("--authorization-url and --token-url go together")
	case a.issuer != "" && a.tokenURL != "":
		return misused("--issuer: the endpoints are given besides; give either")
	case a.secretStdin && a.clientID == "":
		return misused("--client-secret-stdin: say of which client: --client-id")
	case a.tokenURL != "" && a.clientID == "":
		return misused("--token-url: a server without metadata registers nobody; give --client-id")
	case a.port < 0 || a.port > 65535:
		return misused("--port: %d is no port", a.port)
	}
	return nil
}

// added is what the command prints.
type added struct {
	connections.Connection
	// Reference is what tools call the token.
	Reference string   `json:"reference"`
	Tools     []string `json:"tools"`
	// Note says why there are no tools.
	Note string `json:"note,omitempty"`
}

func (c *cli) addConnection(ctx context.Context, service string, a addition) error {
	u, err := url.Parse(service)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return misused("%q: want the URL of a service, such as https://mcp.example.com/mcp", clean(service))
	}
	if err := a.check(); err != nil {
		return err
	}
	id, err := a.id(cmp.Or(a.name, u.Hostname()))
	if err != nil {
		return err
	}
	l, err := a.open()
	if err != nil {
		return err
	}
	defer l.close()
	var one connections.Connection
	if a.tokenStdin {
		token, err := c.readSecret()
		if err != nil {
			return err
		}
		defer clear(token)
		one, err = l.Give(ctx, id, service, token)
		if err != nil {
			return err
		}
	} else if one, err = c.askConsent(ctx, l, id, service, a); err != nil {
		return err
	}
	out := added{Connection: one, Reference: "connection:" + one.Name + ":token", Tools: []string{}}
	if tools, err := listTools(ctx, l, id, service, append(a.allow, l.file.Connections.Allow...)); err != nil {
		out.Note = "no tools are listed: " + err.Error()
	} else {
		out.Tools = tools
	}
	return c.print(out, func(w io.Writer) { printAdded(w, out) })
}

func printAdded(w io.Writer, a added) {
	fmt.Fprintf(w, "Connected %s. Refer to it as %s\n", clean(a.ID.String()), clean(a.Reference))
	if a.Note != "" {
		fmt.Fprintln(w, clean(a.Note))
		return
	}
	fmt.Fprintf(w, "Its tools (%d):\n", len(a.Tools))
	for _, tool := range a.Tools {
		fmt.Fprintln(w, "  "+clean(tool))
	}
}

// readSecret reads a secret from standard input.
func (c *cli) readSecret() ([]byte, error) {
	const most = 64 << 10
	text, err := io.ReadAll(io.LimitReader(c.stdin, most+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	text = bytes.TrimRight(text, "\r\n")
	switch {
	case len(text) == 0:
		return nil, misused("there is no secret on standard input")
	case len(text) > most:
		return nil, misused("what is on standard input is longer than %d bytes", most)
	case bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return nil, misused("what is on standard input holds a control character; want one secret, on one line")
	}
	return text, nil
}

// askConsent has a person consent, and waits for the answer.
func (c *cli) askConsent(ctx context.Context, l *ledger, id connections.ID, service string, a addition) (connections.Connection, error) {
	fail := func(err error) (connections.Connection, error) { return connections.Connection{}, err }
	r := connections.Request{ID: id, URL: service, Scopes: a.scopes, Issuer: a.issuer, ClientID: a.clientID}
	if a.secretStdin {
		secret, err := c.readSecret()
		if err != nil {
			return fail(err)
		}
		r.ClientSecret = string(secret)
	}
	if a.tokenURL != "" {
		server, err := oauth.Known(l.network, a.authorizationURL, a.tokenURL, a.revocationURL)
		if err != nil {
			return fail(err)
		}
		r.Server = &server
	}
	back, err := listen(a.port)
	if err != nil {
		return fail(err)
	}
	defer back.close()
	r.Redirect = back.url
	consent, err := l.Begin(ctx, r)
	if errors.Is(err, oauth.ErrNoAuthorization) {
		err = fmt.Errorf("%w; give one with --issuer, or a key with --token-stdin", err)
	}
	if err != nil {
		return fail(err)
	}
	fmt.Fprintf(c.stderr, "Agree here, within %s:\n  %s\n", connections.ConsentTime, consent.URL)
	if !a.noBrowser && c.interactive() {
		openBrowser(ctx, consent.URL)
	}
	ctx, stop := context.WithTimeout(ctx, connections.ConsentTime)
	defer stop()
	return back.wait(ctx, l.Book)
}

// listTools are the names of the tools of a service that speaks the Model Context
// Protocol.
func listTools(ctx context.Context, l *ledger, id connections.ID, service string, allow []string) ([]string, error) {
	source, err := mcp.New(mcp.Options{Namespace: "service", URL: service, Allow: allow, Credentials: func(ctx context.Context, _ mcp.Need) (mcp.Credential, error) {
		var credential mcp.Credential
		err := l.vault.Use(ctx, catalog.Scope{Tenant: id.Tenant, User: id.User}, "connection:"+id.Name+":token", func(token []byte) error {
			credential.Headers = map[string]string{"Authorization": "Bearer " + string(token)}
			return nil
		})
		return credential, err
	}})
	if err != nil {
		return nil, err
	}
	defer source.Close()
	tools, err := source.Tools(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = strings.TrimPrefix(tool.ID, "service.")
	}
	return names, nil
}
