package heddle_test

import (
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/models/scripted"
)

var (
	fence       = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	inlineCode  = regexp.MustCompile("`[^`\n]+`")
	link        = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading     = regexp.MustCompile(`(?m)^#+ (.+)$`)
	makeTarget  = regexp.MustCompile(`(?m)^([a-z-]+):.*##`)
	makeCommand = regexp.MustCompile(`\bmake ([a-z-]+)`)
	// absoluteHome finds a path into somebody's home folder, as a tool that wrote
	// down where it ran leaves it.
	absoluteHome = regexp.MustCompile(`(/home/[a-z]|/Users/[A-Za-z]|/[r]oot/)[\w.-]*`)
)

// TestReadmeBeginsWithItsTwoCommands keeps the promise of a first minute: the
// first commands that a newcomer sees run the demo and the tests.
func TestReadmeBeginsWithItsTwoCommands(t *testing.T) {
	for _, block := range fence.FindAllStringSubmatch(readText(t, "README.md"), -1) {
		if block[1] != "sh" {
			continue
		}
		var commands []string
		for line := range strings.Lines(block[2]) {
			command, _, _ := strings.Cut(line, "#")
			commands = append(commands, strings.TrimSpace(command))
		}
		if want := []string{"make demo", "make test"}; !slices.Equal(commands, want) {
			t.Errorf("the first sh block of README.md runs %q, want %q", commands, want)
		}
		return
	}
	t.Error("README.md has no sh block")
}

// TestMakeCommandsExist finds every `make something` in the documents and in CI
// among the targets that `make help` lists.
func TestMakeCommandsExist(t *testing.T) {
	var targets []string
	for _, match := range makeTarget.FindAllStringSubmatch(readText(t, "Makefile"), -1) {
		targets = append(targets, match[1])
	}
	for _, file := range append(documents(t), ".ci/run") {
		text := readText(t, file)
		if strings.HasSuffix(file, ".md") {
			text = strings.Join(codeOf(text), "\n")
		}
		for _, match := range makeCommand.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(targets, match[1]) {
				t.Errorf("%s says %q, and the Makefile has no such target with a description", file, match[0])
			}
		}
	}
}

func TestCIRunsTheGates(t *testing.T) {
	script := readText(t, ".ci/run")
	for _, command := range []string{"make lint", "make test", "make replay", "make demo"} {
		if !strings.Contains(script, command) {
			t.Errorf(".ci/run does not run %q", command)
		}
	}
}

// TestLinksResolve follows the relative links of the documents, to files and to
// headings in them.
func TestLinksResolve(t *testing.T) {
	for _, file := range documents(t) {
		prose := fence.ReplaceAllString(readText(t, file), "")
		for _, match := range link.FindAllStringSubmatch(prose, -1) {
			target, err := url.Parse(match[1])
			if err != nil {
				t.Errorf("%s: link %q: %v", file, match[1], err)
				continue
			}
			if target.IsAbs() {
				continue
			}
			path := file
			if target.Path != "" {
				path = filepath.Join(filepath.Dir(file), target.Path)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: link %q leads nowhere", file, match[1])
				continue
			}
			if target.Fragment != "" && !slices.Contains(anchors(readText(t, path)), target.Fragment) {
				t.Errorf("%s: link %q: %s has no such heading", file, match[1], path)
			}
		}
	}
}

// TestNoFileKnowsAnyonesMachine refuses paths into a home folder: they break on
// every other machine.
func TestNoFileKnowsAnyonesMachine(t *testing.T) {
	walkRepository(t, func(path string, entry fs.DirEntry) {
		if !entry.Type().IsRegular() {
			return
		}
		for i, line := range strings.Split(readText(t, path), "\n") {
			if found := absoluteHome.FindString(line); found != "" {
				t.Errorf("%s:%d holds the path %s of one machine", path, i+1, found)
			}
		}
	})
}

// documents lists the Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var files []string
	walkRepository(t, func(path string, entry fs.DirEntry) {
		if entry.Type().IsRegular() && filepath.Ext(path) == ".md" {
			files = append(files, path)
		}
	})
	return files
}

