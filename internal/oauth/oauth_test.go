package oauth_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/netguard"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/test/authserver"
)

const redirect = "http://127.0.0.1:1/callback"

func network(t *testing.T, hosts ...string) *netguard.Client {
	t.Helper()
	n, err := oauth.Network(hosts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// TestHostileMetadata: what a service or a server says of itself leads nowhere that it
// must not.
func TestHostileMetadata(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*authserver.Server)
		want   string
	}{
		"metadata of another service": {func(s *authserver.Server) {
			s.Description = func(d map[string]any) { d["resource"] = "https://bank.example.com/mcp" }
		}, "is about"},
		"a service above this one": {func(s *authserver.Server) {
			s.Description = func(d map[string]any) { d["resource"] = s.URL }
		}, "is about"},
		"no server": {func(s *authserver.Server) {
			s.Description = func(d map[string]any) { d["authorization_servers"] = []string{} }
		}, "names no authorization server"},
		"a server within the network": {func(s *authserver.Server) {
			s.Description = func(d map[string]any) { d["authorization_servers"] = []string{"https://169.254.169.254/latest"} }
		}, "link-local"},
		"a server without TLS": {func(s *authserver.Server) {
			s.Description = func(d map[string]any) { d["authorization_servers"] = []string{"http://login.example.com"} }
		}, "only https is allowed"},
		"another issuer": {func(s *authserver.Server) {
			s.Metadata = func(m map[string]any) { m["issuer"] = "https://login.example.com" }
		}, "about the issuer"},
		"no PKCE": {func(s *authserver.Server) {
			s.Metadata = func(m map[string]any) { delete(m, "code_challenge_methods_supported") }
		}, "PKCE with S256"},
		"plain PKCE alone": {func(s *authserver.Server) {
			s.Metadata = func(m map[string]any) { m["code_challenge_methods_supported"] = []string{"plain"} }
		}, "PKCE with S256"},
		"tokens within the network": {func(s *authserver.Server) {
			s.Metadata = func(m map[string]any) { m["token_endpoint"] = "https://[fd00:ec2::254]/token" }
		}, "token endpoint"},
		"a page that is a script": {func(s *authserver.Server) {
			s.Metadata = func(m map[string]any) { m["authorization_endpoint"] = "javascript:alert(1)//" }
		}, "authorization endpoint"},
		"registration without TLS": {func(s *authserver.Server) {
			s.Metadata = func(m map[string]any) { m["registration_endpoint"] = "http://login.example.com/register" }
		}, "registration endpoint"},
		"huge": {func(s *authserver.Server) {
			s.Metadata = func(m map[string]any) { m["more"] = strings.Repeat("x", 2<<20) }
		}, "longer than 1048576 bytes"},
		"of another type": {func(s *authserver.Server) {
			s.Metadata = func(m map[string]any) { m["token_endpoint"] = 7 }
		}, "not the JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			s := authserver.New(t)
			tt.change(s)
			_, err := oauth.Discover(t.Context(), network(t, s.Host), s.Resource, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one that says %q", err, tt.want)
			}
			if got := s.Log(); len(got) != 0 {
				t.Errorf("the server was asked for %v", got)
			}
		})
	}
}

// TestMetadataThatRedirects goes through the same rules as an address that is named.
func TestMetadataThatRedirects(t *testing.T) {
	for _, to := range []string{"http://169.254.169.254/latest/meta-data", "https://10.0.0.1/", "http://login.example.com/"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/.well-known/") {
				http.Redirect(w, r, to, http.StatusFound)
				return
			}
			w.WriteHeader(http.StatusUnauthorized)
		}))
		t.Cleanup(server.Close)
		_, err := oauth.Discover(t.Context(), network(t, server.Listener.Addr().String()), server.URL+"/mcp", nil)
		var refused *netguard.RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("a redirect to %s: %v", to, err)
		}
	}
}

