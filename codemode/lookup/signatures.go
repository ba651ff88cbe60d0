package lookup

import (
	"context"

	"github.com/heddle-dev/heddle/catalog"
)

// maxSignatureSummary bounds the description beside a signature, in bytes.
const maxSignatureSummary = 100

// Signatures are those of the tools of the scope whose ids match one of the globs:
// a line of TypeScript each with the beginning of the description, in the order of
// the ids, and at most limit. It says how many tools match. A tool that cannot be
// described now has no line.
func (l *Lookup) Signatures(ctx context.Context, scope catalog.Scope, globs []string, limit int) (lines []string, total int) {
	listed, err := l.broker.List(ctx, scope)
	if err != nil {
		return nil, 0
	}
	wanted := catalog.Scope{Tools: globs}
	for _, tool := range listed {
		if !wanted.Allows(tool.ID) {
			continue
		}
		total++
		if len(lines) == limit {
			continue
		}
		d, err := l.broker.Lookup(ctx, scope, tool.ID)
		if err != nil {
			continue
		}
		line := render(d).Signature
		if summary := beginning(d.Description, maxSignatureSummary); summary != "" {
			line += " // " + summary
		}
		lines = append(lines, line)
	}
	return lines, total
}
