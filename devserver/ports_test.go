package main

import (
	"net"
	"strconv"
	"strings"
	"testing"
)

func TestReserveNamesTheFlagOfAPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	var ports portReservation
	defer ports.release()
	_, err = ports.reserve("--ui-port", loopback, port)
	if err == nil {
		t.Fatal("a port in use was reserved")
	}
	for _, want := range []string{strconv.Itoa(port), "--ui-port", "in use"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not mention %q", err, want)
		}
	}
}

func TestReservedPortsAreFreeAfterRelease(t *testing.T) {
	var ports portReservation
	seen := make(map[int]bool)
	for range 20 {
		port, err := ports.reserve("--port", loopback, 0)
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Errorf("port %d was reserved twice", port)
		}
		seen[port] = true
	}
	ports.release()
	for port := range seen {
		l, err := net.Listen("tcp", hostPort(loopback, port))
		if err != nil {
			t.Errorf("listen again: %v", err)
			continue
		}
		l.Close()
	}
}

func TestHosts(t *testing.T) {
	for ip, want := range map[string][2]string{
		"127.0.0.1": {"127.0.0.1", "localhost"},
		"::1":       {"::1", "localhost"},
		"0.0.0.0":   {"127.0.0.1", "localhost"},
		"10.0.0.7":  {"10.0.0.7", "10.0.0.7"},
	} {
		if got := [2]string{dialHost(ip), friendlyHost(ip)}; got != want {
			t.Errorf("%s: %v, want %v", ip, got, want)
		}
	}
}
