package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Version of the protocol. A child of another version is refused.
const Version = 3

// ChildArg is the first argument of a process that is to be a child.
const ChildArg = "heddle-sandbox-child"

// MaxMessage is the largest message, in bytes.
const MaxMessage = 48 << 20

// ErrTooLarge says that a message is over MaxMessage.
var ErrTooLarge = errors.New("message too large")

const headerSize = 4

// Write sends one message.
func Write(w io.Writer, message any) error {
	frame, err := Frame(message)
	if err != nil {
		return err
	}
	_, err = w.Write(frame)
	return err
}

// Frame is a message as it is sent: its length, its form and its content. A Request or
// a Reply is given by a pointer.
func Frame(message any) ([]byte, error) {
	frame, ok := appendCompact(make([]byte, headerSize, 256), message)
	if !ok {
		var text bytes.Buffer
		text.Write(append(make([]byte, headerSize, 256), formJSON))
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false) // what a snippet gives goes through as it is
		if err := encoder.Encode(message); err != nil {
			return nil, fmt.Errorf("encode message: %w", err)
		}
		frame = text.Bytes()
	}
	size := len(frame) - headerSize
	if size > MaxMessage {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, size, MaxMessage)
	}
	binary.BigEndian.PutUint32(frame, uint32(size)) //nolint:gosec // bounded above
	return frame, nil
}

// Read receives one message. It returns io.EOF when the other side has closed,
// and only then.
func Read(r io.Reader, message any) error {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("read length of message: %w", err)
		}
		return err
	}
	size := binary.BigEndian.Uint32(header[:])
	if size > MaxMessage {
		return fmt.Errorf("%w: %d bytes announced, at most %d", ErrTooLarge, size, MaxMessage)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return fmt.Errorf("read message: %w", noEOF(err))
	}
	if err := decode(body, message); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	return nil
}

// noEOF keeps an end within a message apart from an end between two.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
