package child

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports that [FreePorts] chooses from. Systems take those that they give to whoever
// asks for any port, and to outgoing connections, from above: nobody else gets one of
// these by chance before it is used, or while a server that had it starts again.
const firstPort, lastPort = 15_000, 32_000

// FreePorts returns ports of the loopback interface that nobody uses now, all different.
func FreePorts(n int) ([]string, error) {
	listeners := make([]net.Listener, 0, n)
	defer func() {
		for _, l := range listeners {
			_ = l.Close()
		}
	}()
	ports := make([]string, 0, n)
	var err error
	for range n + 100 { // some may be in use
		if len(ports) == n {
			return ports, nil
		}
		port := strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort))
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			listeners, ports = append(listeners, l), append(ports, port)
		}
	}
	return nil, fmt.Errorf("find a free port: %w", err)
}
