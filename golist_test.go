package heddle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const modulePath = "github.com/heddle-dev/heddle"

// goPackage is what the go command says of a package.
type goPackage struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// listPackages asks the go command for packages of this module.
func listPackages(t *testing.T, args ...string) []goPackage {
	t.Helper()
	args = append([]string{"list", "-json=ImportPath,Imports,TestImports,XTestImports"}, args...)
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg goPackage
		switch err := decoder.Decode(&pkg); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatal(err)
		}
		packages = append(packages, pkg)
	}
}

// ours makes a package of this module that imports others of it.
func ours(name string, imports ...string) goPackage {
	pkg := goPackage{ImportPath: strings.TrimSuffix(modulePath+"/"+name, "/")}
	for _, imported := range imports {
		pkg.Imports = append(pkg.Imports, strings.TrimSuffix(modulePath+"/"+imported, "/"))
	}
	return pkg
}

func isOurs(path string) bool { return isWithin(path, modulePath) }

func isWithin(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

func isWithinAny(path string, roots map[string]string) bool {
	for root := range roots {
		if isWithin(path, root) {
			return true
		}
	}
	return false
}

// isStandard says whether a path is of the standard library: only there has the
// first element no dot.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// shortName is a package's name in the diagram.
func shortName(path string) string {
	if path == modulePath {
		return "."
	}
	return strings.TrimPrefix(path, modulePath+"/")
}
