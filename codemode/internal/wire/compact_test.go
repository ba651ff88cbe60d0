package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC)

// requests and replies are messages of both forms; compact says of which.
var requests = []struct {
	compact bool
	message wire.Request
}{
	{true, wire.Request{Deliver: []snippet.Delivery{{Call: 7, Result: json.RawMessage(`{"total":12}`), At: at}}}},
	{true, wire.Request{Deliver: []snippet.Delivery{{Call: 1, At: at}, {Call: 300, Result: json.RawMessage(`"é😀"`), At: time.Unix(-5, 0).UTC()}}}},
	{true, wire.Request{Deliver: []snippet.Delivery{{Call: 1}}}},
	{false, wire.Request{Deliver: []snippet.Delivery{{Call: 1, At: at}, {Call: 2, At: at, Error: &snippet.Error{Code: "c", Message: "m"}}}}},
	{false, wire.Request{Deliver: make([]snippet.Delivery, wire.MaxBatch+1)}},
	{false, wire.Request{Close: true}},
	{false, wire.Request{Start: &snippet.Program{Source: "return 1", Now: at}}},
}

var replies = []struct {
	compact bool
	message wire.Reply
}{
	{true, wire.Reply{Steps: []snippet.Step{{}}}},
	{true, wire.Reply{Steps: []snippet.Step{{Calls: []snippet.Call{
		{Number: 8, Kind: snippet.KindCall, Tool: "shop.get", Input: json.RawMessage(`{"id":8}`), Digest: "0123", Position: snippet.Position{Line: 3, Column: 400}},
		{Number: 9, Kind: snippet.KindSearch},
	}}, {Calls: []snippet.Call{{Number: 10, Kind: snippet.KindSleep, Input: json.RawMessage(strings.Repeat(" ", 1000) + "1")}}}}}},
	{false, wire.Reply{Steps: []snippet.Step{{CPU: 1}}}},
	{false, wire.Reply{Steps: []snippet.Step{{}, {Console: []snippet.Line{{Level: "info", Text: "x"}}}}}},
	{false, wire.Reply{Steps: []snippet.Step{{Cancelled: []int{1}}}}},
	{false, wire.Reply{Steps: []snippet.Step{{Dropped: 1}}}},
	{false, wire.Reply{Steps: []snippet.Step{{End: &snippet.End{Result: json.RawMessage("1")}}}}},
	{false, wire.Reply{Steps: []snippet.Step{{Calls: []snippet.Call{{Number: -1}}}}}},
	{false, wire.Reply{Invalid: "no"}},
	{false, wire.Reply{Ready: &wire.Ready{Version: wire.Version}}},
}

// Nothing is lost in either form.
func TestForms(t *testing.T) {
	for _, tt := range requests {
		through(t, tt.compact, &tt.message, new(wire.Request))
	}
	for _, tt := range replies {
		through(t, tt.compact, &tt.message, new(wire.Reply))
	}
}

func through(t *testing.T, compact bool, message, got any) {
	t.Helper()
	frame, err := wire.Frame(message)
	if err != nil {
		t.Fatal(err)
	}
	if isJSON := frame[4] == 'J'; isJSON == compact {
		t.Errorf("%+v is sent as %.100q", message, frame)
	}
	if err := wire.Read(bytes.NewReader(frame), got); err != nil {
		t.Fatalf("%+v: %v", message, err)
	}
	if !compact { // as JSON leaves it
		want := reflect.New(reflect.TypeOf(message).Elem()).Interface()
		text, err := json.Marshal(message)
		if err == nil {
			err = json.Unmarshal(text, want)
		}
		if err != nil {
			t.Fatal(err)
		}
		message = want
	}
	if !reflect.DeepEqual(got, message) {
		t.Errorf("got %+v, want %+v", got, message)
	}
}

// A message that is cut, goes on, or says what is not so is refused.
func TestCompactFormIsNotBelieved(t *testing.T) {
	frame, err := wire.Frame(&replies[1].message)
	if err != nil {
		t.Fatal(err)
	}
	body := frame[4:]
	for size := range body {
		if wire.Read(framed(body[:size]), new(wire.Reply)) == nil {
			t.Errorf("the first %d bytes were read", size)
		}
	}
	for name, body := range map[string]string{
		"more":              string(body) + "x",
		"nothing":           "",
		"another form":      "X",
		"not for a reply":   "D\x00",
		"many steps":        "S\x41" + strings.Repeat("\x00", 65),
		"many calls":        "S\x01\xff\xff\xff\x07",
		"a long text":       "S\x01\x01\x01\x01\x01\xff\xff\xff\x07x",
		"a large number":    "S\x01\x01\xff\xff\xff\xff\xff\x01\x01\x01\x00\x00\x00\x00",
		"an endless number": "S\x01\x01" + strings.Repeat("\xff", 20),
		"an input":          "S\x01\x01\x01\x01\x01\x00\x00\x00\x02{]",
		"a name":            "S\x01\x01\x01\x01\x01\x00\x01\xff\x00\x00",
	} {
		if err := wire.Read(framed([]byte(body)), new(wire.Reply)); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
	if err := wire.Read(framed([]byte("S\x01\x00")), new(wire.Request)); err == nil {
		t.Error("a request with steps was read")
	}
}

func framed(body []byte) *bytes.Reader {
	return bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)) //nolint:gosec // short
}

// FuzzReply reads what a child may send: what is read goes through again as it is.
func FuzzReply(f *testing.F) {
	for _, tt := range replies {
		frame, err := wire.Frame(&tt.message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame[4:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var reply, again wire.Reply
		if wire.Read(framed(body), &reply) != nil || body[0] == 'J' {
			return
		}
		frame, err := wire.Frame(&reply)
		if err == nil {
			err = wire.Read(bytes.NewReader(frame), &again)
		}
		if err != nil || !reflect.DeepEqual(again, reply) {
			t.Errorf("%+v became %+v: %v", reply, again, err)
		}
	})
}

// BenchmarkCall is what goes to and fro for one call.
func BenchmarkCall(b *testing.B) {
	for b.Loop() {
		var pipe bytes.Buffer
		if wire.Write(&pipe, &requests[0].message) != nil || wire.Read(&pipe, new(wire.Request)) != nil ||
			wire.Write(&pipe, &replies[1].message) != nil || wire.Read(&pipe, new(wire.Reply)) != nil {
			b.Fatal("it did not go through")
		}
	}
}
