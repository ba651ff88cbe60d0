package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/internal/connections"
	"github.com/heddle-dev/heddle/internal/netguard"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/secrets"
)

func (c *cli) connectionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "connections",
		Short: "Let agents into services, and out again",
		Long: `Let agents into services: by consent (OAuth), or with a key or a token. What comes of
it lies in the store of secrets that the configuration file of the workers names,
enciphered, and is there for the next turn of every agent that is allowed the service.
Neither a worker nor a Temporal server is needed.

A connection belongs to a tenant, or to one user of it. Tools refer to its token as
connection:NAME:token; a user's own connection comes before the tenant's.`,
		Example: `  starter connections add https://mcp.example.com/mcp --tenant acme
  starter connections list --tenant acme
  starter connections remove mcp.example.com --tenant acme`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.connectionsAddCommand(), c.connectionsListCommand(), c.connectionsShowCommand(), c.connectionsRemoveCommand())
	return cmd
}

// ledger is a configuration's connections, opened for one command.
type ledger struct {
	*connections.Book
	vault   *secrets.Vault
	network *netguard.Client
	file    *config.Config
}

func (l *ledger) close() {
	l.network.Close()
	_ = l.vault.Close()
}

// place says where connections lie, and whose they are.
type place struct {
	config, tenant, user string
	allow                []string
}

func (p *place) flags(cmd *cobra.Command, user bool) {
	cmd.Flags().StringVar(&p.config, "config", "heddle.yaml", "configuration file of the workers")
	cmd.Flags().StringVar(&p.tenant, "tenant", "", "tenant whose connection it is (required)")
	if user {
		cmd.Flags().StringVar(&p.user, "user", "", "user whose own it is (default: it is for all of the tenant)")
	}
	cmd.Flags().StringSliceVar(&p.allow, "allow", nil, "host that may be reached by plain http and at a private address, as host or host:port")
}

func (p *place) id(name string) (connections.ID, error) {
	id := connections.ID{Tenant: p.tenant, User: p.user, Name: name}
	if p.tenant == "" {
		return id, misused("--tenant: say whose connection it is")
	}
	if err := id.Check(); err != nil {
		return id, usageError{err}
	}
	return id, nil
}

// open opens the store that the configuration names.
func (p *place) open() (*ledger, error) {
	file, err := config.Load(p.config)
	if err != nil {
		return nil, err
	}
	network, err := oauth.Network(append(p.allow, file.Connections.Allow...))
	if err != nil {
		return nil, misused("--allow: %w", err)
	}
	redactor := &secrets.Redactor{}
	var stores []secrets.Store
	for _, location := range file.Secrets {
		store, err := secrets.Open(location, redactor)
		if err != nil {
			for _, opened := range stores {
				_ = opened.Close()
			}
			return nil, fmt.Errorf("%s: %w", p.config, err)
		}
		stores = append(stores, store)
	}
	vault := secrets.NewVault(redactor, nil, stores...)
	book := connections.New(connections.Options{
		Store: vault, Network: network, Redactor: redactor, Name: file.Connections.Name, Document: file.Connections.Document,
	})
	vault.AddRenewal(book.Renew)
	return &ledger{book, vault, network, file}, nil
}

func (c *cli) connectionsListCommand() *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List a tenant's connections",
		Long:  `List the connections of a tenant and of its users, with their state. No secret is shown.`,
		Example: `  starter connections list --tenant acme
  starter connections list --tenant acme --json | jq -r '.[] | select(.status != "active") | .name'`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.tenant == "" {
				return misused("--tenant: say whose connections")
			}
			l, err := p.open()
			if err != nil {
				return err
			}
			defer l.close()
			all, err := l.List(cmd.Context(), p.tenant)
			if err != nil {
				return err
			}
			return c.print(all, func(w io.Writer) { printConnections(w, all) })
		},
	}
	p.flags(cmd, false)
	return cmd
}

func printConnections(w io.Writer, all []connections.Connection) {
	if len(all) == 0 {
		fmt.Fprintln(w, "There are no connections.")
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tUSER\tKIND\tSTATUS\tSERVICE")
	for _, one := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", clean(one.Name), cmp.Or(clean(one.User), "-"), one.Kind, one.Status, clean(one.URL))
	}
	_ = table.Flush() // as for the other lines, whoever reads is gone
}

func (c *cli) connectionsShowCommand() *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:   "show <name>",
		Short: "Show a connection",
		Long: `Show what may be known of a connection: whom it is from, how far it reaches, and
whether it holds. No secret is shown.`,
		Example: `  starter connections show crm --tenant acme`,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withConnection(p, args[0], func(l *ledger, id connections.ID) error {
				one, err := l.Get(cmd.Context(), id)
				if err != nil {
					return err
				}
				return c.print(one, func(w io.Writer) { printConnection(w, one) })
			})
		},
	}
	p.flags(cmd, true)
	return cmd
}

func (c *cli) withConnection(p place, name string, do func(*ledger, connections.ID) error) error {
	id, err := p.id(name)
	if err != nil {
		return err
	}
	l, err := p.open()
	if err != nil {
		return err
	}
	defer l.close()
	return do(l, id)
}

func printConnection(w io.Writer, one connections.Connection) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintf(table, "%s\t%s\n", what, clean(value))
		}
	}
	line("connection", one.ID.String())
	line("refer to it as", "connection:"+one.Name+":token")
	line("service", one.URL)
	line("status", one.Status)
	line("granted by", one.Issuer)
	line("client", one.ClientID)
	line("scopes", strings.Join(one.Scopes, " "))
	if !one.Expires.IsZero() {
		note := "; a person must consent anew then"
		if one.Renewable {
			note = "; it is renewed by itself"
		}
		line("token expires", one.Expires.Format(time.RFC3339)+note)
	}
	_ = table.Flush()
}

func (c *cli) connectionsRemoveCommand() *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:   "remove <name>",
		Short: "Forget a connection, and revoke it",
		Long: `Forget a connection, and revoke what was granted where the authorization server
offers that.`,
		Example: `  starter connections remove crm --tenant acme
  starter connections remove crm --tenant acme --user ann`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withConnection(p, args[0], func(l *ledger, id connections.ID) error { return c.removeConnection(cmd.Context(), l, id) })
		},
	}
	p.flags(cmd, true)
	return cmd
}

func (c *cli) removeConnection(ctx context.Context, l *ledger, id connections.ID) error {
	revoked, note, err := l.Remove(ctx, id)
	if err != nil {
		return err
	}
	removed := struct {
		connections.ID
		Removed bool   `json:"removed"`
		Revoked bool   `json:"revoked"`
		Note    string `json:"note,omitempty"`
	}{id, true, revoked, note}
	return c.print(removed, func(w io.Writer) {
		fmt.Fprintf(w, "The connection %s is removed.\n", clean(id.String()))
		if note != "" {
			fmt.Fprintln(w, clean(note))
		}
	})
}
