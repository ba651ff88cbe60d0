package lookup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

// read decodes an input into a struct whose JSON names are all that it may have.
// No input at all is an empty object.
func read(input json.RawMessage, usage string, into any) *catalog.Error {
	if len(bytes.TrimSpace(input)) == 0 {
		return nil
	}
	if !bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) {
		return refused(usage, "", "the input is not an object")
	}
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return refused(usage, kind.Field, "is a %s, which does not fit", kind.Value)
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		return refused(usage, strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`), "is not a known property")
	case err != nil:
		return refused(usage, "", "the input cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return refused(usage, "", "the input has more after its end")
	}
	return nil
}

// refused says what is wrong with an input; field is the place, by names joined by
// dots, and empty for the whole.
func refused(usage, field, format string, args ...any) *catalog.Error {
	message := fmt.Sprintf(format, args...)
	e := &catalog.Error{Code: catalog.CodeInvalidInput, Message: message, Effect: catalog.EffectNone, Hint: "call it as " + usage}
	if field != "" {
		pointer := "/" + strings.ReplaceAll(beginning(field, 80), ".", "/")
		e.Message = pointer + " " + message
		e.Violations = []catalog.Violation{{Pointer: pointer, Message: message}}
	}
	return e
}
