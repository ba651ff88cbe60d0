package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/secrets"
)

func (c *cli) secretsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secrets",
		Short: "Store, list and delete secrets, and change the key that enciphers them",
		Long: `Store, list and delete the secrets in the stores of a heddle.yaml, and encipher them anew
with another key. No value is ever printed, and none is taken as an argument. Neither a
worker nor a Temporal server is needed; workers find a change with the next use.

A secret is named as in a heddle.yaml. A plain name is the application's, with --tenant
the tenant's, with --user too the user's; connection:crm:token is that of a connection
of the tenant.`,
		Example: `  starter secrets set github.token --tenant acme
  starter secrets list --tenant acme
  starter secrets rotate`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.secretsSetCommand(), c.secretsListCommand(), c.secretsDeleteCommand(), c.secretsRotateCommand())
	return cmd
}

// secretArgs are the flags that say whose secret it is, and where.
type secretArgs struct{ config, tenant, user string }

func (a *secretArgs) register(cmd *cobra.Command, whose string) {
	cmd.Flags().StringVar(&a.config, "config", "heddle.yaml", "configuration file")
	if whose != "" {
		cmd.Flags().StringVar(&a.tenant, "tenant", "", "tenant "+whose)
		cmd.Flags().StringVar(&a.user, "user", "", "user "+whose)
	}
}

// key is the secret of a name.
func (a *secretArgs) key(name string) (secrets.Key, error) {
	ref, err := catalog.ParseSecretRef(name)
	if err != nil {
		return secrets.Key{}, usageError{err}
	}
	key := secrets.Key{Scope: secrets.Scope(ref.Scope), Tenant: a.tenant, Owner: a.user, Name: ref.Name}
	switch {
	case ref.Scope == "" && a.user != "":
		key.Scope = secrets.User
	case ref.Scope == "" && a.tenant != "":
		key.Scope = secrets.Tenant
	case ref.Scope == "":
		key.Scope = secrets.App
	case key.Scope == secrets.Connection && a.user != "":
		return key, misused("--user: the secret %s belongs to a connection of the tenant, not to a user", name)
	case key.Scope == secrets.Connection:
		key.Owner = ref.Connection
	}
	switch {
	case key.Scope != secrets.App && key.Tenant == "":
		return key, misused("--tenant: is empty; whose secret is %s?", name)
	case key.Scope == secrets.User && key.Owner == "":
		return key, misused("--user: is empty; whose secret is %s?", name)
	}
	if err := key.Check(); err != nil {
		return key, usageError{err}
	}
	return key, nil
}

// stores opens the stores of the configuration file.
func (a *secretArgs) stores() ([]secrets.Store, func(), error) {
	file, err := config.Load(a.config)
	if err != nil {
		return nil, nil, err
	}
	var stores []secrets.Store
	closeAll := func() {
		for _, store := range stores {
			_ = store.Close()
		}
	}
	for i, location := range file.Secrets {
		store, err := secrets.Open(location, &secrets.Redactor{})
		if err != nil {
			closeAll()
			return nil, nil, file.Problem(config.SecretField(i), err.Error())
		}
		stores = append(stores, store)
	}
	return stores, closeAll, nil
}

// withVault does something with the stores of the configuration file.
func (a *secretArgs) withVault(do func(*secrets.Vault) error) error {
	stores, closeAll, err := a.stores()
	if err != nil {
		return err
	}
	defer closeAll()
	return do(secrets.NewVault(&secrets.Redactor{}, nil, stores...))
}

// nameArg accepts one argument, and repeats no other: it may be the value.
func nameArg(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return misused("unexpected argument behind the name; a value is typed, or comes from standard input (see %s --help)", cmd.CommandPath())
	}
	return arguments(1, 1)(cmd, args)
}

func (c *cli) secretsSetCommand() *cobra.Command {
	var in secretArgs
	cmd := &cobra.Command{
		Use:   "set <name>",
		Short: "Store a secret, or change it",
		Long: `Store a secret, or change it where it lies already. The value is asked for and not shown
while it is typed; where standard input is no terminal, it is read from there. A line
end behind a single line is no part of it; several lines are kept as they are.

It goes into the first store of the configuration file that can be changed.`,
		Example: `  starter secrets set github.token
  starter secrets set github.token --tenant acme --user ann
  starter secrets set connection:crm:token --tenant acme < token.txt`,
		Args: nameArg,
		RunE: func(cmd *cobra.Command, args []string) error { return c.secretsSet(cmd.Context(), in, args[0]) },
	}
	in.register(cmd, "whose secret it is")
	return cmd
}

func (c *cli) secretsSet(ctx context.Context, in secretArgs, name string) error {
	key, err := in.key(name)
	if err != nil {
		return err
	}
	return in.withVault(func(vault *secrets.Vault) error {
		value, err := c.secretValue(ctx, key)
		defer clear(value)
		if err != nil {
			return err
		}
		if err := vault.Put(ctx, key, secrets.Item{Value: value}); err != nil {
			return err
		}
		if len(value) < secrets.MinLength {
			fmt.Fprintf(c.stderr, "The value is under %d bytes long: too short to be told from other text, and kept out of nothing that a tool returns.\n", secrets.MinLength)
		}
		entry, err := entryOf(ctx, vault, key)
		if err != nil {
			return err
		}
		return c.print(entry, func(w io.Writer) { fmt.Fprintf(w, "stored %s (%s)\n", clean(key.String()), clean(entry.Store)) })
	})
}

