package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

func TestMessagesComeThroughAsTheyWere(t *testing.T) {
	var pipe bytes.Buffer
	sent := []wire.Reply{
		{Steps: []snippet.Step{{Calls: []snippet.Call{{Number: 1, Kind: snippet.KindCall, Input: []byte(`{"a":"<&>é"}`)}}}}},
		{Invalid: "no"},
	}
	for i := range sent {
		if err := wire.Write(&pipe, &sent[i]); err != nil {
			t.Fatal(err)
		}
	}
	slow := iotest.OneByteReader(&pipe)
	for _, want := range sent {
		var got wire.Reply
		if err := wire.Read(slow, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if err := wire.Read(slow, new(wire.Reply)); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v, want EOF", err)
	}
}

func TestLargeMessagesAreRefusedOnBothSides(t *testing.T) {
	if err := wire.Write(io.Discard, &wire.Reply{Invalid: strings.Repeat("x", wire.MaxMessage)}); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("write: %v, want ErrTooLarge", err)
	}
	header := binary.BigEndian.AppendUint32(nil, wire.MaxMessage+1)
	if err := wire.Read(bytes.NewReader(header), new(wire.Reply)); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("read: %v, want ErrTooLarge", err)
	}
}

func TestHalfAMessageIsNoEnd(t *testing.T) {
	whole, err := wire.Frame(&wire.Reply{Invalid: "no"})
	if err != nil {
		t.Fatal(err)
	}
	for size := 1; size < len(whole); size++ {
		if err := wire.Read(bytes.NewReader(whole[:size]), new(wire.Reply)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%d bytes of %d: %v", size, len(whole), err)
		}
	}
	if err := wire.Read(strings.NewReader("\x00\x00\x00\x03J{]"), new(wire.Reply)); err == nil {
		t.Error("a message that is no JSON was read")
	}
}
