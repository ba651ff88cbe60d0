package durability

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// A source that fails, lists one tool twice, and is well again: the timeline and the
// agent are told once of each change, and a worker that begins anew tells nothing twice.
func TestChangesOfSourcesAreTold(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.start.Agent = "distant"
	b.file("down", "")
	b.wait(b.send("say:a"))
	b.wait(b.send("say:b"))
	b.restart()
	b.wait(b.send("say:c"))
	b.file("twin", "")
	b.must(os.Remove(filepath.Join(b.worker.Dir, "down")))
	b.until("the timeline tells of the sources once more", func() bool {
		time.Sleep(time.Second) // the source is not asked again at once
		b.wait(b.send("far__read:x|say:d"))
		return len(b.sources()) > 1
	})
	b.wait(b.send("far__read:x|say:e"))
	parts := b.sources()
	if len(parts) != 2 {
		t.Fatalf("the timeline tells of sources %d times: %+v", len(parts), parts)
	}
	first, second := parts[0], parts[1]
	if s := first.Sources; first.Turn != "t1" || first.Status != contract.PartFailed || len(s) != 1 || s[0].Source != "far" || s[0].Unread != "connection refused" {
		t.Errorf("first it tells %+v", first)
	}
	if s := second.Sources; second.Status != contract.PartDone || len(s) != 1 || !s[0].Recovered || s[0].LeftOut != 1 ||
		!strings.Contains(s[0].Reasons[0], `tool id "far.read" is used twice`) {
		t.Errorf("then it tells %+v", second)
	}
	notes, err := os.ReadFile(filepath.Join(b.worker.Dir, "notes"))
	b.must(err)
	if lines := strings.Split(strings.TrimSpace(string(notes)), "\n"); len(lines) != 2 ||
		!strings.Contains(lines[0], "far cannot be read now") || !strings.Contains(lines[1], "far can be read again") {
		t.Errorf("the agent was told %q", lines)
	}
	b.replay("sources_told", "")
}

// sources are the parts of the timeline that tell of sources of tools.
func (b *bed) sources() []contract.Part {
	b.t.Helper()
	return slices.DeleteFunc(b.parts(), func(p contract.Part) bool { return p.Kind != contract.KindSources })
}
