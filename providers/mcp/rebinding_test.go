package mcp_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// fickle is a name server that answers each question for an address with the next of
// its answers, and then with the last. None says that there is no such name.
type fickle struct {
	mu      sync.Mutex
	answers []net.IP
	asked   int
}

func (f *fickle) next() net.IP {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	answer := f.answers[0]
	if len(f.answers) > 1 {
		f.answers = f.answers[1:]
	}
	return answer
}

// times is how often it was asked.
func (f *fickle) times() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// serve answers over UDP; of records there are A alone.
func (f *fickle) serve(conn net.PacketConn) {
	packet := make([]byte, 512)
	for {
		n, from, err := conn.ReadFrom(packet)
		if err != nil {
			return
		}
		end := 12 + slices.Index(packet[12:n], 0) + 5 // header, name, type and class
		reply := slices.Clone(packet[:end])
		reply[2], reply[3] = 0x84, 0
		clear(reply[6:12])
		if binary.BigEndian.Uint16(packet[end-4:end]) == 1 {
			if ip := f.next(); ip != nil {
				reply[7] = 1
				reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				reply = append(reply, ip.To4()...)
			}
		}
		_, _ = conn.WriteTo(reply, from) // who does not get it asks again
	}
}

// use makes it the name server of this process.
func (f *fickle) use(t *testing.T) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	usual := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = usual
		_ = conn.Close()
	})
	go f.serve(conn)
}

// TestRebinding: a name that leads elsewhere with each question leads nowhere inside,
// whatever it has led to before.
func TestRebinding(t *testing.T) {
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inside.Close() })
	reached := make(chan struct{}, 1)
	go func() {
		for {
			conn, err := inside.Accept()
			if err != nil {
				return
			}
			reached <- struct{}{}
			_ = conn.Close()
		}
	}()
	names := &fickle{answers: []net.IP{
		nil, net.IPv4(127, 0, 0, 1), net.IPv4(169, 254, 169, 254), net.IPv4(10, 0, 0, 1), net.IPv4(0, 0, 0, 0), net.IPv4(127, 0, 0, 1),
	}}
	names.use(t)
	_, port, _ := net.SplitHostPort(inside.Addr().String())
	refusals := 0
	for range 7 {
		s := open(t, mcp.Options{Namespace: "far", URL: fmt.Sprintf("https://rebind.example:%s/mcp", port)})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := s.Tools(ctx)
		cancel()
		var typed *catalog.Error
		switch {
		case !errors.As(err, &typed):
			t.Fatalf("error is %v", err)
		case typed.Code == mcp.CodeRefused:
			refusals++
		case typed.Code != mcp.CodeUnreachable: // where there was no such name
			t.Errorf("error is %v", typed)
		}
	}
	if asked := names.times(); refusals < 5 || asked < 6 {
		t.Errorf("%d of 7 were refused, and %d names asked for", refusals, asked)
	}
	select {
	case <-reached:
		t.Error("the server inside was reached")
	default:
	}
}
