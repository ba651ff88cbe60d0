package authserver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// pageTemplate is what a person sees.
var pageTemplate = template.Must(template.New("").Parse(`<!doctype html><title>Consent</title>
<h1>Allow it?</h1><p>It may: {{.Scope}}</p>
<form method="post" action="/authorize">
{{range $name, $values := .Query}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">{{end}}{{end}}
<button id="allow" name="decision" value="allow">Allow</button>
<button id="deny" name="decision" value="deny">Deny</button>
</form>`))

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

func refuse(w http.ResponseWriter, code, description string) {
	reply(w, http.StatusBadRequest, map[string]any{"error": code, "error_description": description})
}

// client is who asks, empty where that cannot be told.
func (s *Server) client(r *http.Request) string {
	id, secret := r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	if user, password, ok := r.BasicAuth(); ok {
		id, _ = url.QueryUnescape(user)
		secret, _ = url.QueryUnescape(password)
	}
	if c, ok := s.clients[id]; ok && c.secret == secret {
		return id
	}
	return ""
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if s.BeforeToken != nil && s.BeforeToken(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.client(r)
	if id == "" {
		s.log = append(s.log, "token: unknown client")
		reply(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	if r.PostFormValue("grant_type") == "refresh_token" {
		s.refresh(w, r, id)
		return
	}
	name := r.PostFormValue("code")
	c, ok := s.codes[name]
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case ok && c.used:
		c.grant.end()
		s.log = append(s.log, "code: reused")
	case !ok || c.grant.client != id || c.redirect != r.PostFormValue("redirect_uri"):
		s.log = append(s.log, "code: of another")
	case base64.RawURLEncoding.EncodeToString(sum[:]) != c.challenge:
		s.log = append(s.log, "code: wrong verifier")
	case c.grant.resource != r.PostFormValue("resource"):
		s.log = append(s.log, "code: for another resource")
	default:
		c.used = true
		s.codes[name] = c
		s.log = append(s.log, "code")
		s.give(w, c.grant)
		return
	}
	refuse(w, "invalid_grant", "the code does not hold: "+name)
}

// refresh gives new tokens, and a new refresh token in place of the old. An old one
// that comes back was stolen: it ends the grant.
func (s *Server) refresh(w http.ResponseWriter, r *http.Request, client string) {
	token := r.PostFormValue("refresh_token")
	for _, g := range s.grants {
		switch {
		case g.client != client || g.ended:
		case s.Forgiving && len(g.spent) > 0 && g.spent[len(g.spent)-1] == token:
			s.log = append(s.log, "refresh")
			s.give(w, g)
			return
		case slices.Contains(g.spent, token):
			g.end()
			s.log = append(s.log, "refresh: reused")
			refuse(w, "invalid_grant", "it was used before: "+token)
			return
		case g.refresh == token && token != "":
			g.spent = append(g.spent, token)
			s.log = append(s.log, "refresh")
			s.give(w, g)
			return
		}
	}
	s.log = append(s.log, "refresh: unknown")
	refuse(w, "invalid_grant", "it is not known: "+token)
}

// give answers with new tokens of a grant.
func (s *Server) give(w http.ResponseWriter, g *grant) {
	access := "access-" + rand.Text()
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "scope": g.scope}
	if g.refresh = ""; !s.Unrenewable {
		g.refresh = "refresh-" + rand.Text()
		answer["refresh_token"] = g.refresh
	}
	g.access[access] = time.Now().Add(24 * time.Hour)
	if s.Life > 0 {
		g.access[access] = time.Now().Add(s.Life)
		answer["expires_in"] = int(s.Life.Seconds())
	}
	reply(w, http.StatusOK, answer)
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, token := s.client(r), r.PostFormValue("token")
	for _, g := range s.grants {
		if g.client == id && g.refresh == token {
			g.end()
			s.log = append(s.log, "revoke")
		}
	}
	w.WriteHeader(http.StatusOK)
}
