package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Options say what a source is made of. Namespace and Spec are required.
type Options struct {
	// Namespace begins the id of each tool, such as github.
	Namespace string
	// Spec is where the specification is.
	Spec Location
	// Specs keeps specifications that sources share. Nil: the source's own.
	Specs *Specs
	// Server is the address that the operations are called at. Empty: the first
	// server of the specification. What a path or an operation says of its own
	// server holds all the same.
	Server string
	// Logins say what authenticates, by the names of the specification's security
	// schemes; that of "*" is for all that are not named. Schemes without one cannot
	// be used.
	Logins map[string]Login
	// Credentials gives the secrets in place of Logins, for an application that keeps
	// them in its own way. Nil, and no Logins: calls that need one fail.
	Credentials Credentials
	// Scheme is how calls authenticate of which the specification says nothing.
	Scheme *Scheme
	// Origins may see credentials beside that of the server, such as
	// https://uploads.example.com.
	Origins []string
	// Protect names what is a write that each call of needs approval, whatever its
	// method: each a glob over tool ids, or a method and a path, such as
	// DELETE /admin/*. The method may be *, and the path end in it. Of the two, the
	// path holds whatever the specification calls its operations.
	Protect []string
	// Reads are operations that only read though their method does not say so,
	// each as method and path, such as "POST /search". No names and no globs: the
	// specification must not be able to move them.
	Reads []string
	// HonoursKeys names writes, as Protect does, whose service honours the header
	// Idempotency-Key: two requests with one key have one effect. Only then is a write
	// whose outcome is unknown sent again, under the same key.
	HonoursKeys []string
	// Timeout bounds one call. 0: [catalog.DefaultTimeout].
	Timeout time.Duration
	// Allow names hosts that may be reached by plain HTTP and at private addresses,
	// each as host or host:port. None others may.
	Allow []string
	// MaxBody bounds an answer after decompression, in bytes. 0: 32 MiB.
	MaxBody int64
	// UserAgent is sent with each request. Empty: heddle.
	UserAgent string
	// Files keeps binary answers and gives files to send. Nil: they go in base64.
	Files Store
}

// Source is the tools of one service.
type Source struct {
	options Options
	client  *netguard.Client
	// loader reads the specification, which may be longer than an answer.
	loader  *netguard.Client
	scheme  *scheme
	origins map[string]bool
	tokens  tokens
	entry   *specEntry
	// secrets are the references to secrets that the tools declare.
	secrets []string

	mu   sync.Mutex
	spec *Spec
	// home is the address that the operations are called at. Once known it stays:
	// a specification that changes does not take the credentials elsewhere.
	home  *url.URL
	tools []catalog.Tool
}

// New returns the source. It reads nothing yet; the error names the option that
// cannot be.
func New(o Options) (*Source, error) {
	s := &Source{options: o, origins: map[string]bool{}}
	if err := CheckNamespace(o.Namespace); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	fail := func(err error) (*Source, error) { return nil, fmt.Errorf("openapi: %s: %w", o.Namespace, err) }
	if o.Spec.File == "" && o.Spec.URL == "" && o.Spec.Bytes == nil {
		return fail(errors.New("no specification is given: want a file, a URL or bytes"))
	}
	if o.Timeout < 0 || o.Timeout > catalog.MaxTimeout {
		return fail(fmt.Errorf("the timeout is %s, want 0 to %s", o.Timeout, catalog.MaxTimeout))
	}
	network := netguard.Options{Allow: o.Allow, MaxBody: o.MaxBody, Timeout: o.Timeout, UserAgent: o.UserAgent}
	if network.Timeout == 0 {
		network.Timeout = catalog.DefaultTimeout
	}
	var err error
	if s.client, err = netguard.New(network); err != nil {
		return fail(err)
	}
	network.MaxBody = MaxSpec
	if s.loader, err = netguard.New(network); err != nil {
		return fail(err)
	}
	if o.Scheme != nil {
		read, err := o.Scheme.scheme()
		if err != nil {
			return fail(err)
		}
		s.scheme = &read
	}
	if err := s.readOrigins(); err != nil {
		return fail(err)
	}
	for _, what := range o.Protect {
		if err := checkProtect(what); err != nil {
			return fail(fmt.Errorf("protect: %w", err))
		}
	}
	for _, what := range o.HonoursKeys {
		if err := checkProtect(what); err != nil {
			return fail(fmt.Errorf("honours keys: %w", err))
		}
	}
	if s.secrets, err = checkLogins(o); err != nil {
		return fail(err)
	}
	for _, name := range o.Reads {
		if method, path, ok := strings.Cut(name, " "); !ok || method != strings.ToUpper(method) || !strings.HasPrefix(path, "/") {
			return fail(fmt.Errorf("reads: %q: want method and path, such as POST /search", name))
		}
	}
	if s.options.Specs == nil {
		s.options.Specs = &Specs{}
	}
	s.entry = s.options.Specs.entry(o.Spec)
	return s, nil
}

