package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/internal/connections"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/test/authserver"
)

// visitor is a person who goes to the page of consent that a command prints, and comes
// back from there.
type visitor struct {
	t      *testing.T
	decide func(ctx context.Context, page string) (*url.URL, error)
	// saw are the pages of consent, and visits what the person is at.
	saw    []string
	visits sync.WaitGroup
}

// Write reads what goes to standard error. The person goes on their way by themselves:
// the command waits for them only after it.
func (v *visitor) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		page := strings.TrimSpace(line)
		if !strings.HasPrefix(page, "http") {
			continue
		}
		v.saw = append(v.saw, page)
		v.visits.Go(func() {
			back, err := v.decide(v.t.Context(), page)
			if err != nil {
				v.t.Error(err)
				return
			}
			response, err := http.Get(back.String())
			if err != nil {
				v.t.Error(err)
				return
			}
			_ = response.Body.Close()
		})
	}
	return len(text), nil
}

// connecting runs the commands for connections with a store in a folder of its own.
func connecting(t *testing.T, allow ...string) func(stdin string, decide func(context.Context, string) (*url.URL, error), args ...string) (result, []string) {
	t.Helper()
	t.Setenv("TEST_MASTER_KEY", masterKey("k1"))
	config, _ := secretsFolder(t, fmt.Sprintf("  - {sqlite: s.db, key_env: TEST_MASTER_KEY}\nconnections: {allow: [%s]}\n", strings.Join(allow, ", ")))
	return func(stdin string, decide func(context.Context, string) (*url.URL, error), args ...string) (result, []string) {
		t.Helper()
		person := &visitor{t: t, decide: decide}
		got := shell{stdin: strings.NewReader(stdin), stderr: person}.run(t.Context(), append(append([]string{"connections"}, args...), "--config", config)...)
		person.visits.Wait()
		for _, secret := range []string{"access-", "refresh-", "secret:of", secretValue, "code-"} {
			if strings.Contains(got.stdout+got.stderr, secret) {
				t.Errorf("%v prints a secret: %s%s", args, got.stdout, got.stderr)
			}
		}
		return got, person.saw
	}
}

