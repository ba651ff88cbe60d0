package config

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog/policy"
)

func TestParseRules(t *testing.T) {
	rules, err := ParseRules("r.yaml", []byte(`
- name: verified
  effect: block
  tools: [orders.*]
  modes: [a-mode-of-the-workers]
  when: input.cents > 5
- {effect: ask, operation: write, approvers: 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) != 2 || rules[0].Name != "verified" || rules[0].Effect != policy.Block || rules[1].Approvers != 2 {
		t.Errorf("rules = %+v", rules)
	}
}

func TestRulesAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"nothing":           {"", "r.yaml: want one YAML document that is a list of rules"},
		"a mapping":         {"policy: []\n", "r.yaml:1:7: policy: want a list, found a mapping"},
		"no YAML":           {"- [", "r.yaml:1:"},
		"two documents":     {"- {effect: ask}\n---\n- {effect: ask}\n", "want one YAML document"},
		"unknown field":     {"- {effect: ask, tool: x}\n", "r.yaml:1:17: policy[0].tool: unknown field; did you mean tools?"},
		"no effect":         {"- {tools: [a.b]}\n", "the field effect is missing"},
		"unknown effect":    {"- effect: deny\n", "r.yaml:1:3: policy[0].effect: want allow, ask or block"},
		"a condition":       {"- effect: block\n  when: |\n    true &&\n    inptu.x\n", "r.yaml:4:5: policy[0].when: undeclared"},
		"waives approvals":  {"- {effect: allow, without_approval: true}\n", "r.yaml:1:19: policy[0].without_approval: only a rule of the application"},
		"can never match":   {"- {effect: block}\n- {effect: ask}\n", `r.yaml:2:4: policy[1]: can never match: rule "1" before it`},
		"all that is wrong": {"- {effect: deny}\n- {effect: ask, operation: both}\n", "r.yaml:2:17: policy[1].operation"},
	} {
		rules, err := ParseRules("r.yaml", []byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: rules %+v, error %v, want %q", name, rules, err, test.want)
		}
	}
	if _, err := LoadRules("no-such-file.yaml"); err == nil || !strings.Contains(err.Error(), "no-such-file.yaml") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add([]byte("- {name: a, effect: block, tools: [orders.*], when: input.x > 1}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if rules, err := ParseRules("r.yaml", text); err == nil && rules == nil && len(text) > 0 && strings.Contains(string(text), "effect") {
			t.Logf("no rule in %q", text)
		}
	})
}

func TestEncryptionKeys(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                           "h.yaml:1:12: temporal.encryption: want either key_env or key_file",
		"{key_env: A, key_file: b}":    "want either key_env or key_file",
		"{key_env: 'k1:c2VjcmV0'}":     "want the name of an environment variable",
		"{keys: [x]}":                  "temporal.encryption.keys: unknown field",
		"{key_file: keys/payload.txt}": "",
		"{key_env: PAYLOAD_KEYS}":      "",
	} {
		c, err := Parse("h.yaml", []byte("temporal: {encryption: "+text+"}\n"), func(string) (string, bool) { return "", false })
		switch {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "c2VjcmV0") {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		case err != nil || c.Temporal.Encryption == (KeySource{}):
			t.Errorf("%s: %v", text, err)
		}
	}
}
