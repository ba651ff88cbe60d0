package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

const (
	// MaxOutput bounds the output of a call, in bytes.
	MaxOutput = 32 << 20
	// maxChecked bounds an output that is checked against its schema.
	maxChecked = 4 << 20
)

// result judges what a tool returned. What is not JSON at all is refused; what
// does not fit the output schema is passed on with a warning, as the call was
// made and its result is news.
func (c *call) result(output json.RawMessage) Outcome {
	output = bytes.TrimSpace(output)
	switch {
	case len(output) > MaxOutput:
		return c.useless(CodeTooLarge, fmt.Sprintf("its output is %d bytes long, at most %d are allowed", len(output), MaxOutput),
			"ask for less at once")
	case c.limits.output.Value > 0 && int64(len(output)) > c.limits.output.Value:
		over := exceeded(c.limits.output, int64(len(output)), "its output is %d bytes long", len(output))
		o := c.useless(CodeLimit, over.Message, "ask for less at once")
		o.Error.Limit = over.Limit
		return o
	case len(output) == 0:
		output = json.RawMessage("null")
	case !utf8.Valid(output):
		return c.useless(CodeInvalidOutput, "its output is not valid UTF-8", "")
	case !json.Valid(output):
		return c.useless(CodeInvalidOutput, "its output "+notJSON(output), "")
	}
	// What a warning quotes of a secret is a part, which could not be found in it.
	output = c.secrets.json(output)
	return Outcome{Result: output, Warning: c.warning(output)}
}

// useless is the outcome of a call that was carried out and whose output is of
// no use.
func (c *call) useless(code, message, hint string) Outcome {
	e := &Error{Code: code, Message: "the tool was called, and " + message, Tool: c.tool.ID, Effect: EffectNone, Hint: hint}
	if c.tool.Operation == Write {
		e.Effect = EffectApplied
		e.Hint = "the write was carried out; do not repeat it"
	}
	return Outcome{Error: e}
}

// warning says how an output does not fit its schema.
func (c *call) warning(output json.RawMessage) string {
	if c.made.output == nil {
		return ""
	}
	if len(output) > maxChecked {
		return fmt.Sprintf("the output is too long to be checked against the tool's schema (over %d bytes)", maxChecked)
	}
	value, err := decode(output)
	if err != nil {
		return "the output could not be checked against the tool's schema: " + plain(err.Error(), maxMessage)
	}
	violations, err := c.made.output.validate(value, len(output))
	if err != nil {
		return "the output could not be checked against the tool's schema: " + plain(err.Error(), maxMessage)
	}
	if len(violations) > 0 {
		return "the output does not fit the tool's schema: " + summary(violations)
	}
	return ""
}
