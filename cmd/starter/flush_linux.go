package main

import "golang.org/x/sys/unix"

// flushTerminal discards what was typed and not read yet.
func flushTerminal(fd uintptr) error {
	return unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH)
}
