package heddle

import (
	"errors"

	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/secrets"
)

// SecretStores adds stores of secrets. They are asked in order, before those of the
// configuration file, which are the environment where it names none. The application
// closes them.
func SecretStores(stores ...secrets.Store) Option {
	return optionFunc(func(p *parts) {
		for _, store := range stores {
			if store == nil {
				p.problem(errors.New("a store of secrets is nil"))
				continue
			}
			p.stores = append(p.stores, store)
		}
	})
}

// RenewSecrets adds what makes new values of expired or refused secrets, such as
// access tokens. It is asked one secret at a time, and what it makes is stored where
// the old value lay; see [secrets.Renew].
func RenewSecrets(renew secrets.Renew) Option {
	return optionFunc(func(p *parts) { p.renewals = append(p.renewals, renew) })
}

// openSecrets opens the stores. They are closed when the worker has stopped.
func (p *parts) openSecrets(c *config.Config, redactor *secrets.Redactor) *secrets.Vault {
	stores := p.stores
	for i, location := range c.Secrets {
		store, err := secrets.Open(location, redactor)
		if err != nil {
			p.problem(c.Problem(config.SecretField(i), err.Error()))
			continue
		}
		stores = append(stores, store)
	}
	vault := secrets.NewVault(redactor, nil, stores...)
	for _, renew := range p.renewals {
		vault.AddRenewal(renew)
	}
	p.closers = append(p.closers, func() { _ = vault.Close() })
	return vault
}
