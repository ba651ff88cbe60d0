package workflows

import (
	"fmt"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// telling is what a thread remembers to have told of sources of tools.
type telling struct {
	told []activities.SourceTold
}

// tellSources tells the timeline, once, that sources of tools are no longer as they
// were.
func (t *thread) tellSources(turn *turn, step string, states []contract.SourceState) {
	if len(states) == 0 {
		return
	}
	t.told = activities.Tell(t.told, states)
	var unread, recovered, others int
	for _, state := range states {
		switch {
		case state.Unread != "":
			unread++
		case state.Recovered:
			recovered++
		default:
			others++
		}
	}
	status, title := contract.PartDone, sources(others)+" with other tools that cannot be used than before"
	switch {
	case unread > 0:
		status, title = contract.PartFailed, sources(unread)+" cannot be read"
	case recovered > 0:
		title = sources(recovered) + " can be read again"
	}
	t.put(part(step+"-sources", contract.KindSources, status, title).in(turn).with(func(p *contract.Part) {
		p.Sources = states
	}))
}

// sources is a number of them in words.
func sources(n int) string {
	if n == 1 {
		return "1 source of tools"
	}
	return fmt.Sprintf("%d sources of tools", n)
}
