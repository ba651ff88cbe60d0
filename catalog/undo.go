package catalog

import (
	"encoding/json"
	"fmt"
)

// Undo says how a write that was applied is undone: by a call of a tool, which is
// planned and approved like any other.
type Undo struct {
	// Tool is the id of the tool, Input its input.
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Reason, where it is set, says why the write cannot be undone.
	Reason string `json:"reason,omitempty"`
}

// UndoFunc says how a write is undone that was called with an input and returned a
// result. It does nothing outside. An error says why it cannot be undone.
type UndoFunc func(input, result json.RawMessage) (Undo, error)

// Undo sets how writes are undone whose tools do not say so themselves, by the ids of
// these: see [Tool.Undo]. It is called before the broker is used.
func (b *Broker) Undo(undos map[string]UndoFunc) { b.undos = undos }

// MaxUndoInput bounds the input of an undo, in bytes: a thread remembers it.
const MaxUndoInput = 4 << 10

// undo asks the tool how a write is undone that was applied with a result. A tool
// that cannot say has been called all the same.
func (c *call) undo(result json.RawMessage) (undo *Undo) {
	say := c.tool.Undo
	if say == nil {
		say = c.declaredUndo
	}
	if say == nil || c.tool.Operation != Write {
		return nil
	}
	defer func() {
		if fault := recover(); fault != nil {
			logPanic("catalog: the undo of a tool panicked", c.tool.ID, c.secrets.text(fmt.Sprint(fault)))
			undo = &Undo{Reason: "the tool could not say how: an internal fault"}
		}
	}()
	said, err := say(c.input, result)
	switch {
	case err != nil:
		return &Undo{Reason: "the tool could not say how: " + plain(c.secrets.text(err.Error()), maxMessage)}
	case len(said.Input) > MaxUndoInput:
		return &Undo{Reason: fmt.Sprintf("the input of %s would be %d bytes long, at most %d are allowed", said.Tool, len(said.Input), MaxUndoInput)}
	}
	return &said
}
