package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// Problem is one thing that is wrong with a configuration file.
type Problem struct {
	File string
	// Line and Column count from 1. 0: the place is not known.
	Line, Column int
	// Field is the path of the field, such as agents.support.model. Empty: the
	// whole file.
	Field   string
	Message string
}

// Error says file:line:column: field: message.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.Field != "" {
		b.WriteString(": " + p.Field)
	}
	b.WriteString(": " + p.Message)
	return b.String()
}

// Problems are all that is wrong with a file, in its order.
type Problems []Problem

// Error says one problem a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Problem makes a problem of a field that was read, for checks that need more
// than the file.
func (c *Config) Problem(field, message string) Problem {
	at := c.at[field]
	return Problem{File: c.file, Line: at.line, Column: at.column, Field: field, Message: message}
}

// position is a place in the file, from 1.
type position struct{ line, column int }

func positionOf(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{}
	}
	return position{line: t.Position.Line, column: t.Position.Column}
}

// syntaxProblem turns an error of the YAML parser into a problem.
func syntaxProblem(file string, err error) Problem {
	var syntax interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &syntax) {
		return Problem{File: file, Message: err.Error()}
	}
	at := positionOf(syntax.GetToken())
	return Problem{File: file, Line: at.line, Column: at.column, Message: syntax.GetMessage()}
}

func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p
}
