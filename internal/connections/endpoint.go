package connections

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/heddle-dev/heddle/internal/oauth"
)

// The paths of an [Endpoint].
const (
	BeginPath    = "/connections"
	CallbackPath = "/connections/callback"
	DocumentPath = "/connections/client.json"
)

// Endpoint is the part of connections that is reached over HTTP: a backend begins, the
// browser of a person comes back.
//
//	POST /connections              {"tenant","user","name","url","scopes"} -> {"consent_url","expires"}
//	GET  /connections/callback     the way back from consent, a page that says what came of it
//	GET  /connections/client.json  the client id metadata document
//
// Beginning needs the header "Authorization: Bearer TOKEN". Whoever opens a consent URL
// and agrees lets the connection that it was made for into what is theirs: a backend
// shows it to the person alone who has asked for it.
type Endpoint struct {
	// Book is where connections are kept.
	Book *Book
	// Token calls use with the token that a backend must show. Nil: nobody may begin.
	Token func(ctx context.Context, use func(token []byte) error) error
	// Made, if not nil, is told of each connection that was made.
	Made func(ctx context.Context, c Connection)
}

// maxBegin bounds a request to begin, in bytes.
const maxBegin = 64 << 10

// Handler serves the endpoint.
func (e *Endpoint) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+BeginPath, e.begin)
	mux.HandleFunc("GET "+CallbackPath, e.back)
	mux.HandleFunc("GET "+DocumentPath, e.document)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer") // the address holds the code
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		mux.ServeHTTP(w, r)
	})
}

// beginning is what a backend asks for.
type beginning struct {
	ID
	URL      string   `json:"url"`
	Scopes   []string `json:"scopes,omitempty"`
	Issuer   string   `json:"issuer,omitempty"`
	ClientID string   `json:"client_id,omitempty"`
	Secret   string   `json:"client_secret,omitempty"`
}

func (e *Endpoint) begin(w http.ResponseWriter, r *http.Request) {
	if !e.allowed(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		complain(w, http.StatusUnauthorized, errors.New("want the header Authorization: Bearer with the token of connections.callback.token"))
		return
	}
	var asked beginning
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBegin))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil { // its error may quote the secret
		complain(w, http.StatusBadRequest, errors.New(`the body is not a request such as {"tenant":"acme","name":"crm","url":"https://mcp.example.com/mcp"}`))
		return
	}
	consent, err := e.Book.Begin(r.Context(), Request{
		ID: asked.ID, URL: asked.URL, Scopes: asked.Scopes, Issuer: asked.Issuer, ClientID: asked.ClientID, ClientSecret: asked.Secret,
	})
	if err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, oauth.ErrUnavailable) {
			status = http.StatusBadGateway
		}
		complain(w, status, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(consent)
}

// allowed reports whether a request shows the token. Both are hashed, so that neither
// content nor length can be found out by time.
func (e *Endpoint) allowed(r *http.Request) bool {
	shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || e.Token == nil {
		return false
	}
	same := false
	err := e.Token(r.Context(), func(token []byte) error {
		a, b := sha256.Sum256([]byte(shown)), sha256.Sum256(token)
		same = len(token) > 0 && subtle.ConstantTimeCompare(a[:], b[:]) == 1
		return nil
	})
	if err != nil {
		slog.ErrorContext(r.Context(), "connections: the token that backends begin with cannot be read", "error", err)
	}
	return err == nil && same
}

func complain(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}

func (e *Endpoint) back(w http.ResponseWriter, r *http.Request) {
	made, err := e.Book.Finish(r.Context(), r.URL.Query())
	Page(w, err)
	if err != nil {
		slog.WarnContext(r.Context(), "connections: an answer from consent is of no use", "error", err)
		return
	}
	if e.Made != nil {
		e.Made(context.WithoutCancel(r.Context()), made)
	}
}

// Page tells a person what came of consent.
func Page(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	text := "The service is connected. You can close this page."
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		text = "The service is not connected: " + err.Error()
	}
	fmt.Fprintf(w, "<!doctype html><title>Connection</title><p>%s</p>", html.EscapeString(text))
}

func (e *Endpoint) document(w http.ResponseWriter, r *http.Request) {
	if e.Book.Document == "" {
		http.NotFound(w, r)
		return
	}
	about := oauth.Identity{Name: e.Book.Name, Redirect: e.Book.Redirect}.Metadata()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct {
		ID string `json:"client_id"`
		oauthex.ClientRegistrationMetadata
	}{e.Book.Document, about})
}
