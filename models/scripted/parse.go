package scripted

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxScript bounds a script, in bytes.
const MaxScript = 1 << 20

// Load reads the script in a file.
func Load(path string) (*Model, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("scripted: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxScript+1))
	if err != nil {
		return nil, fmt.Errorf("scripted: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a script. The name stands for it in errors, which begin with
// name:line:column.
func Parse(name string, data []byte) (*Model, error) {
	if len(data) > MaxScript {
		return nil, fmt.Errorf("scripted: %s: is larger than %d bytes", name, MaxScript)
	}
	p := parsing{name: name}
	s, err := p.parse(data)
	if err != nil {
		return nil, err
	}
	return &Model{name: name, script: s}, nil
}

// parsing knows where in the file a field stands.
type parsing struct {
	name string
	file *ast.File
}

func (p *parsing) parse(data []byte) (*script, error) {
	var err error
	if p.file, err = parser.ParseBytes(data, 0); err != nil {
		return nil, p.syntax(err)
	}
	if len(p.file.Docs) > 1 {
		return nil, fmt.Errorf("scripted: %s: holds %d documents; a script is one", p.name, len(p.file.Docs))
	}
	var s script
	err = yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&s)
	if err != nil && !errors.Is(err, io.EOF) { // an empty file is a script without turns
		return nil, p.syntax(err)
	}
	if len(s.Turns) == 0 {
		return nil, p.wrong("turns", "there are none")
	}
	for i := range s.Turns {
		if err := p.turn(fmt.Sprintf("turns[%d]", i), &s.Turns[i]); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// syntax puts the place before what the YAML library says.
func (p *parsing) syntax(err error) error {
	var positioned yaml.Error
	if errors.As(err, &positioned) && positioned.GetToken() != nil {
		at := positioned.GetToken().Position
		return fmt.Errorf("scripted: %s:%d:%d: %s", p.name, at.Line, at.Column, positioned.GetMessage())
	}
	return fmt.Errorf("scripted: %s: %w", p.name, err)
}

// wrong is an error about the field at a path such as turns[0].steps[2].text.
func (p *parsing) wrong(path, format string, args ...any) error {
	line, column := p.position(path)
	return fmt.Errorf("scripted: %s:%d:%d: %s: %s", p.name, line, column, path, fmt.Sprintf(format, args...))
}

// position finds the line and column of a field, or of the nearest thing around
// it that stands in the file.
func (p *parsing) position(path string) (line, column int) {
	for ; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
		at, err := yaml.PathString("$." + path)
		if err != nil {
			continue
		}
		if node, err := at.FilterFile(p.file); err == nil {
			pos := first(node).GetToken().Position
			return pos.Line, pos.Column
		}
	}
	return 1, 1
}

// first returns the first thing in a node: the token of a mapping is a colon.
func first(node ast.Node) ast.Node {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key
		}
	case *ast.MappingValueNode:
		return n.Key
	}
	return node
}
