package heddle_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// minDocLines is the least that a tour of a package takes: what it is for and
// how it is used.
const minDocLines = 3

// TestEveryPackageHasATour demands a doc.go with a package comment of every
// package of every module of the repository.
func TestEveryPackageHasATour(t *testing.T) {
	packages := 0
	walkRepository(t, func(path string, entry fs.DirEntry) {
		if !entry.IsDir() || filepath.Base(path) == "testdata" || !hasGoFiles(t, path) {
			return
		}
		packages++
		doc, lines := packageComment(t, filepath.Join(path, "doc.go"))
		switch {
		case lines == 0:
			t.Errorf("%s has no doc.go with a package comment", path)
		case lines < minDocLines:
			t.Errorf("%s/doc.go says it in %d lines; a tour takes at least %d: what the package is for and how it is used", path, lines, minDocLines)
		case !strings.HasPrefix(doc, "Package ") && !strings.HasPrefix(doc, "Command "):
			t.Errorf(`%s/doc.go must begin with "Package" or "Command" and the name`, path)
		}
	})
	if packages == 0 {
		t.Fatal("no package was found")
	}
}

// packageComment returns the package comment of a file and its number of lines,
// 0 when there is none.
func packageComment(t *testing.T, file string) (text string, lines int) {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		return "", 0
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Doc == nil {
		return "", 0
	}
	text = parsed.Doc.Text()
	return text, strings.Count(text, "\n")
}

func hasGoFiles(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files) > 0
}

// walkRepository visits every file and folder that belongs to the repository:
// not what was built, installed or recorded by Git.
func walkRepository(t *testing.T, visit func(path string, entry fs.DirEntry)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch entry.Name() {
		case ".git", ".heddle", "bin", "node_modules":
			return fs.SkipDir
		}
		visit(path, entry)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
