package local

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/catalog"
)

// Source holds tools of Go functions.
type Source struct {
	tools []catalog.Tool
}

var _ catalog.Source = (*Source)(nil)

// New makes a source of the tools, such as those of [Func].
func New(tools ...catalog.Tool) *Source { return &Source{tools: slices.Clone(tools)} }

// Name names the source in errors.
func (*Source) Name() string { return "local" }

// Tools lists the tools in the order in which they were given.
func (s *Source) Tools(context.Context) ([]catalog.Tool, error) { return s.tools, nil }
