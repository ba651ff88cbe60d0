package authserver

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

var hidden = regexp.MustCompile(`name="([^"]*)" value="([^"]*)"`)

// Agree is a person with a browser that knows no scripts: it opens the page of consent,
// agrees and returns where the answer leads, without going there.
func Agree(ctx context.Context, page string) (*url.URL, error) { return decide(ctx, page, "allow") }

// Decline is one who does not agree.
func Decline(ctx context.Context, page string) (*url.URL, error) { return decide(ctx, page, "deny") }

func decide(ctx context.Context, page, decision string) (*url.URL, error) {
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil, err
	}
	response, err := browser.Do(get)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the page of consent answers %d: %s", response.StatusCode, text)
	}
	form := url.Values{"decision": {decision}}
	for _, field := range hidden.FindAllStringSubmatch(string(text), -1) {
		if field[1] != "decision" {
			form.Add(html.UnescapeString(field[1]), html.UnescapeString(field[2]))
		}
	}
	action, err := response.Request.URL.Parse("/authorize")
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, action.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answered, err := browser.Do(post)
	if err != nil {
		return nil, err
	}
	defer answered.Body.Close()
	back, err := answered.Location()
	if err != nil {
		return nil, errors.New("the answer leads nowhere")
	}
	return back, nil
}

// Ask asks the service with a token, and returns the status of its answer.
func (s *Server) Ask(ctx context.Context, token string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Resource, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	_ = response.Body.Close()
	return response.StatusCode, nil
}
