package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/heddle-dev/heddle/secrets"
)

// secretValue reads the value of a secret: from a terminal, which does not show it, or
// from standard input. The caller overwrites it.
func (c *cli) secretValue(ctx context.Context, key secrets.Key) ([]byte, error) {
	file, isFile := c.stdin.(*os.File)
	if isFile && c.isTerminal(c.stdin) {
		return c.typedValue(ctx, file, key)
	}
	value, err := io.ReadAll(io.LimitReader(c.stdin, secrets.MaxValue+1))
	if err != nil {
		clear(value)
		return nil, fmt.Errorf("read the value from standard input: %w", err)
	}
	return withoutLineEnd(value), nil
}

// withoutLineEnd takes the line end off a single line.
func withoutLineEnd(value []byte) []byte {
	line, ended := bytes.CutSuffix(value, []byte("\n"))
	if !ended || bytes.IndexByte(line, '\n') >= 0 {
		return value
	}
	return bytes.TrimSuffix(line, []byte("\r"))
}

// typedValue asks for a value on a terminal.
func (c *cli) typedValue(ctx context.Context, terminal *os.File, key secrets.Key) ([]byte, error) {
	fd := int(terminal.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	fmt.Fprintf(c.stderr, "Value of %s (not shown): ", clean(key.String()))
	defer fmt.Fprintln(c.stderr)
	type answer struct {
		value []byte
		err   error
	}
	typed := make(chan answer, 1)
	go func() {
		value, err := term.ReadPassword(fd)
		typed <- answer{value, err}
	}()
	select {
	case a := <-typed:
		if a.err != nil {
			return nil, fmt.Errorf("read the value: %w", a.err)
		}
		return a.value, nil
	case <-ctx.Done(): // the read goes on, and would leave the terminal mute
		_ = term.Restore(fd, before)
		return nil, ctx.Err()
	}
}
