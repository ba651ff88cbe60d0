//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// lock takes a file for this process, until it is closed or the process ends.
func lock(file *os.File) (held bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a descriptor is small
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
