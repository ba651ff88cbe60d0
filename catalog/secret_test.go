package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// keeper is a store of secrets by reference, whose values it takes out of texts once
// they are known.
type keeper struct {
	values map[string]string
	failed error
	known  []string
}

func (k *keeper) Know(_ context.Context, _ catalog.Scope, refs []string) error {
	for _, ref := range refs {
		if value, ok := k.values[ref]; ok {
			k.known = append(k.known, value)
		}
	}
	return k.failed
}

func (k *keeper) Use(_ context.Context, scope catalog.Scope, ref string, use func([]byte) error) error {
	value, ok := k.values[ref]
	if !ok {
		return fmt.Errorf("%s of %s: %w", ref, scope.Tenant, catalog.ErrNoSecret)
	}
	return use([]byte(value))
}

func (k *keeper) Hide(_ catalog.Scope, value []byte) { k.known = append(k.known, string(value)) }

func (k *keeper) Text(_ catalog.Scope, text string) string {
	for _, value := range k.known {
		text = strings.ReplaceAll(text, value, "[redacted]")
	}
	return text
}

func (k *keeper) JSON(scope catalog.Scope, value json.RawMessage) json.RawMessage {
	return json.RawMessage(k.Text(scope, string(value)))
}

const hidden = "hunter2-hunter2"

// secretive is a broker of one tool that declares the secrets key and lost.
func secretive(t *testing.T, k *keeper, call func(ctx context.Context, call catalog.Call) (json.RawMessage, error)) (*catalog.Broker, catalog.Tool) {
	t.Helper()
	tool := withFunction(read("vault.open"), call)
	tool.Secrets = []string{"key", "app:lost"}
	b := broker(t, of("s", tool))
	b.Protect(k)
	return b, tool
}

func TestAToolGetsWhatItDeclares(t *testing.T) {
	k := &keeper{values: map[string]string{"key": hidden, "other": "other-value"}}
	own := errors.New("my own error")
	for _, test := range []struct {
		ref, code string
		err       error
	}{
		{"key", "", nil},
		{"key", catalog.CodeToolFailed, own},
		{"other", catalog.CodeSecretNotDeclared, nil},
		{"app:key", catalog.CodeSecretNotDeclared, nil},
		{"app:lost", catalog.CodeSecretMissing, nil},
	} {
		var got string
		b, tool := secretive(t, k, func(ctx context.Context, call catalog.Call) (json.RawMessage, error) {
			err := call.Secrets.Use(ctx, test.ref, func(value []byte) error {
				got = string(value)
				return test.err
			})
			if test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("the error of use became %v", err)
			}
			return json.RawMessage(`1`), err
		})
		out := do(t, b, tool.ID, `{"order":"x"}`)
		switch {
		case test.code == "" && out.Error != nil, test.code != "" && (out.Error == nil || out.Error.Code != test.code):
			t.Errorf("%s: outcome %+v, want code %q", test.ref, out.Error, test.code)
		case test.ref == "key" && got != hidden, test.ref != "key" && got != "":
			t.Errorf("%s: the tool got %q", test.ref, got)
		}
	}
}

func TestWithoutAStoreThereAreNoSecrets(t *testing.T) {
	tool := withFunction(read("vault.open"), func(ctx context.Context, call catalog.Call) (json.RawMessage, error) {
		call.Secrets.Hide([]byte("x"))
		return nil, call.Secrets.Use(ctx, "key", func([]byte) error { return nil })
	})
	tool.Secrets = []string{"key"}
	if out := do(t, broker(t, of("s", tool)), tool.ID, `{"order":"x"}`); out.Error == nil || out.Error.Code != catalog.CodeSecretMissing {
		t.Errorf("outcome %+v", out.Error)
	}
	if err := (catalog.CallSecrets{}).Use(t.Context(), "key", nil); err == nil {
		t.Error("the zero value has a secret")
	}
}

func TestAStoreThatCannotBeReadStopsTheCall(t *testing.T) {
	called := false
	b, tool := secretive(t, &keeper{failed: errors.New("no connection")}, func(context.Context, catalog.Call) (json.RawMessage, error) {
		called = true
		return nil, nil
	})
	out := do(t, b, tool.ID, `{"order":"x"}`)
	if called || out.Error == nil || out.Error.Code != catalog.CodeSecretUnavailable || !out.Error.Retryable || out.Error.Effect != catalog.EffectNone {
		t.Errorf("called %v, outcome %+v", called, out.Error)
	}
}

