package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/internal/netguard"
)

// Location says where a specification is. One of File, URL and Bytes is set.
type Location struct {
	// File is a path. Root is the folder that all files it refers to must lie in.
	// Empty: the folder of the file.
	File string
	Root string
	// URL is fetched by the rules of [netguard], without credentials; the files it
	// refers to must share its origin.
	URL string
	// Bytes are the specification itself, which refers to no other file.
	Bytes []byte
}

// String names the location in errors.
func (l Location) String() string {
	switch {
	case l.File != "":
		return l.File
	case l.URL != "":
		return l.URL
	}
	return "the given bytes"
}

// Spec is a specification that has been read: its operations are listed, and
// each is looked at when it is described or called. It holds no credentials and
// does not change, so that any number of sources share it.
type Spec struct {
	// Title is that of the specification.
	Title string
	// Version is that of OpenAPI, such as 3.1.0, or 2.0 for Swagger.
	Version string
	// Loaded is how long reading and listing took.
	Loaded time.Duration

	home      *document
	documents map[string]*document
	missing   map[string]error
	dialect   dialect
	fresh     freshness
	security  place
	servers   place
	// operations are ordered as in the specification.
	operations []*operation
	// byKey finds an operation by its method and path.
	byKey   map[string]int
	skipped []Note
	// lost counts the operations among what was skipped.
	lost  int
	cache cache
}

// Load reads a specification and lists its operations. A client is needed for
// URLs alone. An error means that the whole of it cannot be used; what is wrong
// with a part is in the [Report].
func Load(ctx context.Context, from Location, client *netguard.Client) (*Spec, error) {
	s, err := load(ctx, from, client, freshness{})
	if err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", from, err)
	}
	return s, nil
}

func load(ctx context.Context, from Location, client *netguard.Client, known freshness) (*Spec, error) {
	began := time.Now()
	r := &reader{client: client, left: MaxSpec}
	defer r.close()
	s := &Spec{documents: map[string]*document{}, missing: map[string]error{}, byKey: map[string]int{}}
	location, err := r.aim(from)
	if err != nil {
		return nil, err
	}
	var text []byte
	if from.Bytes != nil {
		if int64(len(from.Bytes)) > r.left {
			return nil, fmt.Errorf("is longer than %d bytes", MaxSpec)
		}
		text, err = toJSON(from.Bytes)
	} else {
		text, s.fresh, err = r.read(ctx, location, known)
	}
	if err != nil {
		return nil, err
	}
	s.home = &document{location: location, root: text}
	s.documents[location] = s.home
	if err := s.index(); err != nil {
		return nil, err
	}
	if err := s.loadReferences(ctx, r); err != nil {
		return nil, err
	}
	s.list()
	s.Loaded = time.Since(began)
	return s, nil
}

// aim binds a reader to where the specification is, and returns its location.
func (r *reader) aim(from Location) (string, error) {
	switch {
	case from.File != "":
		folder := from.Root
		if folder == "" {
			folder = filepath.Dir(from.File)
		}
		name, err := filepath.Rel(folder, from.File)
		if err != nil {
			return "", err
		}
		if r.root, err = os.OpenRoot(folder); err != nil {
			return "", fmt.Errorf("cannot be read: %w", err)
		}
		return filepath.ToSlash(name), nil
	case from.URL != "":
		u, err := url.Parse(from.URL)
		if err != nil || !isURL(from.URL) {
			return "", fmt.Errorf("%q is no https URL", from.URL)
		}
		r.origin = netguard.Origin(u)
		u.Fragment = ""
		return u.String(), nil
	case from.Bytes != nil:
		return "", nil
	}
	return "", fmt.Errorf("no file, URL or bytes are given")
}

// loadReferences reads all files that the specification refers to, and what those
// refer to, so that nothing is read later. A file that cannot be read costs what
// refers to it.
func (s *Spec) loadReferences(ctx context.Context, r *reader) error {
	queue := []*document{s.home}
	for len(queue) > 0 {
		doc := queue[0]
		queue = queue[1:]
		for _, file := range fileReferences(doc.root) {
			location, err := join(doc.location, file)
			if err != nil || s.documents[location] != nil || s.missing[location] != nil {
				continue // resolving it says why
			}
			if len(s.documents)+len(s.missing) > maxFiles {
				s.missing[location] = fmt.Errorf("a specification refers to at most %d files", maxFiles)
				continue
			}
			text, _, err := r.read(ctx, location, freshness{})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				s.missing[location] = fmt.Errorf("%s: %w", location, err)
				continue
			}
			s.documents[location] = &document{location: location, root: text}
			queue = append(queue, s.documents[location])
		}
	}
	return nil
}

var refKey = []byte(`"$ref"`)

// fileReferences finds the files that a text refers to. It takes each "$ref" for
// a reference, also one in an example.
func fileReferences(text []byte) []string {
	var files []string
	seen := map[string]bool{}
	for {
		i := bytes.Index(text, refKey)
		if i < 0 {
			return files
		}
		text = text[i+len(refKey):]
		j := skipSpace(text, 0)
		if j >= len(text) || text[j] != ':' {
			continue
		}
		if j = skipSpace(text, j+1); j >= len(text) || text[j] != '"' {
			continue
		}
		file, _, _ := strings.Cut(unquote(text[j:skipString(text, j)]), "#")
		if file != "" && !seen[file] {
			seen[file] = true
			files = append(files, file)
		}
	}
}

// valid reports whether a text is JSON that can be taken apart without a further
// check.
func valid(text []byte) bool { return json.Valid(text) && utf8.Valid(text) }
