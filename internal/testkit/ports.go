package testkit

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/child"
)

// FreePort returns a port of the loopback interface that nobody uses now, and that
// nobody else gets by chance.
func FreePort(t testing.TB) string {
	t.Helper()
	ports, err := child.FreePorts(1)
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	return ports[0]
}