// TestNoSecretLeavesACall has a tool give its secret away in every way there is.
func TestNoSecretLeavesACall(t *testing.T) {
	long := strings.Repeat("x", 2<<10-8) + hidden // cut in the middle of the value, if it is cut first
	typed := &catalog.Error{
		Code: hidden, Message: long, Hint: hidden, Details: json.RawMessage(`{"header":"Bearer ` + hidden + `"}`),
		Violations: []catalog.Violation{{Pointer: "/" + hidden, Message: hidden}},
	}
	for name, answer := range map[string]func() (json.RawMessage, error){
		"result":                 func() (json.RawMessage, error) { return json.RawMessage(`{"a":"` + hidden + `"}`), nil },
		"warning":                func() (json.RawMessage, error) { return json.RawMessage(`"` + hidden + `"`), nil },
		"error":                  func() (json.RawMessage, error) { return nil, errors.New(long) },
		"typed error":            func() (json.RawMessage, error) { return nil, typed },
		"panic":                  func() (json.RawMessage, error) { panic(hidden) },
		"not JSON":               func() (json.RawMessage, error) { return json.RawMessage(hidden), nil },
		"learned from elsewhere": nil,
	} {
		t.Run(name, func(t *testing.T) {
			log := captureLog(t)
			b, tool := secretive(t, &keeper{values: map[string]string{"key": hidden}}, func(_ context.Context, call catalog.Call) (json.RawMessage, error) {
				if answer == nil {
					call.Secrets.Hide([]byte("a-new-token"))
					return json.RawMessage(`"a-new-token"`), nil
				}
				return answer()
			})
			out := do(t, b, tool.ID, `{"order":"x"}`)
			told, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{string(told), log.String()} {
				if strings.Contains(text, "hunter2") || strings.Contains(text, "a-new-token") {
					t.Errorf("the secret, or a part of it, is in %s", text)
				}
			}
		})
	}
	if typed.Hint != hidden {
		t.Error("the tool's own error was changed")
	}
}

func TestAPlanShowsNoSecret(t *testing.T) {
	k := &keeper{known: []string{hidden}}
	tool := write("vault.put")
	b := broker(t, of("s", tool))
	b.Protect(k)
	for _, input := range []string{`{"order":"` + hidden + `"}`, `{"` + hidden + `":1}`} {
		plan := b.Plan(t.Context(), everyone, catalog.Request{Tool: tool.ID, Input: json.RawMessage(input)})
		told, err := json.Marshal(plan)
		if err != nil || strings.Contains(string(told), hidden) {
			t.Errorf("plan %s, %v", told, err)
		}
	}
}

// A source that tells a secret when it fails tells nobody.
func TestNoSecretLeavesACondition(t *testing.T) {
	far := of("far", read("far.get"))
	far.list = func(context.Context) ([]catalog.Tool, error) { return nil, errors.New("bad token s3cr3t") }
	near := &candid{remote: remote{of("near", read("near.get"))}, stale: errors.New("bad token s3cr3t"), leftOut: []string{"s3cr3t: is used twice"}}
	b := broker(t, remote{far}, near)
	k := &keeper{}
	k.Hide(everyone, []byte("s3cr3t"))
	b.Protect(k)
	unavailable(t, b)
	text, err := json.Marshal(b.Conditions(everyone))
	if err != nil || strings.Contains(string(text), "s3cr3t") || strings.Count(string(text), "bad token") != 2 || !strings.Contains(string(text), "used twice") {
		t.Errorf("conditions are %s, %v", text, err)
	}
}

func TestParseSecretRef(t *testing.T) {
	for text, want := range map[string]catalog.SecretRef{
		"github.token":           {Name: "github.token"},
		"app:a/b":                {Scope: "app", Name: "a/b"},
		"tenant:a":               {Scope: "tenant", Name: "a"},
		"user:0":                 {Scope: "user", Name: "0"},
		"connection:crm-1:token": {Scope: "connection", Connection: "crm-1", Name: "token"},
	} {
		if got, err := catalog.ParseSecretRef(text); err != nil || got != want {
			t.Errorf("ParseSecretRef(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "the name is empty", ":a": "begins with a colon", "app:": "the name is empty", "world:a": `unknown scope "world"`,
		"app:a:b": "a colon too many", "connection:a": "want connection:id:name", "connection::a": "connection: the name is empty",
		".a": `'.' is not allowed`, "a b": `' ' is not allowed`, "ключ": "is not allowed", strings.Repeat("a", 129): "at most 128",
		"a\xff": "is not allowed",
	} {
		if _, err := catalog.ParseSecretRef(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSecretRef(%q): %v, want %q", text, err, want)
		}
	}
}
