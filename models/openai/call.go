package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/openai/openai-go/v3/option"
)

const (
	// maxReply bounds a reply: its document, or the words, reasoning and
	// arguments of its stream.
	maxReply = 16 << 20
	// maxStream bounds an event stream, in which every few letters travel in a
	// frame of some hundred bytes.
	maxStream = 4 * maxReply
	// maxLine bounds a line of a stream: the SDK's reader looks at all of a line
	// again for each packet of it.
	maxLine = 4 << 20
)

var (
	errTooLarge = errors.New("the reply is too large")
	errTimeout  = errors.New("the call took too long")
	errIdle     = errors.New("the server was silent for too long")
)

// call is one request and the reading of its reply, within its limits.
type call struct {
	*Model
	// parent is the caller's context and ctx the one of the request, which ends
	// earlier when a limit is reached.
	parent, ctx context.Context
	cancel      context.CancelFunc
	key         string
	limit       int64
	// silence ends ctx. Nil when the reply comes in one piece: a server that
	// still thinks is silent then.
	silence *time.Timer
}

func (m *Model) begin(ctx context.Context, key string, streaming bool) *call {
	c := &call{Model: m, parent: ctx, key: key, limit: maxReply}
	timed, stop := context.WithTimeoutCause(ctx, m.timeout, errTimeout)
	var cancel context.CancelCauseFunc
	c.ctx, cancel = context.WithCancelCause(timed)
	c.cancel = func() { cancel(nil); stop() }
	if streaming {
		c.limit = maxStream
		c.silence = time.AfterFunc(m.idle, func() { cancel(errIdle) })
	}
	return c
}

func (c *call) end() {
	if c.silence != nil {
		c.silence.Stop()
	}
	c.cancel()
}

func (c *call) options() []option.RequestOption {
	opts := []option.RequestOption{option.WithMiddleware(c.bound)}
	if c.key != "" {
		opts = append(opts, option.WithAPIKey(c.key))
	}
	return opts
}

// bound puts the limits around the body of a response.
func (c *call) bound(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if res != nil && res.Body != nil {
		res.Body = &boundedBody{ReadCloser: res.Body, call: c, left: c.limit}
	}
	return res, err
}

// boundedBody is a response body that ends with an error when it, or a line of a
// streamed one, grows too large, and that notes every sign of life.
type boundedBody struct {
	io.ReadCloser
	call *call
	left int64
	line int // bytes since the last line break
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	if n == 0 || b.call.silence == nil {
		return n, err
	}
	b.call.silence.Reset(b.call.idle)
	b.line += n
	if last := bytes.LastIndexByte(p[:n], '\n'); last >= 0 {
		b.line = n - 1 - last
	}
	if b.line > maxLine {
		return 0, errTooLarge
	}
	return n, err
}

// readAll reads a body within the limit of a document.
func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxReply+1))
	if err == nil && len(data) > maxReply {
		return nil, errTooLarge
	}
	return data, err
}
