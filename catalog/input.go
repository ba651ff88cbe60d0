package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// MaxInput bounds the input of a call, in bytes.
const MaxInput = 4 << 20

// accept reads the input, checks it against the schema, lets the tool complete
// it, and makes the canonical form that is shown, digested and called with.
func (c *call) accept(req Request) *Error {
	if len(req.Input) > MaxInput {
		return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("the input is %d bytes long, at most %d are allowed", len(req.Input), MaxInput)}
	}
	if limit := c.limits.input; limit.Value > 0 && int64(len(req.Input)) > limit.Value {
		return exceeded(limit, int64(len(req.Input)), "the input is %d bytes long", len(req.Input))
	}
	canonical, refused := fit(req.Input, c.made.accepts)
	if refused != nil {
		return refused
	}
	if c.tool.Prepare != nil {
		prepared, err := prepare(c.tool, canonical)
		if err != nil {
			return err
		}
		if !bytes.Equal(prepared, canonical) {
			if canonical, refused = fit(prepared, c.made.accepts); refused != nil {
				return refused
			}
		}
	}
	c.input = canonical
	if c.tool.Operation == Write {
		c.key = req.IdempotencyKey
	}
	return nil
}

// fit reads an input, which must be an object that fits the schema, and returns
// its canonical form. No input at all is an empty object.
func fit(text json.RawMessage, schema *compiledSchema) (json.RawMessage, *Error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = json.RawMessage("{}")
	}
	value, err := decode(text)
	if err != nil {
		return nil, unreadable(err)
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, &Error{Code: CodeInvalidInput, Message: fmt.Sprintf("the input is %s, want a JSON object", article(typeOf(value)))}
	}
	violations, err := schema.validate(value, len(text))
	if err != nil {
		return nil, &Error{Code: CodeTooLarge, Message: "the input " + err.Error()}
	}
	if len(violations) > 0 {
		return nil, &Error{
			Code:       CodeInvalidInput,
			Message:    "the input does not fit the tool's schema: " + summary(violations),
			Violations: violations,
		}
	}
	canonical, err := encode(value)
	if err != nil {
		return nil, unreadable(err)
	}
	return canonical, nil
}

// prepare runs the tool's own completion of an input, which is its author's
// code.
func prepare(tool *Tool, input json.RawMessage) (prepared json.RawMessage, refused *Error) {
	defer func() {
		if r := recover(); r != nil {
			logPanic("catalog: a tool panicked while it prepared an input", tool.ID, r)
			refused = invalidTool("it panicked while it prepared the input; the worker's log has the details")
		}
	}()
	prepared, err := tool.Prepare(input)
	if err == nil {
		return prepared, nil
	}
	var typed *Error
	if errors.As(err, &typed) {
		return nil, sanitize(typed)
	}
	return nil, &Error{Code: CodeInvalidInput, Message: "the input is refused: " + plain(err.Error(), maxMessage)}
}

func unreadable(err error) *Error {
	e := &Error{Code: CodeInvalidInput, Message: "the input " + err.Error()}
	var m *malformed
	if errors.As(err, &m) && m.pointer != "" {
		e.Message = "the input cannot be read: " + err.Error()
		e.Violations = []Violation{{Pointer: m.pointer, Message: m.message}}
	}
	return e
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
