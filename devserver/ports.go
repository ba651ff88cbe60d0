package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"
)

const loopback = "127.0.0.1"

// portReservation finds out which ports the server will listen on, and that it
// can, before the server starts. The server itself ends the process with a log
// line when it cannot bind; here the message can name the flag.
type portReservation struct {
	held []net.Listener
}

// reserve takes a port on ip, any free one if port is 0, and returns its number.
// flag names the option that chooses another port.
func (r *portReservation) reserve(flag, ip string, port int) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return 0, fmt.Errorf("port %d on %s is in use: choose another with %s (0 picks a free one)", port, ip, flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return 0, fmt.Errorf("%s is not an address of this machine (for %s)", ip, flag)
	case errors.Is(err, syscall.EACCES):
		return 0, fmt.Errorf("port %d on %s needs privileges this user lacks: choose another with %s", port, ip, flag)
	case err != nil:
		return 0, fmt.Errorf("listen for %s: %w", flag, err)
	}
	if port == 0 {
		keepFromOthers(l)
	}
	r.held = append(r.held, l)
	return l.Addr().(*net.TCPAddr).Port, nil
}

// release gives the ports back, for the server to bind them.
func (r *portReservation) release() {
	for _, l := range r.held {
		_ = l.Close()
	}
	r.held = nil
}

// keepFromOthers makes the kernel prefer other ports over that of l for a while
// after l is closed. A connection that the listening side closes first stays
// behind in TIME_WAIT: a bind to this very port still works, but a process that
// asks for any free port gets another one. Without this, two servers started at
// the same time can be given the same port. It is best effort.
func keepFromOthers(l net.Listener) {
	conn, err := net.DialTimeout("tcp", l.Addr().String(), time.Second)
	if err != nil {
		return
	}
	defer conn.Close()
	accepted, err := l.Accept()
	if err != nil {
		return
	}
	_ = accepted.Close()
	_, _ = conn.Read(make([]byte, 1)) // until the close has arrived
}

// dialHost returns the address under which a client on this machine reaches a
// server bound to ip.
func dialHost(ip string) string {
	if parsed := net.ParseIP(ip); parsed != nil && parsed.IsUnspecified() {
		return loopback
	}
	return ip
}

// friendlyHost is dialHost for the eyes of a user.
func friendlyHost(ip string) string {
	host := dialHost(ip)
	if parsed := net.ParseIP(host); parsed != nil && parsed.IsLoopback() {
		return "localhost"
	}
	return host
}

// hostPort joins a host and a port number.
func hostPort(host string, port int) string {
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// waitListening waits until something accepts connections on addr.
func waitListening(ctx context.Context, addr string) error {
	for {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nothing listens on %s: %w", addr, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
