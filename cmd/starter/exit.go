package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1   // the server, the worker or the thread refused
	exitUsage       = 2   // wrong flags or arguments
	exitTurnFailed  = 3   // the turn ended without an answer
	exitWaiting     = 4   // the turn waits for an approval or an answer, and nobody here can give it
	exitInterrupted = 130 // stopped by a signal; the thread goes on
)

const exitCodesHelp = `Exit codes: 0 done, 1 refused or failed, 2 wrong flags or arguments, 3 the turn
failed or was cancelled, 4 the turn waits for an approval or an answer and nobody
here can give it, 130 interrupted (the thread goes on).`

// usageError is a mistake on the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func misused(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// waitingError ends a command whose turn waits for a person who is not here.
type waitingError struct {
	thread   contract.ThreadRef
	turn     string
	approval contract.Approval
}

func (e waitingError) Error() string {
	return fmt.Sprintf("turn %s waits for an approval of %s; decide with: %s, or with: starter deny %s %s; "+
		"then follow it with: starter watch %s --turn %s",
		e.turn, e.approval.Tool, approveLine(e.thread, e.approval), e.thread, e.approval.ID, e.thread, e.turn)
}

// askingError ends a command whose turn waits for the answer to a question.
type askingError struct {
	thread   contract.ThreadRef
	turn     string
	question contract.Question
}

func (e askingError) Error() string {
	how := "--done"
	if len(e.question.Schema) > 0 {
		how = "--set NAME=VALUE"
	}
	return fmt.Sprintf("turn %s waits for an answer to a question of %s; answer with: starter answer %s %s %s, or with --decline; "+
		"then follow it with: starter watch %s --turn %s", e.turn, e.question.Tool, e.thread, e.question.ID, how, e.thread, e.turn)
}

// approveLine is the command that approves what was shown, and nothing else.
func approveLine(thread contract.ThreadRef, a contract.Approval) string {
	return fmt.Sprintf("starter approve %s %s --digest %s", thread, a.ID, a.Digest)
}

// stoppedError ends a command that was interrupted while it followed a turn.
type stoppedError struct {
	thread contract.ThreadRef
	turn   string
}

func (e stoppedError) Error() string {
	return fmt.Sprintf("stopped watching; turn %s goes on: follow it with starter watch %s --turn %s, or end it with starter cancel %s",
		e.turn, e.thread, e.turn, e.thread)
}

// turnError ends a command whose turn ended without an answer.
type turnError struct{ turn contract.Turn }

func (e turnError) Error() string {
	text := fmt.Sprintf("turn %s %s", e.turn.ID, e.turn.Status)
	if e.turn.Problem != nil {
		text += ": " + e.turn.Problem.Error()
	}
	return text
}

func exitCode(ctx context.Context, err error) int {
	var (
		usage   usageError
		waiting waitingError
		asking  askingError
		turn    turnError
	)
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &waiting), errors.As(err, &asking):
		return exitWaiting
	case errors.As(err, &turn):
		return exitTurnFailed
	default:
		return exitFailed
	}
}

// oneLine makes an error fit for a single clear line.
func oneLine(err error) string {
	return clean(strings.Join(strings.Fields(err.Error()), " "))
}
