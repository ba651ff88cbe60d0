package authserver

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is an authorization server and the service that it guards, on one host. Its
// fields may be changed while no request is on its way.
type Server struct {
	// URL is the issuer, Host its host and port.
	URL, Host string
	// Resource is the service, below the issuer.
	Resource string
	// Life is that of access tokens. Zero: they name no end.
	Life time.Duration
	// Scopes are those that the service wants.
	Scopes []string
	// Metadata and Description, if not nil, change what the server and the service say
	// of themselves before it is sent.
	Metadata, Description func(map[string]any)
	// Answer, if not nil, changes the query that a person comes back with.
	Answer func(url.Values)
	// BeforeToken, if not nil, is called before a request for a token is looked at. It
	// may answer itself, and says so.
	BeforeToken func(w http.ResponseWriter, r *http.Request) (answered bool)
	// Secretive says that clients are registered with a secret.
	Secretive bool
	// Forgiving says that the refresh token that was used last may be used again until
	// its successor is, as its answer may have been lost.
	Forgiving bool
	// Unrenewable says that no refresh tokens are given.
	Unrenewable bool
	// Silent says that the service and the server have no metadata.
	Silent bool

	mux     *http.ServeMux
	mu      sync.Mutex
	clients map[string]client
	codes   map[string]code
	grants  []*grant
	log     []string
}

type client struct {
	secret    string
	redirects []string
}

// code is a grant that waits to be fetched.
type code struct {
	grant               *grant
	redirect, challenge string
	used                bool
}

// grant is what a person has consented to.
type grant struct {
	client, resource, scope string
	// access are the tokens that hold, refresh the one that does; spent those that did.
	access  map[string]time.Time
	refresh string
	spent   []string
	ended   bool
}

// New starts a server. It ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	mux := http.NewServeMux()
	s := &Server{mux: mux, Life: time.Hour, Scopes: []string{"read"}, clients: map[string]client{}, codes: map[string]code{}}
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/{path...}", s.describe)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("GET /authorize", s.page)
	mux.HandleFunc("POST /authorize", s.consent)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /revoke", s.revoke)
	web := httptest.NewServer(mux)
	t.Cleanup(func() { // also where a client listens, which comes back if it can
		_ = web.Listener.Close()
		web.CloseClientConnections()
		web.Close()
	})
	s.URL, s.Host, s.Resource = web.URL, web.Listener.Addr().String(), web.URL+"/service"
	mux.Handle("/service", s.Guard("read", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, map[string]any{"ok": true}) })))
	return s
}

// Handle adds a handler of the service, which [Server.Guard] guards where it shall.
func (s *Server) Handle(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// Log is what was asked of the server so far: register, consent, code, refresh, revoke,
// each with what became of it where that is not well, such as "refresh: reused".
func (s *Server) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Count is how often something is in the log.
func (s *Server) Count(what string) int {
	n := 0
	for _, line := range s.Log() {
		if line == what {
			n++
		}
	}
	return n
}

// ExpireAccess makes all access tokens end now, without the clients being told.
func (s *Server) ExpireAccess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.grants {
		clear(g.access)
	}
}

// EndGrants ends all that was consented to, as a person does in the settings of a service.
func (s *Server) EndGrants() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.grants {
		g.end()
	}
}

func (g *grant) end() {
	g.ended = true
	clear(g.access)
}

// Guard lets requests through to a handler that have a token with a scope.
func (s *Server) Guard(scope string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		metadata := s.URL + "/.well-known/oauth-protected-resource" + strings.TrimPrefix(s.Resource, s.URL)
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		g := s.grantOf(token)
		switch {
		case !ok:
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+metadata+`", scope="`+strings.Join(s.Scopes, " ")+`"`)
			reply(w, http.StatusUnauthorized, map[string]any{"message": "no token"})
		case g == nil:
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="`+metadata+`"`)
			reply(w, http.StatusUnauthorized, map[string]any{"message": "the token is not known"})
		case !slices.Contains(strings.Fields(g.scope), scope):
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+scope+`", resource_metadata="`+metadata+`"`)
			reply(w, http.StatusForbidden, map[string]any{"message": "the token does not reach that far"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// grantOf is the grant of an access token that holds for the service.
func (s *Server) grantOf(token string) *grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.grants {
		if end, ok := g.access[token]; ok && time.Now().Before(end) && (g.resource == "" || strings.HasPrefix(s.Resource, g.resource)) {
			return g
		}
	}
	return nil
}

func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	if s.Silent || "/"+r.PathValue("path") != strings.TrimPrefix(s.Resource, s.URL) {
		http.NotFound(w, r)
		return
	}
	description := map[string]any{"resource": s.Resource, "authorization_servers": []string{s.URL}, "scopes_supported": s.Scopes}
	if s.Description != nil {
		s.Description(description)
	}
	reply(w, http.StatusOK, description)
}

func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	if s.Silent {
		http.NotFound(w, r)
		return
	}
	m := map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "revocation_endpoint": s.URL + "/revoke",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"authorization_response_iss_parameter_supported": true,
	}
	if s.Secretive {
		m["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	}
	if s.Metadata != nil {
		s.Metadata(m)
	}
	reply(w, http.StatusOK, m)
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Redirects []string `json:"redirect_uris"`
		Kind      string   `json:"application_type"`
		Method    string   `json:"token_endpoint_auth_method"`
	}
	if json.NewDecoder(r.Body).Decode(&asked) != nil || len(asked.Redirects) == 0 || asked.Kind == "" {
		refuse(w, "invalid_client_metadata", "redirect_uris and application_type are wanted")
		return
	}
	id, made := "client-"+rand.Text(), client{redirects: asked.Redirects}
	answer := map[string]any{"client_id": id, "redirect_uris": asked.Redirects, "token_endpoint_auth_method": asked.Method}
	if s.Secretive {
		made.secret = "secret:of " + id
		answer["client_secret"] = made.secret
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[id] = made
	s.log = append(s.log, "register")
	reply(w, http.StatusCreated, answer)
}

// AddClient makes a client known, as a person does by hand.
func (s *Server) AddClient(id, secret, redirect string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[id] = client{secret, []string{redirect}}
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	c, known := s.clients[q.Get("client_id")]
	s.mu.Unlock()
	if !known || !slices.Contains(c.redirects, q.Get("redirect_uri")) {
		http.Error(w, "no such client, or not its way back", http.StatusBadRequest)
		return
	}
	if q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("response_type") != "code" || q.Get("state") == "" {
		http.Error(w, "a code with PKCE and a state is wanted", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pageTemplate.Execute(w, map[string]any{"Query": q, "Scope": q.Get("scope")})
}

func (s *Server) consent(w http.ResponseWriter, r *http.Request) {
	back, err := url.Parse(r.FormValue("redirect_uri"))
	if err != nil {
		http.Error(w, "no way back", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {r.FormValue("state")}, "iss": {s.URL}}
	if r.FormValue("decision") == "allow" {
		g := &grant{client: r.FormValue("client_id"), resource: r.FormValue("resource"), scope: r.FormValue("scope"), access: map[string]time.Time{}}
		answer.Set("code", "code-"+rand.Text())
		s.mu.Lock()
		s.codes[answer.Get("code")] = code{grant: g, redirect: r.FormValue("redirect_uri"), challenge: r.FormValue("code_challenge")}
		s.grants = append(s.grants, g)
		s.log = append(s.log, "consent")
		s.mu.Unlock()
	} else {
		answer.Set("error", "access_denied")
		answer.Set("error_description", "the person says no")
	}
	if s.Answer != nil {
		s.Answer(answer)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}
