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
