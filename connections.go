package heddle

import (
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/internal/connections"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/secrets"
)

// openConnections has the tokens of connections renewed. They lie among the secrets.
func (p *parts) openConnections(c *config.Config, vault *secrets.Vault) {
	network, err := oauth.Network(c.Connections.Allow)
	if err != nil {
		p.problem(c.Problem("connections.allow", err.Error()))
		return
	}
	p.closers = append(p.closers, network.Close)
	book := connections.New(connections.Options{
		Store: vault, Network: network, Redactor: vault.Redactor(), Name: c.Connections.Name, Document: c.Connections.Document,
	})
	vault.AddRenewal(book.Renew)
}
