package catalog

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// MaxSchema bounds a schema, in bytes.
	MaxSchema = 256 << 10
	// maxSchemas bounds the compiled schemas that are kept.
	maxSchemas = 2048
	// schemaBase is what a relative reference in a schema is resolved against: a
	// place that nothing can be loaded from.
	schemaBase = "heddle:///"
	schemaURL  = schemaBase + "schema"
)

// CheckSchema says what is wrong with a JSON Schema. The drafts 4, 6, 7, 2019-09
// and 2020-12 are known; a schema that names none of them is read as 2020-12.
// Formats are enforced in all of them. A schema stands for itself: a reference to
// another document is refused and never fetched.
//
// The broker is laxer in one point: a pattern that is no regular expression is
// not enforced there, and does not make the tool unusable.
func CheckSchema(schema json.RawMessage) error {
	_, err := compile(schema, strict)
	return err
}

// Validate lists the places of a JSON value that do not fit a schema, as the
// broker does. The error says that the schema or the value cannot be read.
func Validate(schema, value json.RawMessage) ([]Violation, error) {
	compiled, err := compile(schema, lax)
	if err != nil {
		return nil, fmt.Errorf("the schema %w", err)
	}
	decoded, err := decode(value)
	if err != nil {
		return nil, fmt.Errorf("the value %w", err)
	}
	return compiled.validate(decoded, len(value))
}

// strictness is what becomes of a pattern that is no regular expression.
type strictness bool

const (
	strict strictness = true  // an error
	lax    strictness = false // not enforced
)

// compiledSchema is a schema ready for use.
type compiledSchema struct {
	schema *jsonschema.Schema
	// digest is the same for schemas that differ in the order of keys alone.
	digest string
	effort *effort
}

// validate lists what does not fit of a value that was size bytes long. The error
// says why it cannot be told.
func (c *compiledSchema) validate(value any, size int) (violations []Violation, err error) {
	c.effort.begin(size)
	defer c.effort.end()
	defer func() {
		if r := recover(); r != nil {
			err = validatorFault(r)
		}
	}()
	err = c.schema.Validate(value)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return violationsOf(invalid), nil
	}
	return nil, err
}

func compile(text json.RawMessage, s strictness) (c *compiledSchema, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the schema compiler failed: %v", r)
		}
	}()
	if len(text) > MaxSchema {
		return nil, fmt.Errorf("is %d bytes long, at most %d are allowed", len(text), MaxSchema)
	}
	doc, err := decode(text)
	if err != nil {
		return nil, err
	}
	canonical, err := encode(doc)
	if err != nil {
		return nil, err
	}
	if s == lax {
		dropPatterns(doc)
	}
	c = &compiledSchema{digest: digest(canonical), effort: &effort{}}
	compiler := jsonschema.NewCompiler()
	c.effort.watch(compiler)
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseRegexpEngine(compilePattern)
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(schemaURL, knownDraft(doc)); err != nil {
		return nil, err
	}
	if c.schema, err = compiler.Compile(schemaURL); err != nil {
		return nil, schemaError(err)
	}
	return c, nil
}

// knownDraft drops a $schema that names no known draft, so that the default
// applies.
func knownDraft(doc any) any {
	object, ok := doc.(map[string]any)
	if !ok {
		return doc
	}
	named, ok := object["$schema"]
	if !ok {
		return doc
	}
	if url, ok := named.(string); ok && isDraft(url) {
		return doc
	}
	rest := make(map[string]any, len(object))
	for k, v := range object {
		if k != "$schema" {
			rest[k] = v
		}
	}
	return rest
}

// noLoader refuses to load other documents.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("refers to %s, and other documents are never fetched", quote(strings.TrimPrefix(url, schemaBase)))
}

// schemas keeps compiled schemas by the hash of their text. Each is compiled
// once, on first use.
type schemas struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*schemaEntry
}

type schemaEntry struct {
	once     sync.Once
	compiled *compiledSchema
	err      error
}

func (s *schemas) get(text json.RawMessage) (*compiledSchema, error) {
	key := sha256.Sum256(text)
	s.mu.Lock()
	entry := s.entries[key]
	if entry == nil {
		if len(s.entries) >= maxSchemas {
			for other := range s.entries { // any one will do
				delete(s.entries, other)
				break
			}
		}
		if s.entries == nil {
			s.entries = map[[sha256.Size]byte]*schemaEntry{}
		}
		entry = &schemaEntry{}
		s.entries[key] = entry
	}
	s.mu.Unlock()
	entry.once.Do(func() { entry.compiled, entry.err = compile(text, lax) })
	return entry.compiled, entry.err
}
