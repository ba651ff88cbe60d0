package heddle

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/lookup"
	"github.com/heddle-dev/heddle/internal/audit"
)

// The audit log has what was asked, and neither what it was about nor a secret.
func TestAuditLog(t *testing.T) {
	t.Setenv("HEDDLE_SECRET_BANK_TOKEN", "canary-4711-token")
	app := newApp(t, `
web: false
audit: logs
agents: {a: {model: m, instructions: x, tools: ["bank.*"]}}
`, Tool("bank.balance", "Tells the balance.", func(_ context.Context, in struct {
		Account string `json:"account"`
	},
	) (struct{}, error) {
		return struct{}{}, errors.New("the bank refuses canary-4711-token of " + in.Account)
	}, Secrets("bank.token")))
	closeLog, err := app.openAudit()
	if err != nil {
		t.Fatal(err)
	}
	if o := app.play(t, "a", "bank.balance", `{"account":"private-17"}`); o.Error == nil {
		t.Fatal("the call is to fail")
	}
	scope := catalog.Scope{Tenant: "acme", Thread: "t", Agent: "a", Tools: app.agents["a"].Tools}
	_, err = lookup.New(app.broker).Search(t.Context(), scope, []byte(`{"query":"balance canary-4711-token"}`))
	if err != nil {
		t.Fatal(err)
	}
	closeLog()
	text, err := os.ReadFile(filepath.Join(app.config.Audit, "audit-1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{"canary", `"private-17"`, `{\"account`} {
		if strings.Contains(string(text), never) {
			t.Errorf("the log has %s:\n%s", never, text)
		}
	}
	for _, wanted := range []string{`"kind":"plan"`, `"kind":"call"`, `"kind":"search"`, `"code":"tool_failed"`, `"tenant":"acme"`} {
		if !strings.Contains(string(text), wanted) {
			t.Errorf("the log lacks %s:\n%s", wanted, text)
		}
	}
	if report, err := audit.Verify(strings.NewReader(string(text)), ""); err != nil || report.Records != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}
