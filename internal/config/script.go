package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// Script is a snippet that is saved by name.
type Script struct {
	Name        string
	Description string
	// Code is the snippet, and Input the JSON Schema of what it takes.
	Code  string
	Input json.RawMessage
	// File is the file with the code, as in the configuration. Empty: it stands there.
	File string
}

// noInput is the schema of a script that takes nothing.
const noInput = `{"type":"object","properties":{},"additionalProperties":false}`

func readScript(v value, name, dir string) Script {
	s := Script{Name: name, Input: json.RawMessage(noInput)}
	if err := catalog.CheckID("scripts." + name); err != nil {
		v.problem("%s", err)
	}
	v.fields(
		field{name: "description", required: true, read: func(v value) { s.Description = v.filled() }},
		field{name: "code", read: func(v value) {
			s.Code = v.text()
			v.reader.text[v.path] = startOf(v.node)
		}},
		field{name: "file", read: func(v value) {
			if s.File = v.text(); s.File == "" {
				return
			}
			path := s.File
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			data, err := readFile(path)
			if err != nil {
				v.problem("%s", err)
			}
			s.Code = string(data)
		}},
		field{name: "input", read: func(v value) { s.Input = v.object() }},
	)
	_, inline := v.at[v.path+".code"]
	_, file := v.at[v.path+".file"]
	switch {
	case inline == file:
		v.problem("want either code or file")
	case len(s.Code) > snippet.MaxSource:
		v.problem("the code is %d bytes long, at most %d are allowed", len(s.Code), snippet.MaxSource)
	case !utf8.ValidString(s.Code):
		v.problem("the code is not valid UTF-8")
	}
	return s
}

// ScriptProblem says what is wrong at a place of a script's code.
func (c *Config) ScriptProblem(s Script, line, column int, message string) error {
	if s.File != "" {
		if line > 0 {
			return fmt.Errorf("%s:%d:%d: script %s: %s", s.File, line, column, s.Name, message)
		}
		return fmt.Errorf("%s: script %s: %s", s.File, s.Name, message)
	}
	field := "scripts." + s.Name + ".code"
	problem := c.Problem(field, message)
	if begin, known := c.text[field]; known && line > 0 {
		at := begin.of(line, column)
		problem.Line, problem.Column = at.line, at.column
	}
	return problem
}
