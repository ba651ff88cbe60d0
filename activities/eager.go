package activities

import (
	"context"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

const (
	// maxEager bounds the tools that the instructions name.
	maxEager = 30
	// maxEagerBytes bounds what they say of them together.
	maxEagerBytes = 8 << 10
)

// eager is what the instructions say of tools that an agent is likely to need:
// their signatures, which saves the model a search. Where the model is shown all
// tools there is nothing to say.
func (a *Activities) eager(ctx context.Context, agent Agent, scope catalog.Scope, exposure Exposure) string {
	if len(agent.Eager) == 0 || exposure == ExposureDirect {
		return ""
	}
	lines, total := a.Lookup.Signatures(ctx, scope, agent.Eager, maxEager)
	var text strings.Builder
	text.WriteString("\n\nTools at hand:")
	named := 0
	for _, line := range lines {
		if text.Len()+len(line) > maxEagerBytes {
			break
		}
		text.WriteString("\n" + line)
		named++
	}
	switch {
	case total == 0:
		return ""
	case named < total:
		fmt.Fprintf(&text, "\nand %d more, which a search finds.", total-named)
	}
	return text.String()
}
