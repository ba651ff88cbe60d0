package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/netguard"
)

const (
	// maxAnswer bounds what a server answers, in bytes.
	maxAnswer = 1 << 20
	// RequestTimeout bounds one request.
	RequestTimeout = 15 * time.Second
)

// Network returns the client to speak with. Allow names hosts that may be reached by
// plain HTTP and at private addresses, each as host or host:port.
func Network(allow []string) (*netguard.Client, error) {
	return netguard.New(netguard.Options{Allow: allow, MaxBody: maxAnswer, Timeout: RequestTimeout})
}

// statusError is an answer with another status than was hoped for.
type statusError struct{ status int }

func (e statusError) Error() string { return fmt.Sprintf("HTTP %d", e.status) }

// absent reports whether an error says that there is no document at an address.
func absent(err error) bool {
	var status statusError
	return errors.As(err, &status) && status.status >= 300 && status.status < 500
}

// getJSON reads a document.
func getJSON(ctx context.Context, network *netguard.Client, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("the address cannot be read")
	}
	req.Header.Set("Accept", "application/json")
	response, err := network.Do(req)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return statusError{response.StatusCode}
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || !isJSON(kind) {
		return statusError{http.StatusNotFound} // a page for people, as many sites answer to anything
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if json.Unmarshal(text, into) != nil {
		return errors.New("it is not the JSON that was expected")
	}
	return nil
}

func isJSON(kind string) bool { return kind == "application/json" || strings.HasSuffix(kind, "+json") }

// answer is what a server says to a request that is no reading.
type answer struct {
	status int
	body   []byte
}

// post sends a body. A redirect is not followed: what is sent is for nobody else.
func post(ctx context.Context, network *netguard.Client, address, kind, body string, authorize func(*http.Request)) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return answer{}, errors.New("the address of the endpoint cannot be read")
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	if authorize != nil {
		authorize(req)
	}
	response, err := network.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	return answer{response.StatusCode, text}, nil
}

// refusal is the error of an answer that is one. Secrets are those that were sent.
func (a answer) refusal(asked string, secrets ...string) error {
	e := &ServerError{Asked: asked, Status: a.status}
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(a.body, &said) == nil {
		e.Code, e.Description = words(said.Error, maxCode, secrets...), words(said.Description, maxDescription, secrets...)
	}
	switch {
	case e.Code == "invalid_grant":
		e.kind = ErrGrantEnded
	case e.Code == "invalid_client", e.Code == "unauthorized_client", a.status == http.StatusUnauthorized:
		e.kind = ErrClientUnknown
	case a.status >= 500, a.status == http.StatusTooManyRequests, a.status == http.StatusRequestTimeout:
		e.kind = ErrUnavailable
	}
	return e
}

// endpoint reads an address that a document names. Where the document was had by
// HTTPS, so must what it names be.
func endpoint(network *netguard.Client, what, text string, secure bool) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Fragment != "" {
		return fmt.Errorf("the %s is not an absolute URL", what)
	}
	if secure && u.Scheme != "https" {
		return fmt.Errorf("the %s at %s is without TLS, and what leads to it is not: that is refused", what, netguard.Origin(u))
	}
	if err := network.Check(u); err != nil {
		return fmt.Errorf("the %s: %w", what, err)
	}
	return nil
}

// unavailable says that a server could not be asked.
func unavailable(err error) error {
	var refused *netguard.RefusedError
	if errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