// maxNamespace bounds a namespace, so that there is room for the names.
const maxNamespace = 24

// CheckNamespace says what is wrong with a namespace.
func CheckNamespace(namespace string) error {
	if catalog.CheckID(namespace+".x") != nil || strings.Contains(namespace, ".") || len(namespace) > maxNamespace {
		return fmt.Errorf("namespace %q: want a letter, then letters, digits, _ and -, %d characters at most", namespace, maxNamespace)
	}
	return nil
}

// readOrigins reads the server and the origins that may see credentials.
func (s *Source) readOrigins() error {
	if s.options.Server != "" {
		u, err := url.Parse(s.options.Server)
		if err != nil || !isURL(s.options.Server) || u.Host == "" {
			return fmt.Errorf("server %q: want an https URL", s.options.Server)
		}
		if err := s.client.Check(u); err != nil {
			return fmt.Errorf("server: %w", err)
		}
		s.home = u
	}
	for _, origin := range s.options.Origins {
		u, err := url.Parse(origin)
		if err != nil || !isURL(origin) || strings.Trim(u.Path, "/") != "" {
			return fmt.Errorf("origin %q: want scheme and host, such as https://uploads.example.com", origin)
		}
		s.origins[netguard.Origin(u)] = true
	}
	return nil
}

// Close closes the connections that are not in use.
func (s *Source) Close() {
	s.client.Close()
	s.loader.Close()
}

// Lazy returns the source for a catalog that asks nothing elsewhere before tools of
// the source are wanted: a specification that has to be fetched is left for then.
func (s *Source) Lazy() catalog.Source {
	if s.options.Spec.URL == "" {
		return s
	}
	return lazy{s}
}

// lazy is a source whose specification has to be fetched.
type lazy struct{ *Source }

var _ catalog.Remote = lazy{}

// Namespace begins the ids of the tools.
func (l lazy) Namespace() string { return l.options.Namespace }

// Name is the namespace.
func (s *Source) Name() string { return s.options.Namespace }

// Tools lists the operations, deprecated ones last. A remote specification is
// asked for anew from time to time; while it cannot be read the last one holds.
func (s *Source) Tools(ctx context.Context) ([]catalog.Tool, error) {
	spec, err := s.options.Specs.get(ctx, s.entry, s.options.Spec, s.loader)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if spec == s.spec {
		return s.tools, nil
	}
	if s.home == nil {
		if root, ok := spec.rootServer(&notes{home: spec.home}); ok {
			if u, err := spec.absolute(root, nil); err == nil {
				s.home = u
			}
		}
	}
	if missing := s.unknownReads(spec); missing != "" {
		return nil, fmt.Errorf("openapi: %s: reads: the specification has no operation %q", s.options.Namespace, missing)
	}
	s.spec, s.tools = spec, s.list(spec)
	return s.tools, nil
}

// Remembered is what Tools would return while the specification that was read holds.
func (s *Source) Remembered() ([]catalog.Tool, bool) {
	spec := s.options.Specs.remembered(s.entry, s.options.Spec)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools, spec != nil && spec == s.spec
}

var _ catalog.Remembering = (*Source)(nil)

// Shortfall says why the specification is the one that was read before, if it could not
// be read anew.
func (s *Source) Shortfall(catalog.Scope) (leftOut []string, stale error) {
	return nil, s.entry.stale()
}

func (s *Source) unknownReads(spec *Spec) string {
	for _, name := range s.options.Reads {
		if _, ok := spec.byKey[name]; !ok {
			return name
		}
	}
	return ""
}

// list makes the tools of a specification.
func (s *Source) list(spec *Spec) []catalog.Tool {
	ids := nameAll(s.options.Namespace, spec.operations)
	tools := make([]catalog.Tool, 0, len(ids))
	var old []catalog.Tool
	for i, o := range spec.operations {
		switch {
		case ids[i] == "":
		case o.deprecated:
			old = append(old, s.tool(spec, o, ids[i]))
		default:
			tools = append(tools, s.tool(spec, o, ids[i]))
		}
	}
	return append(tools, old...)
}