// entryOf finds a secret that is there.
func entryOf(ctx context.Context, vault *secrets.Vault, key secrets.Key) (secrets.Entry, error) {
	entries, err := vault.List(ctx)
	if err != nil {
		return secrets.Entry{}, err
	}
	i := slices.IndexFunc(entries, func(e secrets.Entry) bool { return e.Key == key })
	if i < 0 {
		return secrets.Entry{}, fmt.Errorf("secret %s: it was deleted meanwhile", key)
	}
	return entries[i], nil
}

func (c *cli) secretsListCommand() *cobra.Command {
	var in secretArgs
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the secrets that there are, without their values",
		Long: `List the secrets that there are, without their values: whose they are, where they lie, the
id of the key that enciphers them, and when they end. Of a secret that is in several
stores the first is the one in use.

With --json it prints one JSON array.`,
		Example: `  starter secrets list
  starter secrets list --tenant acme --json | jq -r '.[].name'`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return in.withVault(func(vault *secrets.Vault) error {
				all, err := vault.List(cmd.Context())
				if err != nil {
					return err
				}
				entries := slices.DeleteFunc(all, func(e secrets.Entry) bool {
					return in.tenant != "" && e.Tenant != in.tenant || in.user != "" && (e.Scope != secrets.User || e.Owner != in.user)
				})
				if entries == nil {
					entries = []secrets.Entry{}
				}
				return c.print(entries, func(w io.Writer) { printSecrets(w, entries) })
			})
		},
	}
	in.register(cmd, "whose secrets are listed (default: all)")
	return cmd
}

func printSecrets(w io.Writer, entries []secrets.Entry) {
	if len(entries) == 0 {
		fmt.Fprintln(w, "There is no secret.")
		return
	}
	day := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.UTC().Format(time.RFC3339)
	}
	or := func(text string) string {
		if text == "" {
			return "-"
		}
		return clean(text)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SCOPE\tTENANT\tOWNER\tNAME\tSTORE\tKEY\tUPDATED\tEXPIRES")
	for _, e := range entries {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Scope, or(e.Tenant), or(e.Owner), clean(e.Name),
			clean(e.Store), or(e.KeyID), day(e.Updated), day(e.Expires))
	}
	_ = table.Flush() // as for the other lines, whoever reads is gone
}

func (c *cli) secretsDeleteCommand() *cobra.Command {
	var in secretArgs
	cmd := &cobra.Command{
		Use:   "delete <name>",
		Short: "Delete a secret",
		Long: `Delete a secret from the first store that has it. Calls that need it fail from then on,
unless another store, or a wider scope, has one of the name.`,
		Example: `  starter secrets delete github.token --tenant acme
  starter secrets delete connection:crm:token --tenant acme --json`,
		Args: nameArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := in.key(args[0])
			if err != nil {
				return err
			}
			return in.withVault(func(vault *secrets.Vault) error {
				if err := vault.Delete(cmd.Context(), key); err != nil {
					return err
				}
				return c.print(map[string]secrets.Key{"deleted": key}, func(w io.Writer) { fmt.Fprintf(w, "deleted %s\n", clean(key.String())) })
			})
		},
	}
	in.register(cmd, "whose secret it is")
	return cmd
}

// rotated is what became of a store.
type rotated struct {
	Store string `json:"store"`
	// Secrets are how many the store has, and Rotated how many were enciphered anew.
	Secrets int    `json:"secrets"`
	Rotated int    `json:"rotated"`
	Error   string `json:"error,omitempty"`
}

func (c *cli) secretsRotateCommand() *cobra.Command {
	var in secretArgs
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Encipher all secrets anew with the newest key",
		Long: `Encipher the secrets of all stores anew with the newest key: the first of key_env or
key_file. The key that they are enciphered with now has to stand behind it.

It may run while workers use and change secrets. When it is interrupted nothing is lost:
run it again, and it does what is left. Take the old key away when list names it no more.

With --json it prints one JSON array.`,
		Example: `  starter secrets rotate
  starter secrets rotate --config /etc/heddle/heddle.yaml --json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.secretsRotate(cmd.Context(), in) },
	}
	in.register(cmd, "")
	return cmd
}

func (c *cli) secretsRotate(ctx context.Context, in secretArgs) error {
	stores, closeAll, err := in.stores()
	if err != nil {
		return err
	}
	defer closeAll()
	var failed []error
	all := []rotated{}
	for _, store := range stores {
		one := rotated{Store: store.Name()}
		if one.Rotated, err = store.Rotate(ctx); err == nil {
			var entries []secrets.Entry
			entries, err = store.List(ctx)
			one.Secrets = len(entries)
		}
		if err != nil {
			one.Error = err.Error()
			failed = append(failed, fmt.Errorf("store %s: %w", store.Name(), err))
		}
		all = append(all, one)
	}
	if err := c.print(all, func(w io.Writer) {
		for _, one := range all {
			if one.Error == "" {
				fmt.Fprintf(w, "%s: %d of %d secrets enciphered anew\n", clean(one.Store), one.Rotated, one.Secrets)
			}
		}
	}); err != nil {
		return err
	}
	return errors.Join(failed...)
}
