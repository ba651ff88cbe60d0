package scripted

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
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

// Parse reads a script. The name stands for it in errors, which give the place as
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
	tokens := lexer.Tokenize(string(data))
	if err := p.simple(tokens); err != nil {
		return nil, err
	}
	var err error
	if p.file, err = parser.Parse(tokens, 0); err != nil {
		return nil, p.syntax(err)
	}
	if len(p.file.Docs) > 1 {
		return nil, fmt.Errorf("scripted: %s: holds %d documents; a script is one", p.name, len(p.file.Docs))
	}
	var s script
	if root := p.root(); root != nil {
		if err := yaml.NodeToValue(root, &s, yaml.Strict()); err != nil {
			return nil, p.syntax(err)
		}
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
	line, column = 1, 1
	node := p.root()
	for _, key := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		if node = child(node, key); node == nil {
			break
		}
		pos := first(node).GetToken().Position
		line, column = pos.Line, pos.Column
	}
	return line, column
}

// root returns what the file holds, or nil if that is nothing.
func (p *parsing) root() ast.Node {
	if len(p.file.Docs) == 0 {
		return nil
	}
	return p.file.Docs[0].Body
}

// child returns the field of a mapping or the element of a sequence, or nil.
func child(node ast.Node, key string) ast.Node {
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, field := range n.Values {
			if field.Key.GetToken().Value == key {
				return field.Value
			}
		}
	case *ast.MappingValueNode:
		if n.Key.GetToken().Value == key {
			return n.Value
		}
	case *ast.SequenceNode:
		if i, err := strconv.Atoi(key); err == nil && i < len(n.Values) {
			return n.Values[i]
		}
	}
	return nil
}

// first returns where a node begins: the token of a mapping is its first colon.
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

// maxNesting bounds how deep lists and mappings stand in one another. The YAML
// library takes minutes for some thousand levels.
const maxNesting = 100

// simple refuses what a script does not need and the YAML library does not bear:
// deep nesting; aliases, with which a small file stands for a huge one; and tags,
// on some of which it panics.
func (p *parsing) simple(tokens token.Tokens) error {
	depth, entries, line := 0, 0, 0
	for _, t := range tokens {
		problem := ""
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			problem = "a script has no anchors and aliases"
		case token.TagType:
			problem = "a script has no tags"
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			if t.Position.Line != line {
				line, entries = t.Position.Line, 0
			}
			entries++
		}
		if depth > maxNesting || entries > maxNesting {
			problem = fmt.Sprintf("is nested more than %d levels deep", maxNesting)
		}
		if problem != "" {
			return fmt.Errorf("scripted: %s:%d:%d: %s", p.name, t.Position.Line, t.Position.Column, problem)
		}
	}
	return nil
}
