package connections_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/connections"
	"github.com/heddle-dev/heddle/test/authserver"
)

// TestEndpoint: a backend begins, a browser comes back, and nobody else gets anywhere.
func TestEndpoint(t *testing.T) {
	server := authserver.New(t)
	w := newWorker(t, inSQLite(t), server.Host)
	var made []connections.Connection
	endpoint := &connections.Endpoint{
		Book: w.Book, Token: func(_ context.Context, use func([]byte) error) error { return use([]byte("backend-token")) },
		Made: func(_ context.Context, c connections.Connection) { made = append(made, c) },
	}
	web := httptest.NewServer(endpoint.Handler())
	t.Cleanup(web.Close)
	w.Redirect = web.URL + connections.CallbackPath
	w.Document = "https://agents.example.com/connections/client.json"
	send := func(method, path, token, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, web.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(text)
	}
	request := `{"tenant":"acme","user":"ada","name":"crm","url":"` + server.Resource + `"}`
	for _, token := range []string{"", "wrong", "backend-token-and-more"} {
		if status, text := send("POST", "/connections", token, request); status != http.StatusUnauthorized {
			t.Errorf("begun with the token %q: %d %s", token, status, text)
		}
	}
	for _, bad := range []string{"", "{", `{"tenant":"acme"}`, `{"tenant":"acme","name":"crm","url":"https://169.254.169.254/"}`, `{"tenant":"acme","name":"crm","nonsense":1}`, `{"tenant":"","name":"crm","url":"` + server.Resource + `"}`, strings.Repeat(" ", 1<<20)} {
		if status, text := send("POST", "/connections", "backend-token", bad); status != http.StatusBadRequest || !strings.Contains(text, `"error"`) {
			t.Errorf("%.60s: %d %s", bad, status, text)
		}
	}
	status, text := send("POST", "/connections", "backend-token", request)
	var consent connections.Consent
	if err := json.Unmarshal([]byte(text), &consent); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if status, text := send("GET", "/connections/callback?state=made-up&code=x", "", ""); status != http.StatusBadRequest || len(made) != 0 {
		t.Errorf("an answer that was made up: %d %s", status, text)
	}
	if status, text := send("GET", "/connections/callback?error=%3Cscript%3E&state=%3Cscript%3E", "", ""); status != http.StatusBadRequest || strings.Contains(text, "<script>") {
		t.Errorf("a script: %d %s", status, text)
	}
	back, err := authserver.Agree(t.Context(), consent.URL)
	if err != nil {
		t.Fatal(err)
	}
	if status, text := send("GET", strings.TrimPrefix(back.String(), web.URL), "", ""); status != http.StatusOK || !strings.Contains(text, "is connected") {
		t.Errorf("back from consent: %d %s", status, text)
	}
	if len(made) != 1 || made[0].User != "ada" || made[0].Name != "crm" {
		t.Errorf("made %+v", made)
	}
	if status, _ := send("GET", strings.TrimPrefix(back.String(), web.URL), "", ""); status != http.StatusBadRequest || len(made) != 1 {
		t.Errorf("the same again: %d", status)
	}
	if err := w.ask(t.Context(), server, ofAcme); err != nil {
		t.Error(err)
	}
	if status, text := send("GET", "/connections/client.json", "", ""); status != http.StatusOK || !strings.Contains(text, `"client_id":"`+w.Document+`"`) || !strings.Contains(text, url.PathEscape("callback")) {
		t.Errorf("the document: %d %s", status, text)
	}
	declined := func() string {
		_, text := send("POST", "/connections", "backend-token", request)
		if err := json.Unmarshal([]byte(text), &consent); err != nil {
			t.Fatal(err)
		}
		back, err := authserver.Decline(t.Context(), consent.URL)
		if err != nil {
			t.Fatal(err)
		}
		_, text = send("GET", strings.TrimPrefix(back.String(), web.URL), "", "")
		return text
	}
	if text := declined(); !strings.Contains(text, "access_denied") || len(made) != 1 {
		t.Errorf("declined: %s", text)
	}
}
