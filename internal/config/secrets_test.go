package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/secrets"
)

func parseSecrets(text string) (*config.Config, error) {
	env := map[string]string{"KEYS": "/etc/keys", "DB": "postgres://ann:hunter2hunter2@h/d", "WORD": "hunter2", "EMPTY": ""}
	return config.Parse("/srv/heddle.yaml", []byte(text), func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
}

func TestSecrets(t *testing.T) {
	for text, want := range map[string][]secrets.Location{
		"task_queue: q": {{Kind: secrets.KindEnv}},
		`
secrets:
  - env: APP_
  - {file: s.age, key_file: "${KEYS}/age.txt"}
  - {file: /var/plain, plain: true}
  - {sqlite: .heddle/s.db, key_env: KEY}
  - {postgres: "${DB}", key_env: KEY}
  - {postgres: "postgres://ann:${WORD}@h/e", key_env: KEY}
`: {
			{Kind: secrets.KindEnv, Place: "APP_"},
			{Kind: secrets.KindFile, Place: "/srv/s.age", KeyFile: "/etc/keys/age.txt"},
			{Kind: secrets.KindFile, Place: "/var/plain", Plain: true},
			{Kind: secrets.KindSQLite, Place: filepath.Join("/srv", ".heddle/s.db"), KeyEnv: "KEY"},
			{Kind: secrets.KindPostgres, Place: "postgres://ann:hunter2hunter2@h/d", KeyEnv: "KEY"},
			{Kind: secrets.KindPostgres, Place: "postgres://ann:hunter2@h/e", KeyEnv: "KEY"},
		},
	} {
		c, err := parseSecrets(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, c.Secrets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestSecretsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                                    ":1:1: secrets: want a list",
		"[]":                                    ":1:1: secrets: names no store",
		"[env]":                                 "secrets[0]: want a mapping",
		"[{}]":                                  "secrets[0]: want one of env, file, sqlite and postgres",
		"[{env: A_, file: b}]":                  "secrets[0]: want one of env, file, sqlite and postgres",
		"[{env: A_}, {env: A_}]":                "secrets[1]: is the store of secrets[0] again",
		"[{env: a-b}]":                          "secrets[0].env: want what the names of variables begin with",
		"[{env: A_, key: x}]":                   "secrets[0].key: unknown field",
		"[{file: s}]":                           "secrets[0]: want one of key_env and key_file, or plain: true",
		"[{file: s, plain: true, key_env: K}]":  "secrets[0]: a plain file has no key",
		"[{sqlite: s}]":                         "secrets[0]: want one of key_env and key_file",
		"[{sqlite: s, key_env: 'k1:hunter2='}]": "secrets[0].key_env: want the name of an environment variable such as HEDDLE_SECRETS_KEY",
		"[{sqlite: '${EMPTY}', key_env: K}]":    "secrets[0].sqlite: is empty",
		"[{postgres: '${EMPTY}', key_env: K}]":  "secrets[0].postgres: is empty",
		"[{postgres: 'postgres://ann:hunter2@h/d', key_env: K}]": "secrets[0].postgres: holds a password; write ${NAME} in its place",
		"[{postgres: 'mysql://h/d', key_env: K}]":                "secrets[0].postgres: want a URL such as postgres://",
		"[{postgres: 'host=h password=hunter2', key_env: K}]":    "secrets[0].postgres: want a URL such as postgres://",
	} {
		_, err := parseSecrets("secrets: " + text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
