package evaluate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heddle-dev/heddle/catalog/search"
)

// MaxLine bounds a line of a set, in bytes.
const MaxLine = 16 << 20

// Query is what somebody may ask for.
type Query struct {
	Text string
	// Wanted are the tools that the query asks for, each with the ids of all its
	// versions.
	Wanted []map[string]bool
}

type tool struct {
	ID          string          `json:"id"`
	Namespace   string          `json:"namespace"`
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Tags        []string        `json:"tags"`
	Operation   string          `json:"operation"`
	Parameters  json.RawMessage `json:"parameters"`
	Output      json.RawMessage `json:"output"`
}

// ReadTools reads the tools of a set. Errors say where in the file of that name
// they are.
func ReadTools(r io.Reader, file string) ([]search.Document, error) {
	var documents []search.Document
	lines := make(map[string]int)
	err := eachLine(r, file, func(line int, text []byte) error {
		var t tool
		if err := json.Unmarshal(text, &t); err != nil {
			return plain(err)
		}
		if t.ID == "" {
			return errors.New("the tool has no id")
		}
		if first, known := lines[t.ID]; known {
			return fmt.Errorf("the id %q was given in line %d already", t.ID, first)
		}
		lines[t.ID] = line
		parameters, err := properties(t.Parameters)
		if err != nil {
			return fmt.Errorf("parameters: %w", err)
		}
		outputs, err := properties(t.Output)
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		d := search.Document{
			ID: t.ID, Namespace: t.Namespace, Name: t.Name, Title: t.Title, Description: t.Description,
			Tags: t.Tags, Operation: t.Operation, Parameters: parameters,
		}
		for _, output := range outputs {
			d.Outputs = append(d.Outputs, output.Name)
		}
		documents = append(documents, d)
		return nil
	})
	if err == nil && len(documents) == 0 {
		err = fmt.Errorf("%s: there is no tool in it", file)
	}
	return documents, err
}

// ReadQueries reads the queries of a set with the given tools.
func ReadQueries(r io.Reader, file string, tools []search.Document) ([]Query, error) {
	names := make(map[string]string, len(tools))
	for i := range tools {
		names[tools[i].ID] = tools[i].Name
		if tools[i].Name == "" {
			names[tools[i].ID] = tools[i].ID
		}
	}
	var queries []Query
	err := eachLine(r, file, func(_ int, text []byte) error {
		var q struct {
			Query    string   `json:"query"`
			Relevant []string `json:"relevant"`
		}
		if err := json.Unmarshal(text, &q); err != nil {
			return plain(err)
		}
		if strings.TrimSpace(q.Query) == "" {
			return errors.New("the query is empty")
		}
		if len(q.Relevant) == 0 {
			return errors.New("no relevant tool is given")
		}
		query := Query{Text: q.Query}
		versions := make(map[string]int) // index in Wanted by name
		for _, id := range q.Relevant {
			name, known := names[id]
			if !known {
				return fmt.Errorf("relevant tool %q is not among the tools", id)
			}
			i, seen := versions[name]
			if !seen {
				i = len(query.Wanted)
				versions[name] = i
				query.Wanted = append(query.Wanted, make(map[string]bool))
			}
			query.Wanted[i][id] = true
		}
		queries = append(queries, query)
		return nil
	})
	if err == nil && len(queries) == 0 {
		err = fmt.Errorf("%s: there is no query in it", file)
	}
	return queries, err
}

// eachLine calls use for each line that is not blank. Its errors get file and line.
func eachLine(r io.Reader, file string, use func(line int, text []byte) error) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, MaxLine)
	line := 0
	for scanner.Scan() {
		line++
		text := bytes.TrimSpace(scanner.Bytes())
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\uFEFF"))
		}
		if len(text) == 0 {
			continue
		}
		if err := use(line, text); err != nil {
			return fmt.Errorf("%s:%d: %w", file, line, err)
		}
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s:%d: the line is longer than %d MiB", file, line+1, MaxLine>>20)
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// plain says what is wrong with a line without names of Go.
func plain(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("the line is a JSON %s, want an object", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%s is a JSON %s, which does not fit", kind.Field, kind.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %w (at byte %d of the line)", err, syntax.Offset)
	default:
		return err
	}
}
