package heddle_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle"
)

// A limit that can never bite is a mistake of whoever set it.
func TestCostLimitNeedsAPrice(t *testing.T) {
	const config = `
models:
  m:
    provider: openai
    model: some
    base_url: http://127.0.0.1:1/v1
PRICE
agents:
  a:
    instructions: Help.
    model: m
    limits: {cost_usd: 0.5}
`
	for name, test := range map[string]struct {
		price string
		wrong bool
	}{
		"without a price": {"", true},
		"with a price":    {"    price: {input_per_million_usd: 2, output_per_million_usd: 8}", false},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "heddle.yaml")
			if err := os.WriteFile(file, []byte(strings.Replace(config, "PRICE", test.price, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := heddle.New(heddle.ConfigFile(file))
			if test.wrong && (err == nil || !strings.Contains(err.Error(), "cost_usd") || !strings.Contains(err.Error(), "heddle.yaml:")) ||
				!test.wrong && err != nil {
				t.Errorf("New: %v", err)
			}
		})
	}
}

// A total of a tenant's cost that is not counted for every agent is one too.
func TestTotalOfTheCostNeedsPrices(t *testing.T) {
	const config = `
models:
  m: {provider: openai, model: some, base_url: "http://127.0.0.1:1/v1"PRICE}
agents:
  a: {instructions: Help., model: m}
limits:
  tenants:
    acme: {total: {day: {calls: 3}, month: {cost_usd: 20}}}
`
	for price, wrong := range map[string]bool{"": true, ", price: {input_per_million_usd: 2, output_per_million_usd: 8}": false} {
		file := filepath.Join(t.TempDir(), "heddle.yaml")
		if err := os.WriteFile(file, []byte(strings.Replace(config, "PRICE", price, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := heddle.New(heddle.ConfigFile(file))
		const want = "limits.tenants.acme.total.month.cost_usd: cannot be kept: the model of agent a has no price"
		if wrong != (err != nil) || wrong && !strings.Contains(err.Error(), want) {
			t.Errorf("with a price %q: %v, want %q", price, err, want)
		}
	}
}
