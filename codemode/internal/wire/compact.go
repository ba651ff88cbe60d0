package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"time"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

// The first byte of a message says how it is written: as JSON, or, for what is sent once
// for each call of a snippet and has nothing but what most of them have, as a row of
// numbers and texts, which takes a tenth of the time.
const (
	formJSON       = 'J'
	formDeliveries = 'D'
	formSteps      = 'S'
)

// maxCalls is how many calls of one step are read. More than that are not compact.
const maxCalls = 1 << 16

var errForm = errors.New("it is not of the form that it says")

// appendCompact appends a message in one of the compact forms, if it has one.
func appendCompact(frame []byte, message any) ([]byte, bool) {
	switch m := message.(type) {
	case *Request:
		return appendDeliveries(frame, m.Deliver)
	case *Reply:
		return appendSteps(frame, m.Steps)
	}
	return nil, false
}

func appendDeliveries(frame []byte, ds []snippet.Delivery) ([]byte, bool) {
	if len(ds) == 0 || len(ds) > MaxBatch {
		return nil, false
	}
	frame = binary.AppendUvarint(append(frame, formDeliveries), uint64(len(ds)))
	for i := range ds {
		d := &ds[i]
		if d.Error != nil || d.Call < 0 {
			return nil, false
		}
		frame = binary.AppendUvarint(frame, uint64(d.Call)) //nolint:gosec // not negative
		frame = binary.AppendVarint(frame, d.At.UnixMilli())
		frame = appendText(frame, d.Result)
	}
	return frame, true
}

func appendSteps(frame []byte, steps []snippet.Step) ([]byte, bool) {
	if len(steps) == 0 || len(steps) > MaxBatch {
		return nil, false
	}
	frame = binary.AppendUvarint(append(frame, formSteps), uint64(len(steps)))
	for i := range steps {
		s := &steps[i]
		if len(s.Cancelled)+len(s.CallSites)+len(s.Console) > 0 || len(s.Calls) > maxCalls || s.Dropped != 0 || s.CPU != 0 || s.End != nil {
			return nil, false
		}
		frame = binary.AppendUvarint(frame, uint64(len(s.Calls)))
		for j := range s.Calls {
			c := &s.Calls[j]
			for _, n := range []int{c.Number, c.Position.Line, c.Position.Column} {
				if n < 0 {
					return nil, false
				}
				frame = binary.AppendUvarint(frame, uint64(n)) //nolint:gosec // not negative
			}
			frame = appendText(frame, c.Kind)
			frame = appendText(frame, c.Tool)
			frame = appendText(frame, c.Digest)
			frame = appendText(frame, c.Input)
		}
	}
	return frame, true
}

func appendText[T ~string | ~[]byte](frame []byte, text T) []byte {
	return append(binary.AppendUvarint(frame, uint64(len(text))), text...)
}

// decode reads a message of any form.
func decode(body []byte, message any) error {
	if len(body) == 0 {
		return errForm
	}
	r := reader{rest: body[1:]}
	switch m := message.(type) {
	case *Request:
		if body[0] == formDeliveries {
			m.Deliver = r.deliveries()
			return r.end()
		}
	case *Reply:
		if body[0] == formSteps {
			m.Steps = r.steps()
			return r.end()
		}
	}
	if body[0] != formJSON {
		return errForm
	}
	return json.Unmarshal(body[1:], message)
}

// reader takes a compact form apart, of which nothing is believed. Once it has met
// something amiss, what it gives has no meaning.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) end() error {
	if r.bad || len(r.rest) > 0 {
		return errForm
	}
	return nil
}

func (r *reader) deliveries() []snippet.Delivery {
	var ds []snippet.Delivery
	for range r.count(MaxBatch) {
		d := snippet.Delivery{Call: r.number(), At: r.time(), Result: r.json()}
		if r.bad {
			return nil
		}
		ds = append(ds, d)
	}
	return ds
}

func (r *reader) steps() []snippet.Step {
	var steps []snippet.Step
	for range r.count(MaxBatch) {
		var s snippet.Step
		for range r.count(maxCalls) {
			c := snippet.Call{Number: r.number(), Position: snippet.Position{Line: r.number(), Column: r.number()}}
			c.Kind, c.Tool, c.Digest, c.Input = snippet.Kind(r.text()), r.text(), r.text(), r.json()
			if r.bad {
				return nil
			}
			s.Calls = append(s.Calls, c)
		}
		steps = append(steps, s)
	}
	return steps
}

// count reads how many of something follow.
func (r *reader) count(most int) int {
	n := r.number()
	if n > most {
		r.bad = true
		return 0
	}
	return n
}

func (r *reader) number() int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > math.MaxInt32 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return int(n) //nolint:gosec // bounded above
}

func (r *reader) time() time.Time {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.bad = true
		return time.Time{}
	}
	r.rest = r.rest[size:]
	return time.UnixMilli(n).UTC()
}

func (r *reader) bytes() []byte {
	n := r.number()
	if n > len(r.rest) {
		r.bad = true
		return nil
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) text() string {
	text := r.bytes()
	r.bad = r.bad || !utf8.Valid(text)
	return string(text)
}

func (r *reader) json() json.RawMessage {
	text := r.bytes()
	if len(text) == 0 {
		return nil
	}
	r.bad = r.bad || !json.Valid(text)
	return text
}
