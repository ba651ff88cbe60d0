package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	tlog "go.temporal.io/sdk/log"
)

// TemporalEnv names the environment variable with the path of a Temporal
// development server.
const TemporalEnv = "HEDDLE_DEVSERVER"

const (
	readyTimeout  = 2 * time.Minute
	readyInterval = 50 * time.Millisecond
)

// FindTemporal returns the path of a program that understands
// "server start-dev": that of HEDDLE_DEVSERVER, or temporal on the PATH.
func FindTemporal() (string, error) {
	name := os.Getenv(TemporalEnv)
	if name == "" {
		name = "temporal"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("no Temporal server: %w; install the temporal CLI, or set %s to a development server "+
			"(make devserver builds one)", err, TemporalEnv)
	}
	return path, nil
}

// TemporalOptions say how a Temporal server is run.
type TemporalOptions struct {
	// Path is the program, see [FindTemporal].
	Path string
	// Address is where it listens. Empty: on a free port of loopback.
	Address string
	// Database is the SQLite file. Empty: in memory.
	Database string
	// UI starts the Temporal UI too.
	UI bool
	// SearchAttributes are registered as NAME=TYPE.
	SearchAttributes []string
	// DynamicConfig are settings of the server, as KEY=JSONVALUE.
	DynamicConfig []string
	// Output takes what the server prints.
	Output io.Writer
}

// Temporal is a running Temporal server.
type Temporal struct {
	*Process
	// Address is that of the gRPC frontend.
	Address string
	// UI is the URL of the Temporal UI, if it was asked for.
	UI string
}

// ClientEnv is an environment in which Temporal's clients connect to a server that
// was started here, whatever else this process's own environment and the user's
// configuration files say.
func ClientEnv(address string) []string {
	return []string{
		"TEMPORAL_ADDRESS=" + address,
		"TEMPORAL_NAMESPACE=" + client.DefaultNamespace,
		"TEMPORAL_CONFIG_FILE=" + os.DevNull,
		"TEMPORAL_PROFILE=",
		"TEMPORAL_API_KEY=",
		"TEMPORAL_TLS=false",
	}
}

// startTries is how often a server is started that ends before it is ready.
const startTries = 3

// errEnded: the server has ended before it was ready.
var errEnded = errors.New("it ended before it was ready")

// StartTemporal starts a Temporal development server with the namespace
// "default" and returns when it answers requests. One that ends at once is started
// again, as somebody may have taken one of its ports just before it did.
func StartTemporal(ctx context.Context, o TemporalOptions) (*Temporal, error) {
	for try := 1; ; try++ {
		t, err := startTemporal(ctx, o)
		if try == startTries || !errors.Is(err, errEnded) {
			return t, err
		}
	}
}

func startTemporal(ctx context.Context, o TemporalOptions) (*Temporal, error) {
	ports, err := FreePorts(2)
	if err != nil {
		return nil, err
	}
	t := &Temporal{Address: o.Address}
	if t.Address == "" {
		t.Address = net.JoinHostPort("127.0.0.1", ports[0])
	}
	host, port, err := net.SplitHostPort(t.Address)
	if err != nil {
		return nil, fmt.Errorf("address of the server: %w", err)
	}
	args := []string{"server", "start-dev", "--ip", host, "--port", port, "--log-level", "error"}
	if o.Database != "" {
		args = append(args, "--db-filename", o.Database)
	}
	if o.UI {
		args = append(args, "--ui-port", ports[1])
		t.UI = "http://" + net.JoinHostPort(host, ports[1])
	} else {
		args = append(args, "--headless")
	}
	for _, attribute := range o.SearchAttributes {
		args = append(args, "--search-attribute", attribute)
	}
	for _, setting := range o.DynamicConfig {
		args = append(args, "--dynamic-config-value", setting)
	}
	t.Process, err = Start(Command{Path: o.Path, Args: args, Output: o.Output})
	if err != nil {
		return nil, err
	}
	if err := t.waitReady(ctx); err != nil {
		t.Kill()
		return nil, err
	}
	return t, nil
}

// waitReady waits until the server answers a request about a workflow: then the
// frontend knows the namespace, and the history service owns its shards.
func (t *Temporal) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	c, err := client.NewLazyClient(client.Options{
		HostPort: t.Address,
		Logger:   tlog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		return fmt.Errorf("client of the server: %w", err)
	}
	defer c.Close()
	for {
		_, err := c.DescribeWorkflow(ctx, "no-such-workflow", "")
		var notFound *serviceerror.NotFound
		if errors.As(err, &notFound) {
			return nil
		}
		select {
		case <-t.Done():
			return fmt.Errorf("the Temporal server at %s: %w: %v", t.Address, errEnded, t.Err())
		case <-ctx.Done():
			return fmt.Errorf("the Temporal server at %s is not ready: %w (last answer: %v)", t.Address, ctx.Err(), err)
		case <-time.After(readyInterval):
		}
	}
}