func TestConnectionsAreMadeShownAndRemoved(t *testing.T) {
	server := authserver.NewMCP(t)
	run := connecting(t, fmt.Sprintf("%q", server.Host))
	host, _, _ := net.SplitHostPort(server.Host)

	got, saw := run("", authserver.Agree, "add", server.Resource, "--tenant", "acme", "--user", "ann", "--scope", "read", "--scope", "write", "--no-browser")
	if got.code != exitOK || len(saw) != 1 || !strings.Contains(saw[0], "scope=read+write&") {
		t.Fatalf("add: %+v, %q", got, saw)
	}
	contains(t, got.stdout, "Connected "+host+" of ann at tenant acme. Refer to it as connection:"+host+":token", "Its tools (3):\n  change_it\n  read_it\n  write_it")
	contains(t, got.stderr, "Agree here, within 15m0s:\n  "+server.URL+"/authorize?")

	got, _ = run("", authserver.Agree, "add", server.Resource, "--tenant", "acme", "--name", "crm", "--json", "--no-browser")
	added := jsonLines[struct {
		connections.Connection
		Reference, Note string
		Tools           []string
	}](t, got.stdout)[0]
	if got.code != exitOK || added.Name != "crm" || added.User != "" || added.Status != connections.Active || !slices.Equal(added.Scopes, []string{"read"}) ||
		added.Issuer != server.URL || added.Reference != "connection:crm:token" || len(added.Tools) != 3 || added.Note != "" {
		t.Errorf("add --json: %+v %+v", got, added)
	}
	got, saw = run(secretValue+"\n", authserver.Agree, "add", "https://billing.example.com", "--tenant", "acme", "--name", "billing", "--token-stdin", "--json")
	key := jsonLines[struct {
		connections.Connection
		Note string
	}](t, got.stdout)[0]
	if got.code != exitOK || len(saw) > 0 || key.Kind != connections.Given || !strings.Contains(key.Note, "no tools are listed") {
		t.Errorf("add --token-stdin: %+v, %+v, %q", got, key, saw)
	}

	got, _ = run("", nil, "list", "--tenant", "acme")
	contains(t, got.stdout, "NAME", host+"  ann   oauth  active  "+server.Resource, "billing    -     token", "crm        -     oauth  active")
	got, _ = run("", nil, "list", "--tenant", "acme", "--json")
	if all := jsonLines[[]connections.Connection](t, got.stdout)[0]; len(all) != 3 || all[1].Name != "billing" || all[1].Kind != connections.Given {
		t.Errorf("list --json: %+v", all)
	}
	if got, _ = run("", nil, "list", "--tenant", "other"); got.code != exitOK || got.stdout != "There are no connections.\n" {
		t.Errorf("list of another tenant: %+v", got)
	}
	got, _ = run("", nil, "show", "crm", "--tenant", "acme")
	contains(t, got.stdout, "crm of tenant acme", "connection:crm:token", "granted by", server.URL, "scopes", "read", "it is renewed by itself")
	got, _ = run("", nil, "show", host, "--tenant", "acme", "--user", "ann", "--json")
	if one := jsonLines[connections.Connection](t, got.stdout)[0]; one.User != "ann" || !slices.Equal(one.Scopes, []string{"read", "write"}) || !one.Renewable {
		t.Errorf("show --json: %+v", one)
	}

	got, _ = run("", nil, "remove", "crm", "--tenant", "acme")
	if got.code != exitOK || got.stdout != "The connection crm of tenant acme is removed.\n" || server.Count("revoke") != 1 {
		t.Errorf("remove: %+v, %v", got, server.Log())
	}
	server.Metadata = func(m map[string]any) { delete(m, "revocation_endpoint") }
	if got, _ = run("", authserver.Agree, "add", server.Resource, "--tenant", "acme", "--name", "crm"); got.code != exitOK {
		t.Fatalf("add again: %+v", got)
	}
	got, _ = run("", nil, "remove", "crm", "--tenant", "acme", "--json")
	if gone := jsonLines[struct {
		Removed, Revoked bool
		Note             string
	}](t, got.stdout)[0]; !gone.Removed || gone.Revoked || !strings.Contains(gone.Note, "was not revoked") {
		t.Errorf("remove --json without revocation: %+v", gone)
	}
	for _, args := range [][]string{{"show", "crm"}, {"remove", "crm"}, {"show", host}} { // the last is ann's own
		if got, _ := run("", nil, append(args, "--tenant", "acme")...); got.code != exitFailed || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, "there is no such connection") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// TestServersThatAPersonKnows: a server that is named, and one whose endpoints are, with
// a client that was registered by hand.
func TestServersThatAPersonKnows(t *testing.T) {
	server, silent := authserver.New(t), authserver.New(t)
	silent.Silent = true
	run := connecting(t, fmt.Sprintf("%q", server.Host), fmt.Sprintf("%q", silent.Host))
	got, _ := run("", authserver.Agree, "add", silent.Resource, "--tenant", "acme", "--name", "named", "--issuer", server.URL, "--json")
	if one := jsonLines[connections.Connection](t, got.stdout)[0]; got.code != exitOK || one.Issuer != server.URL || one.URL != silent.Resource {
		t.Errorf("--issuer: %+v", got)
	}
	port := freePort(t)
	silent.AddClient("by-hand", "secret:of by-hand", fmt.Sprintf("http://127.0.0.1:%d%s", port, connections.CallbackPath))
	known := []string{
		"add", silent.Resource, "--tenant", "acme", "--name", "known", "--json", "--port", fmt.Sprint(port), "--client-id", "by-hand", "--client-secret-stdin",
		"--authorization-url", silent.URL + "/authorize", "--token-url", silent.URL + "/token", "--revocation-url", silent.URL + "/revoke",
	}
	got, saw := run("secret:of by-hand\n", authserver.Agree, known...)
	if one := jsonLines[connections.Connection](t, got.stdout)[0]; got.code != exitOK || one.ClientID != "by-hand" || len(saw) != 1 {
		t.Errorf("known endpoints: %+v", got)
	}
	if got, _ := run("", nil, "remove", "known", "--tenant", "acme"); got.code != exitOK || silent.Count("revoke") != 1 {
		t.Errorf("remove: %+v, %v", got, silent.Log())
	}
	if got, _ := run("another secret\n", authserver.Agree, known...); got.code != exitFailed || !strings.Contains(got.stderr, "invalid_client") {
		t.Errorf("with a wrong secret: %+v", got)
	}
	busy, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	if got, saw := run("secret:of by-hand\n", authserver.Agree, known...); got.code != exitFailed || !strings.Contains(got.stderr, "address already in use") || len(saw) > 0 {
		t.Errorf("at a port that is in use: %+v", got)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := strconv.Atoi(testkit.FreePort(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestConnectionsThatCannotBeMade(t *testing.T) {
	server := authserver.New(t)
	run := connecting(t)
	const service = "add https://mcp.example.com/mcp --tenant acme "
	for args, want := range map[string]string{
		"add":                                                                   "missing argument",
		"add https://mcp.example.com/mcp":                                       "--tenant: ",
		"add mcp.example.com --tenant acme":                                     "want the URL of a service",
		"add ftp://mcp.example.com --tenant acme":                               "want the URL of a service",
		"add https://ann:pw@example.com --tenant acme":                          "want the URL of a service",
		service + "--name a:b":                                                  "name of the connection",
		service + "--name " + strings.Repeat("n", 65):                           "name of the connection",
		service + "--port 70000":                                                "--port: 70000 is no port",
		service + "--token-stdin --scope a":                                     "--token-stdin: ",
		service + "--token-stdin --client-id c":                                 "--token-stdin: ",
		service + "--authorization-url https://a.b/c":                           "--authorization-url and --token-url go together",
		service + "--token-url https://a.b/c":                                   "--authorization-url and --token-url go together",
		service + "--revocation-url https://a.b/c":                              "--authorization-url and --token-url go together",
		service + "--client-secret-stdin":                                       "--client-secret-stdin: say of which client",
		service + "--token-stdin":                                               "there is no secret on standard input",
		service + "--allow a:b:c":                                               "--allow: ",
		service + "--authorization-url https://a.b/c --token-url https://a.b/c": "--token-url: a server without metadata registers nobody",
		service + "--authorization-url https://a.b/c --token-url https://a.b/c --client-id c --issuer https://a.b": "--issuer: ",
		"list":                           "--tenant: ",
		"show crm":                       "--tenant: ",
		"show --tenant acme":             "missing argument",
		"remove crm":                     "--tenant: ",
		"list --tenant acme --user ann":  "unknown flag: --user",
		"remove crm --tenant acme --all": "unknown flag: --all",
		"add a b --tenant acme":          "unexpected argument",
	} {
		got, saw := run("", nil, strings.Fields(args)...)
		if got.code != exitUsage || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, want) || len(saw) > 0 {
			t.Errorf("%s: %+v, want one line with %q", args, got, want)
		}
	}
	add := []string{"add", server.Resource, "--tenant", "acme", "--name", "crm"}
	allowed := append(slices.Clone(add), "--allow", server.Host)
	for name, c := range map[string]struct {
		args   []string
		decide func(context.Context, string) (*url.URL, error)
		before func()
		want   string
	}{
		"a private address":     {add, nil, func() {}, server.Host},
		"refused by the person": {allowed, authserver.Decline, func() {}, "access_denied: the person says no"},
		"a scope that is none":  {append(slices.Clone(allowed), "--scope", "ä"), nil, func() {}, "a scope has no spaces, quotes"},
		"another server answers": {
			allowed, authserver.Agree, func() { server.Answer = func(q url.Values) { q.Set("iss", "https://evil.example.com") } }, "https://evil.example.com",
		},
		"nothing to authorize at": {
			allowed, nil, func() { server.Description = func(d map[string]any) { d["authorization_servers"] = []string{} } }, "give one with --issuer, or a key with --token-stdin",
		},
	} {
		t.Run(name, func(t *testing.T) {
			server.Answer, server.Description = nil, nil
			c.before()
			got, _ := run("", c.decide, c.args...)
			last := got.stderr[strings.LastIndex(strings.TrimSuffix(got.stderr, "\n"), "\n")+1:]
			if got.code != exitFailed || got.stdout != "" || !strings.HasPrefix(last, "Error: ") || !strings.Contains(last, c.want) {
				t.Errorf("%+v, want an error with %q", got, c.want)
			}
			if got, _ := run("", nil, "list", "--tenant", "acme"); got.stdout != "There are no connections.\n" {
				t.Errorf("there is a connection: %s", got.stdout)
			}
		})
	}
	t.Run("a store that cannot be changed", func(t *testing.T) {
		config, _ := secretsFolder(t, "  - env: APP_\n")
		got := shell{stdin: strings.NewReader(secretValue)}.run(t.Context(), "connections", "add", "https://a.example.com", "--tenant", "acme", "--token-stdin", "--config", config)
		if got.code != exitFailed || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, "store") || strings.Contains(got.stderr, secretValue) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("no configuration", func(t *testing.T) {
		got := shell{}.run(t.Context(), "connections", "list", "--tenant", "acme", "--config", filepath.Join(t.TempDir(), "none.yaml"))
		if got.code == exitOK || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, "none.yaml") {
			t.Errorf("%+v", got)
		}
	})
}
