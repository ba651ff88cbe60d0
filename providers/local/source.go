package local

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// Source holds tools of Go functions.
type Source struct {
	tools []catalog.Tool
}

var _ catalog.Lasting = (*Source)(nil)

// New makes a source of the tools, such as those of [Func].
func New(tools ...catalog.Tool) *Source { return &Source{tools: slices.Clone(tools)} }

// Name names the source in errors.
func (*Source) Name() string { return "local" }

// Freshness is for ever: the tools are those that the source was made of.
func (*Source) Freshness() time.Duration { return math.MaxInt64 }

// Tools lists the tools in the order in which they were given.
func (s *Source) Tools(context.Context) ([]catalog.Tool, error) { return s.tools, nil }
