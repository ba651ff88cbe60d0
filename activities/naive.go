//go:build naive

package activities

import (
	"fmt"
	"os"
)

// WriteAttempts makes of a write a plain activity: Temporal carries it out again
// whenever it fails or its worker is lost, and there is neither claim nor intent.
// This repeats effects. It is there for the bench in test/chaos, which must be able
// to find that, and in no release.
const WriteAttempts = 8

func init() {
	fmt.Fprintln(os.Stderr, "heddle: built with the tag naive: WRITES ARE REPEATED BLINDLY. Use it for nothing but the chaos bench")
}