// codeOf returns the fenced blocks and the inline code of a Markdown text: prose
// may make something too.
func codeOf(markdown string) []string {
	var code []string
	for _, block := range fence.FindAllStringSubmatch(markdown, -1) {
		code = append(code, block[2])
	}
	return append(code, inlineCode.FindAllString(fence.ReplaceAllString(markdown, ""), -1)...)
}

// anchors lists the fragments under which the headings of a Markdown text can be
// linked to.
func anchors(markdown string) []string {
	var names []string
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(markdown, ""), -1) {
		var name strings.Builder
		for _, r := range strings.ToLower(match[1]) {
			switch {
			case r == ' ':
				name.WriteByte('-')
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
				name.WriteRune(r)
			}
		}
		names = append(names, name.String())
	}
	return names
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestArchitectureNamesEveryRoom keeps the page about the house complete.
func TestArchitectureNamesEveryRoom(t *testing.T) {
	page := readText(t, "ARCHITECTURE.md")
	for _, r := range house {
		if r.name != "." && !strings.Contains(page, "`"+r.name+"`") {
			t.Errorf("ARCHITECTURE.md does not mention `%s`", r.name)
		}
	}
}

// TestYAMLInDocumentsIsRight reads each YAML file that the documents show: a
// script of a model if it lists turns, rules of a thread if it is a list, else a worker's
// configuration.
func TestYAMLInDocumentsIsRight(t *testing.T) {
	shown := map[string]int{}
	for _, file := range []string{"README.md", "docs/config.md", "docs/policy.md", "docs/effects.md"} {
		for _, block := range fence.FindAllStringSubmatch(readText(t, file), -1) {
			if block[1] != "yaml" {
				continue
			}
			var err error
			kind := "configuration"
			switch {
			case strings.HasPrefix(block[2], "turns:"):
				kind = "script"
				_, err = scripted.Parse(file, []byte(block[2]))
			case strings.HasPrefix(block[2], "- "):
				kind = "list of rules"
				_, err = config.ParseRules(file, []byte(block[2]))
			default:
				_, err = config.Parse(file, []byte(block[2]), os.LookupEnv)
			}
			shown[file+" "+kind]++
			if err != nil {
				t.Errorf("%s shows a %s that is refused: %v", file, kind, err)
			}
		}
	}
	for _, want := range []string{"README.md configuration", "README.md script", "docs/config.md configuration", "docs/policy.md configuration", "docs/effects.md configuration"} {
		if shown[want] == 0 {
			t.Errorf("there is no %s", want)
		}
	}
}

// TestConfigurationFieldsAreDocumented finds each field that the parser knows in
// the tables of docs/config.md.
func TestConfigurationFieldsAreDocumented(t *testing.T) {
	page := readText(t, "docs/config.md")
	fields := regexp.MustCompile(`field\{name: "(\w+)"`).FindAllStringSubmatch(readText(t, "internal/config/parse.go"), -1)
	if len(fields) == 0 {
		t.Error("internal/config/parse.go names no field")
	}
	for _, field := range fields {
		row := regexp.MustCompile(`(?m)^\| ` + "`" + `(\w+\.)?` + field[1] + "` ")
		if !row.MatchString(page) {
			t.Errorf("docs/config.md has no row for %s", field[1])
		}
	}
}

// TestProgramsInTheReadmeCompile checks each whole Go file that README.md shows
// as if it lay in a package of this module.
func TestProgramsInTheReadmeCompile(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	for _, block := range fence.FindAllStringSubmatch(readText(t, "README.md"), -1) {
		if block[1] != "go" || !strings.HasPrefix(block[2], "package ") {
			continue
		}
		programs++
		source := filepath.Join(t.TempDir(), "program.go")
		if err := os.WriteFile(source, []byte(block[2]), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
			filepath.Join(root, "internal", "readme", "program.go"): source,
		}})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "overlay.json")
		if err := os.WriteFile(file, overlay, 0o600); err != nil {
			t.Fatal(err)
		}
		// go list -export compiles like go build, and does not link.
		build := exec.CommandContext(t.Context(), "go", "list", "-export", "-overlay", file, "./internal/readme")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as everything is built, so that little is left to do
		if out, err := build.CombinedOutput(); err != nil {
			t.Errorf("program %d of README.md: %v\n%s", programs, err, out)
		}
	}
	if programs == 0 {
		t.Error("README.md shows no Go program")
	}
}
