package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/connections"
)

// callback waits on loopback for a person who comes back from consent.
type callback struct {
	url      string
	listener net.Listener
	server   *http.Server
	answers  chan answer
	// telling are the browsers that are being told what came of their answer.
	telling sync.WaitGroup
}

// answer is what a browser has come back with, and what to tell it.
type answer struct {
	query url.Values
	reply chan error
}

// listen waits on a port, or on a free one.
func listen(port int) (*callback, error) {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("wait for the answer on loopback: %w", err)
	}
	b := &callback{url: "http://" + listener.Addr().String() + connections.CallbackPath, listener: listener, answers: make(chan answer)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+connections.CallbackPath, b.answered)
	const slow = 10 * time.Second
	b.server = &http.Server{Handler: mux, ReadHeaderTimeout: slow}
	go func() { _ = b.server.Serve(listener) }() // it ends with close
	return b, nil
}

// close lets what was said last arrive.
func (b *callback) close() {
	b.telling.Wait()
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_ = b.server.Shutdown(ctx)
}

func (b *callback) answered(w http.ResponseWriter, r *http.Request) {
	a := answer{r.URL.Query(), make(chan error, 1)}
	var err error
	select {
	case b.answers <- a:
		err = <-a.reply
		defer b.telling.Done()
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	connections.Page(w, err)
}

// wait takes the answer to the attempt that is on its way. What else comes to the port
// is told so, and changes nothing.
func (b *callback) wait(ctx context.Context, book *connections.Book) (connections.Connection, error) {
	for {
		select {
		case a := <-b.answers:
			one, err := book.Finish(ctx, a.query)
			b.telling.Add(1)
			a.reply <- err
			if errors.Is(err, connections.ErrNoAttempt) {
				continue
			}
			return one, err
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return connections.Connection{}, errors.New("nobody has consented in time; run the command again")
			}
			return connections.Connection{}, ctx.Err()
		}
	}
}

// openBrowser shows a page, where there is something to show it with: the address is
// printed as well.
func openBrowser(ctx context.Context, address string) {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}
