package netguard_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heddle-dev/heddle/internal/netguard"
)

// A server that answers twice does not have its second answer taken for that to
// another request, where each has a connection of its own.
func TestSecondAnswerIsNotThatOfAnotherRequest(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerTwice(conn)
		}
	}()
	address := listener.Addr().String()
	client, err := netguard.New(netguard.Options{Allow: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var mixed, n atomic.Int64
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for range 60 {
				id := fmt.Sprintf("/%d", n.Add(1))
				req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+address+id, strings.NewReader("x"))
				req.Close = true
				response, err := client.Do(req)
				if err != nil {
					continue // a connection that has come to nothing is no other answer
				}
				text, _ := io.ReadAll(response.Body)
				response.Body.Close()
				if string(text) != id {
					mixed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if mixed.Load() > 0 {
		t.Errorf("%d of %d requests were given the answer to another", mixed.Load(), n.Load())
	}
}

func answerTwice(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		one := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(req.URL.Path), req.URL.Path)
		if _, err := io.WriteString(conn, one+one); err != nil {
			return
		}
	}
}
