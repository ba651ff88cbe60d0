//go:build !linux || cgo

package sandbox

import "github.com/heddle-dev/heddle/codemode/internal/wire"

// lockInProcess cannot lock anything in here: landlock and seccomp are Linux's,
// and with cgo there are threads that the Go runtime does not know.
func lockInProcess(wire.Setup) (missing []string) {
	return []string{"a process is locked in only on Linux, by a program built with CGO_ENABLED=0"}
}