func (s *Source) tool(spec *Spec, o *operation, id string) catalog.Tool {
	d := catalog.Descriptor{
		ID: id, Title: cut(strings.TrimSpace(o.summary), 200), Description: describe(o), Operation: catalog.Write,
		Timeout: s.options.Timeout, Source: o.key(), Trust: catalog.TrustRemote, Secrets: s.secrets,
	}
	if o.deprecated {
		d.Tags = []string{"deprecated"}
	}
	if o.reads() || slices.Contains(s.options.Reads, o.key()) {
		d.Operation = catalog.Read
	}
	for _, what := range s.options.Protect {
		if protects(what, id, o) {
			d.Operation, d.Approval = catalog.Write, catalog.ApprovalAlways
		}
	}
	d.Destructive = d.Operation == catalog.Write && o.method == "DELETE"
	write := d.Operation == catalog.Write
	d.HonoursKeys = write && slices.ContainsFunc(s.options.HonoursKeys, func(what string) bool { return protects(what, id, o) })
	return catalog.Tool{
		Descriptor: d,
		Schemas: func() (input, output json.RawMessage, _ error) {
			c, err := spec.compile(o)
			if err != nil {
				return nil, nil, err
			}
			return c.input, c.output, nil
		},
		Sketch:  func() (input, output json.RawMessage) { return spec.sketch(o) },
		Prepare: func(input json.RawMessage) (json.RawMessage, error) { return prepare(spec, o, input) },
		Preview: func(input json.RawMessage) string { return s.preview(spec, o, input) },
		Call: func(ctx context.Context, call catalog.Call) (json.RawMessage, error) {
			return s.call(ctx, spec, o, write, call)
		},
	}
}

// checkProtect says what is wrong with an item of [Options.Protect].
func checkProtect(what string) error {
	method, path, ok := strings.Cut(what, " ")
	switch {
	case !ok:
		return catalog.CheckGlob(what)
	case method != strings.ToUpper(method), !strings.HasPrefix(path, "/"), strings.Contains(strings.TrimSuffix(path, "*"), "*"):
		return fmt.Errorf("%q: want a glob over tool ids, or a method and a path that may end in *, such as DELETE /admin/*", what)
	}
	return nil
}

func protects(what, id string, o *operation) bool {
	method, path, ok := strings.Cut(what, " ")
	if !ok {
		return catalog.Scope{Tools: []string{what}}.Allows(id)
	}
	if method != "*" && method != o.method {
		return false
	}
	if prefix, open := strings.CutSuffix(path, "*"); open {
		return strings.HasPrefix(o.path, prefix)
	}
	return path == o.path
}

// maxDescription bounds the description of a tool, in bytes.
const maxDescription = 1500

func describe(o *operation) string {
	text := strings.TrimSpace(o.summary)
	if more := strings.TrimSpace(o.description); more != "" && more != text {
		text = strings.TrimSpace(text + "\n\n" + more)
	}
	if text == "" {
		text = o.key()
	}
	if o.deprecated {
		text = "Deprecated. " + text
	}
	return cut(strings.ToValidUTF8(text, "\uFFFD"), maxDescription)
}

// nowhere stands for the server while an input is only tried.
var nowhere = &url.URL{Scheme: "https", Host: "nowhere.invalid"}

// prepare refuses an input of which no request can be made, so that nobody is
// asked to approve it.
func prepare(spec *Spec, o *operation, input json.RawMessage) (json.RawMessage, error) {
	c, err := spec.compile(o)
	if err != nil {
		return nil, err
	}
	if _, err := c.build(input, nowhere, func(json.RawMessage) ([]byte, error) { return nil, nil }); err != nil {
		return nil, err
	}
	if c.pager != nil {
		if err := c.pager.check(input); err != nil {
			return nil, err
		}
	}
	return input, c.checkBody(input)
}

// checkBody checks a body against the schema of the media type that it will be
// sent in, where there are several.
func (c *compiled) checkBody(input json.RawMessage) error {
	given := objectOf(input)
	text, present := given["body"]
	if !present || len(c.bodies) < 2 {
		return nil
	}
	b, err := c.chosen(given.text("content_type"))
	if err != nil {
		return err
	}
	schema, ok := b.schema.(map[string]any)
	if !ok {
		return nil
	}
	root := map[string]any{}
	if defs := objectOf(c.input)["$defs"]; defs != nil {
		root["$defs"] = defs
	}
	for key, value := range schema {
		root[key] = value
	}
	violations, err := catalog.Validate(must(encode(root)), text)
	if err != nil || len(violations) == 0 {
		return nil // the broker has looked at the whole
	}
	v := violations[0]
	return invalid("/body"+v.Pointer, "%s (as %s)", v.Message, b.mediaType)
}

// where returns the address of an operation.
func (s *Source) where(spec *Spec, c *compiled) (*url.URL, error) {
	s.mu.Lock()
	home := s.home
	s.mu.Unlock()
	if !c.server.own {
		if home == nil {
			return nil, errNoServer
		}
		return home, nil
	}
	return spec.absolute(c.server.url, home)
}

// trusted reports whether an origin may see credentials.
func (s *Source) trusted(origin string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.home != nil && netguard.Origin(s.home) == origin || s.origins[origin]
}

// reader reads files that an input refers to.
func (s *Source) reader(ctx context.Context) fileReader {
	if s.options.Files == nil {
		return nil
	}
	return func(text json.RawMessage) ([]byte, error) {
		var ref contract.Ref
		if err := json.Unmarshal(text, &ref); err != nil {
			return nil, err
		}
		return s.options.Files.Get(ctx, ref)
	}
}
