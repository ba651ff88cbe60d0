// Command child is a sandbox and nothing else, for tests in programs that cannot be
// one: the race detector needs cgo, which a child must not have.
package main

import (
	"fmt"
	"os"

	"github.com/heddle-dev/heddle/codemode/sandbox"
)

func main() {
	sandbox.ChildMain()
	fmt.Fprintln(os.Stderr, "child: not started by an engine")
	os.Exit(2)
}
