package signals

import (
	"context"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Client is a backend's way to agent threads. It is safe for concurrent use and
// holds nothing that needs to be closed.
type Client struct {
	temporal  client.Client
	reader    *Reader
	taskQueue string
	owned     owned
	places    places
}

// Options are the options of a [Client] and of a [Reader]. The zero value fits a
// Temporal client that was dialed with defaults.
type Options struct {
	// Namespace is the one that the Temporal client was dialed with. Empty: the
	// Temporal client's default.
	Namespace string
	// DataConverter is the one that the Temporal client was dialed with. nil: the
	// Temporal client's default.
	DataConverter converter.DataConverter
	// TaskQueue is where new threads run. Empty: [contract.TaskQueue].
	TaskQueue string
	// Archive reads the store of the workers. nil: the earlier runs of a thread
	// are read by asking them, as far back as the namespace retains them, and a
	// long message is returned as its beginning and a reference.
	Archive Archive
}

// Archive is a content-addressed store.
type Archive interface {
	// Get returns the value that is referred to.
	Get(ctx context.Context, ref contract.Ref) ([]byte, error)
}

// NewClient returns a client of the threads that the Temporal client can reach.
// Options may be nil.
func NewClient(temporal client.Client, opts *Options) *Client {
	c := &Client{temporal: temporal, reader: NewReader(temporal, opts), taskQueue: contract.TaskQueue}
	if opts != nil && opts.TaskQueue != "" {
		c.taskQueue = opts.TaskQueue
	}
	return c
}
