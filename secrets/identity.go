package secrets

import (
	"bytes"
	"errors"

	"filippo.io/age"
)

// Identities are the keys of a file that is enciphered with age: the first is the
// newest and enciphers, all can decipher.
type Identities struct{ all []identity }

type identity struct {
	age.Identity
	recipient age.Recipient
	name      string
}

// ParseIdentities reads age identities, one AGE-SECRET-KEY-... a line, as age-keygen
// writes them. An error quotes none.
func ParseIdentities(text []byte) (*Identities, error) {
	parsed, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil { // the parser's error may quote the line
		return nil, errors.New("want age identities, one AGE-SECRET-KEY-... a line; make one with: age-keygen")
	}
	all := make([]identity, len(parsed))
	for i, one := range parsed {
		switch one := one.(type) {
		case *age.X25519Identity:
			all[i] = identity{one, one.Recipient(), one.Recipient().String()}
		case *age.HybridIdentity:
			all[i] = identity{one, one.Recipient(), one.Recipient().String()}
		default:
			return nil, errors.New("there is an identity of a kind that cannot encipher")
		}
	}
	return &Identities{all}, nil
}
