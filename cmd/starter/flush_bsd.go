//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package main

import "golang.org/x/sys/unix"

// flushTerminal discards what was typed and not read yet.
func flushTerminal(fd uintptr) error {
	const input = 1 // FREAD of sys/fcntl.h
	return unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, input)
}
