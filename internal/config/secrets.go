package config

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/heddle-dev/heddle/secrets"
)

// readSecrets reads where secrets lie: stores that are asked in order.
func readSecrets(v value, dir string) []secrets.Location {
	var all []secrets.Location
	v.list(func(entry value) {
		l := readStore(entry, dir)
		for i, other := range all {
			if l.Kind != "" && l.Kind == other.Kind && l.Place == other.Place {
				entry.problem("is the store of secrets[%d] again", i)
			}
		}
		all = append(all, l)
	})
	if sequence, ok := v.node.(*ast.SequenceNode); ok && len(sequence.Values) == 0 {
		v.problem("names no store; leave it out for the environment alone")
	}
	return all
}

// SecretField is the path of a store of [Config.Secrets], for [Config.Problem].
func SecretField(i int) string { return fmt.Sprintf("secrets[%d]", i) }

func readStore(v value, dir string) secrets.Location {
	var l secrets.Location
	before, kinds := len(v.problems), 0
	place := func(kind secrets.Kind, read func(value) string) field {
		return field{name: string(kind), read: func(v value) {
			kinds++
			l.Kind, l.Place = kind, read(v)
		}}
	}
	path := func(v value) string { return absolute(v, dir, v.filled()) }
	v.fields(
		place(secrets.KindEnv, value.envPrefix),
		place(secrets.KindFile, path),
		place(secrets.KindSQLite, path),
		place(secrets.KindPostgres, value.databaseURL),
		field{name: "key_env", read: func(v value) { l.KeyEnv = v.keyEnv() }},
		field{name: "key_file", read: func(v value) { l.KeyFile = path(v) }},
		field{name: "plain", read: func(v value) { l.Plain = v.boolean() }},
	)
	switch {
	case !v.isMapping() || len(v.problems) > before: // what follows would be of no use
	case kinds != 1:
		v.problem("want one of env, file, sqlite and postgres")
	default:
		if err := l.Check(); err != nil {
			v.problem("%s", err)
		}
	}
	return l
}

// envPrefix reads what the names of variables begin with.
func (v value) envPrefix() string {
	prefix := v.text()
	if prefix != "" && !isEnvName(prefix) {
		v.problem("want what the names of variables begin with, such as %s", secrets.DefaultEnvPrefix)
	}
	return prefix
}

// keyEnv reads the name of the environment variable of a key. What is none is not
// repeated: it may be the key itself.
func (v value) keyEnv() string {
	name := v.text()
	if name != "" && !isEnvName(name) {
		v.problem("want the name of an environment variable such as HEDDLE_SECRETS_KEY, not the key itself")
		return ""
	}
	return name
}

// databaseURL reads the URL of a PostgreSQL database. A password in it comes from the
// environment; nothing of it is repeated.
func (v value) databaseURL() string {
	const want = "want a URL such as postgres://user@host:5432/database?sslmode=verify-full"
	written := v.text()
	if _, after, ok := strings.Cut(written, "://"); ok {
		login, _, has := strings.Cut(after, "@")
		if _, password, two := strings.Cut(login, ":"); has && two && !strings.HasPrefix(password, "${") && !strings.Contains(login, "/") {
			v.problem("holds a password; write ${NAME} in its place, or for the whole URL")
			return ""
		}
	}
	text := v.expanded()
	if text == "" {
		if written != "" && len(v.problems) == 0 {
			v.problem("is empty")
		}
		return ""
	}
	if u, err := url.Parse(text); err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		v.problem(want)
		return ""
	}
	return text
}
