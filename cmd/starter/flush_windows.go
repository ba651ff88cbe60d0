package main

import "golang.org/x/sys/windows"

// flushTerminal discards what was typed and not read yet.
func flushTerminal(fd uintptr) error {
	return windows.FlushConsoleInputBuffer(windows.Handle(fd))
}
