package heddle

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/providers/openapi"
	"github.com/heddle-dev/heddle/signals/contract"
)

// The parts of [OpenAPI].
type (
	// OpenAPIOptions say what the tools of a service are made of.
	OpenAPIOptions = openapi.Options
	// OpenAPISpec says where a specification is: a file, a URL or bytes.
	OpenAPISpec = openapi.Location
	// OpenAPILogin says which secrets authenticate.
	OpenAPILogin = openapi.Login
	// OpenAPIScheme is how calls authenticate where the specification says nothing
	// of it.
	OpenAPIScheme = openapi.Scheme
)

// OpenAPI adds the operations of an HTTP service as tools, from its OpenAPI
// specification (3.0, 3.1 or Swagger 2, as JSON or YAML):
//
//	heddle.OpenAPI(heddle.OpenAPIOptions{
//		Namespace: "billing",
//		Spec:      heddle.OpenAPISpec{File: "billing.yaml"},
//		Logins:    map[string]heddle.OpenAPILogin{"*": {Token: "billing.token"}},
//	})
//
// GET, HEAD and OPTIONS are reads, all else is a write. How a write is undone is said
// with [UndoBy], how to find out what became of one with [LookUp]. See what becomes of a
// specification with: starter openapi inspect billing.yaml
func OpenAPI(options OpenAPIOptions) Option {
	return optionFunc(func(p *parts) {
		if err := p.addOpenAPI(options); err != nil {
			p.problem(err)
		}
	})
}

func (p *parts) addOpenAPI(options OpenAPIOptions) error {
	if options.Specs == nil {
		options.Specs = &p.specs
	}
	if options.Files == nil {
		options.Files = &p.files
	}
	source, err := openapi.New(options)
	if err != nil {
		return err
	}
	p.sources = append(p.sources, source.Lazy())
	return nil
}

// configuredOpenAPI adds the services of the configuration file.
func (p *parts) configuredOpenAPI(c *config.Config) {
	for _, o := range c.OpenAPI {
		logins := map[string]OpenAPILogin{}
		for scheme, login := range o.Logins {
			logins[scheme] = OpenAPILogin(login)
		}
		err := p.addOpenAPI(OpenAPIOptions{
			Namespace: o.Namespace, Spec: OpenAPISpec{File: o.File, Root: o.Root, URL: o.URL},
			Server: o.Server, Logins: logins, Scheme: (*OpenAPIScheme)(o.Scheme), Origins: o.Origins, Allow: o.Allow,
			Protect: o.Protect, Reads: o.Reads, HonoursKeys: o.HonoursKeys, Timeout: o.Timeout,
		})
		if err != nil {
			p.problem(c.Problem("openapi."+o.Namespace, err.Error()))
		}
		p.declareOf(c, "openapi."+o.Namespace, o.Lookups, o.Undos)
	}
}

// files are what tools make and take, in the store of large values. That is opened
// when a worker runs; until then there are none.
type files struct {
	store atomic.Pointer[activities.Blobs]
}

func (f *files) open(store activities.Blobs) { f.store.Store(&store) }

// Put stores a file.
func (f *files) Put(ctx context.Context, value []byte) (contract.Ref, error) {
	store := f.store.Load()
	if store == nil {
		return contract.Ref{}, errNoFiles
	}
	return (*store).Put(ctx, value)
}

// Get reads a file.
func (f *files) Get(ctx context.Context, ref contract.Ref) ([]byte, error) {
	store := f.store.Load()
	if store == nil {
		return nil, errNoFiles
	}
	return (*store).Get(ctx, ref)
}

var errNoFiles = errors.New("the store of files is not open")