// TestTokensThatAreNone are not taken.
func TestTokensThatAreNone(t *testing.T) {
	var answer string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirected" {
			t.Error("a refresh token was sent on to another address")
		}
		w.Header().Set("Location", "/redirected")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	g := oauth.Grantor{Server: oauth.Server{Token: server.URL}, Client: oauth.Client{ID: "me", Method: oauth.MethodNone}}
	n := network(t, server.Listener.Addr().String())
	for _, tt := range []struct {
		status int
		answer string
		kind   error
		want   string
	}{
		{200, `{}`, nil, "access_token is missing"},
		{200, `{"access_token":"a b\n"}`, nil, "access_token is missing"},
		{200, `{"access_token":"a","token_type":"mac"}`, nil, "token_type"},
		{200, `{"access_token":"a","expires_in":"soon"}`, nil, "expires_in"},
		{200, `<html>`, nil, "not the JSON"},
		{200, `{"error":"invalid_grant"}`, oauth.ErrGrantEnded, "invalid_grant"},
		{400, `{"error":"invalid_grant","error_description":"the token very-secret is void"}`, oauth.ErrGrantEnded, "the token [secret] is void"},
		{401, `{"error":"invalid_client"}`, oauth.ErrClientUnknown, "invalid_client"},
		{307, ``, nil, "HTTP 307"},
		{500, ``, oauth.ErrUnavailable, "HTTP 500"},
		{429, `{}`, oauth.ErrUnavailable, "HTTP 429"},
		{200, `{"access_token":"a","more":"` + strings.Repeat("x", 2<<20) + `"}`, oauth.ErrUnavailable, "longer than"},
	} {
		status, answer = tt.status, tt.answer
		_, err := oauth.Refresh(t.Context(), n, g, "very-secret")
		if err == nil || tt.kind != nil && !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "very-secret") {
			t.Errorf("%d %.60s: error is %v, want %q", tt.status, tt.answer, err, tt.want)
		}
	}
	status, answer = 200, `{"access_token":"a","expires_in":"3600"}`
	if tokens, err := oauth.Refresh(t.Context(), n, g, "very-secret"); err != nil || tokens.Refresh != "very-secret" || tokens.Expires.IsZero() {
		t.Errorf("tokens %+v, %v; want the old refresh token to stay", tokens, err)
	}
}

// TestAnswersOfOthers: of all that may come back from consent, one answer is taken.
func TestAnswersOfOthers(t *testing.T) {
	a := oauth.Begin(oauth.Service{Server: oauth.Server{
		Issuer: "https://login.example.com", Authorization: "https://login.example.com/authorize?tenant=7", NamesItself: true,
	}}, oauth.Client{ID: "me"}, redirect, []string{"read"})
	sound := func() url.Values {
		return url.Values{"state": {a.State}, "iss": {"https://login.example.com"}, "code": {"c"}}
	}
	if code, err := a.Read(sound()); err != nil || code != "c" {
		t.Fatalf("%q, %v", code, err)
	}
	for name, change := range map[string]func(url.Values){
		"no state":                      func(q url.Values) { q.Del("state") },
		"another state":                 func(q url.Values) { q.Set("state", "x") },
		"two states":                    func(q url.Values) { q.Add("state", "x") },
		"no issuer":                     func(q url.Values) { q.Del("iss") },
		"another issuer":                func(q url.Values) { q.Set("iss", "https://evil.example.com") },
		"nearly it":                     func(q url.Values) { q.Set("iss", "https://login.example.com/") },
		"two codes":                     func(q url.Values) { q.Add("code", "d") },
		"no code":                       func(q url.Values) { q.Del("code") },
		"a code of what cannot be sent": func(q url.Values) { q.Set("code", "a\r\nb") },
	} {
		q := sound()
		change(q)
		if _, err := a.Read(q); !errors.Is(err, oauth.ErrAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	q := sound()
	q.Set("error", "access_denied")
	q.Set("error_description", "No!\x1b[31m "+strings.Repeat("é", 1000))
	var said *oauth.ServerError
	if _, err := a.Read(q); !errors.As(err, &said) || said.Code != "access_denied" || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 1000 {
		t.Errorf("refused: %v", err)
	}
	u, err := url.Parse(a.URL)
	if err != nil || u.Query().Get("tenant") != "7" || u.Query().Get("code_challenge_method") != "S256" || u.Query().Get("scope") != "read" || strings.Contains(a.URL, a.Verifier) {
		t.Errorf("the address of consent is %s", a.URL)
	}
}

// TestServiceWithoutMetadata has its host for a server, as old protocols have it.
func TestServiceWithoutMetadata(t *testing.T) {
	s := authserver.New(t)
	s.Silent = true
	service, err := oauth.Discover(t.Context(), network(t, s.Host), s.Resource, nil)
	if err != nil || !service.Server.Guessed || service.Server.Token != s.URL+"/token" || fmt.Sprint(service.Scopes) != "[read]" {
		t.Errorf("service is %+v, %v", service, err)
	}
}

func TestReadChallenge(t *testing.T) {
	c := oauth.ReadChallenge([]string{
		`Basic realm="x"`, `Bearer error="insufficient_scope", scope="a b", resource_metadata="https://x.example.com/m"`,
		`Bearer "broken`, strings.Repeat("Bearer ", 5000),
	})
	if c.Error != oauth.Insufficient || fmt.Sprint(c.Scopes) != "[a b]" || c.Metadata != "https://x.example.com/m" {
		t.Errorf("challenge is %+v", c)
	}
}

func FuzzReadChallenge(f *testing.F) {
	f.Add(`Bearer error="insufficient_scope", scope="a b"`)
	f.Add(`Bearer`)
	f.Add(`,,"=`)
	f.Fuzz(func(t *testing.T, header string) {
		for _, scope := range oauth.ReadChallenge([]string{header}).Scopes {
			if err := oauth.CheckScope(scope); err != nil {
				t.Errorf("%q: %v", scope, err)
			}
		}
	})
}
