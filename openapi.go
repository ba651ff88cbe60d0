package heddle

import "github.com/heddle-dev/heddle/providers/openapi"

// The parts of [OpenAPI]. Credentials and secrets are those of the package
// providers/openapi.
type (
	// OpenAPIOptions say what the tools of a service are made of.
	OpenAPIOptions = openapi.Options
	// OpenAPISpec says where a specification is: a file, a URL or bytes.
	OpenAPISpec = openapi.Location
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
//	})
//
// GET, HEAD and OPTIONS are reads, all else is a write. See what becomes of a
// specification with: starter openapi inspect billing.yaml
func OpenAPI(options OpenAPIOptions) Option {
	source, err := openapi.New(options)
	return optionFunc(func(p *parts) {
		if err != nil {
			p.problem(err)
			return
		}
		p.sources = append(p.sources, source)
	})
}
