package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/child"
	"github.com/heddle-dev/heddle/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m, nil) }

// runBench builds the bench with the tags and runs it. It returns the verdict, and
// whether the bench was content.
func runBench(t *testing.T, tags string, flags ...string) (v verdict, content bool) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes more than a minute")
	}
	if _, err := child.FindTemporal(); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "chaos")
	if out, err := exec.Command("go", "build", "-tags", tags, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build -tags %q: %v\n%s", tags, err, out)
	}
	var told strings.Builder
	bench := exec.Command(binary, append(flags, "-dir", t.TempDir())...)
	bench.Stderr = &told
	out, err := bench.Output()
	t.Logf("%s%s", &told, out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if jsonErr := json.Unmarshal([]byte(lines[len(lines)-1]), &v); jsonErr != nil {
		t.Fatalf("the last line is no JSON: %v (%v)", jsonErr, err)
	}
	return v, err == nil
}

// Nothing is doubled and nothing is lost while processes are killed.
func TestChaos(t *testing.T) {
	v, content := runBench(t, "", "-minutes", "0.6", "-threads", "12", "-pace", "1500ms", "-kills", "3")
	if !content {
		t.Errorf("a promise is broken: %+v", v)
	}
	if v.Threads != 12 || v.Writes < 30 || v.Kills < 3 {
		t.Errorf("so little has happened that it shows nothing: %+v", v)
	}
}

// The bench is known to be able to fail: where writes are retried as any activity,
// it finds effects that were doubled.
func TestNaiveWritesAreDoubled(t *testing.T) {
	v, content := runBench(t, "naive", "-minutes", "0.3", "-threads", "12", "-pace", "5s")
	if content || v.Doubled == 0 {
		t.Errorf("nothing was found to be doubled: %+v", v)
	}
}

// A seed makes the same stories, and each of them has something to do.
func TestStoriesFollowFromTheSeed(t *testing.T) {
	made := func(seed uint64) string {
		stories, err := writeStories(seed, 20, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, s := range stories {
			for _, c := range s.Turns {
				for _, intent := range c.Writes {
					if seen[s.Thread+intent] {
						t.Errorf("%s has the intent %s twice", s.Thread, intent)
					}
					seen[s.Thread+intent] = true
				}
			}
		}
		if len(seen) < 60 {
			t.Errorf("20 stories have %d writes", len(seen))
		}
		text, err := json.Marshal(stories)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if first := made(7); first != made(7) || first == made(8) {
		t.Error("the stories do not follow from the seed")
	}
}
