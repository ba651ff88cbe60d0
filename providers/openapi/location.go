package openapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/netguard"
)

const (
	// MaxSpec bounds a specification with all the files that it refers to, in
	// bytes.
	MaxSpec = 64 << 20
	// maxFiles bounds the files that a specification refers to.
	maxFiles = 200
)

// isURL reports whether a location is one on the network.
func isURL(location string) bool {
	return strings.HasPrefix(location, "https://") || strings.HasPrefix(location, "http://")
}

// join resolves the file part of a reference against the file that holds it.
func join(base, file string) (string, error) {
	switch {
	case isURL(file):
		return file, nil
	case base == "":
		return "", fmt.Errorf("refers to the file %q, and a specification given as bytes has no files beside it", file)
	case !isURL(base):
		name, err := url.PathUnescape(file)
		if err != nil || path.IsAbs(name) || strings.Contains(name, ":") {
			return "", fmt.Errorf("refers to %q, which is not a relative path", file)
		}
		return path.Join(path.Dir(base), name), nil
	}
	b, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	u, err := b.Parse(file)
	if err != nil {
		return "", fmt.Errorf("refers to %q, which is no URL", file)
	}
	return u.String(), nil
}

// errUnchanged says that a remote file is as it was.
var errUnchanged = errors.New("unchanged")

// freshness is what a server says of a file, to be asked again with.
type freshness struct{ etag, modified string }

// reader reads the files of one specification, within its bounds.
type reader struct {
	client *netguard.Client
	// root is the folder that files must lie in; origin what URLs must share.
	root   *os.Root
	origin string
	left   int64
}

// close closes the folder.
func (r *reader) close() {
	if r.root != nil {
		_ = r.root.Close()
	}
}

// read returns a file as JSON. A location is a path relative to the folder, or a
// URL.
func (r *reader) read(ctx context.Context, location string, known freshness) ([]byte, freshness, error) {
	var (
		text  []byte
		fresh freshness
		err   error
	)
	if isURL(location) {
		text, fresh, err = r.fetch(ctx, location, known)
	} else {
		text, err = r.file(location)
	}
	if err != nil {
		return nil, fresh, err
	}
	r.left -= int64(len(text))
	text, err = toJSON(text)
	return text, fresh, err
}

func (r *reader) file(name string) ([]byte, error) {
	if r.root == nil {
		return nil, errors.New("a specification from elsewhere must not refer to local files")
	}
	f, err := r.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return r.limited(f)
}

func (r *reader) limited(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, r.left+1))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if int64(len(text)) > r.left {
		return nil, fmt.Errorf("is too long: a specification has at most %d bytes with all that it refers to", MaxSpec)
	}
	return text, nil
}

// fetch gets a remote file, with no credentials.
func (r *reader) fetch(ctx context.Context, location string, known freshness) (_ []byte, fresh freshness, _ error) {
	u, err := url.Parse(location)
	if err != nil {
		return nil, fresh, fmt.Errorf("%q is no URL", location)
	}
	if r.client == nil || netguard.Origin(u) != r.origin {
		return nil, fresh, fmt.Errorf("%s is at another place than the specification; only files beside it are read", netguard.Origin(u))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, location, nil)
	if err != nil {
		return nil, fresh, err
	}
	req.Header.Set("Accept", "application/json, application/yaml, */*;q=0.5")
	if known.etag != "" {
		req.Header.Set("If-None-Match", known.etag)
	}
	if known.modified != "" {
		req.Header.Set("If-Modified-Since", known.modified)
	}
	response, err := r.client.Do(req)
	if err != nil {
		return nil, fresh, err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotModified && known != freshness{}:
		return nil, known, errUnchanged
	case response.StatusCode != http.StatusOK:
		return nil, fresh, fmt.Errorf("the server answers %s", response.Status)
	}
	text, err := r.limited(response.Body)
	return text, freshness{response.Header.Get("ETag"), response.Header.Get("Last-Modified")}, err
}

// toJSON takes JSON as it is and turns YAML into it.
func toJSON(text []byte) ([]byte, error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF")))
	switch {
	case len(text) == 0:
		return nil, errors.New("is empty")
	case text[0] != '{' && text[0] != '[':
		return yamlToJSON(text)
	case valid(text):
		return text, nil
	}
	converted, err := yamlToJSON(text) // YAML's own braces
	if err != nil {
		return nil, fmt.Errorf("is neither JSON nor YAML: %w", err)
	}
	return converted, nil
}
