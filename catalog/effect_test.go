package catalog_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/catalogtest"
)

// What an error of a Go function tells of a write's effect.
func TestEffectOfAnError(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hijacked, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			hijacked.Close()
		}
	}))
	defer target.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	post := func(address string) error {
		_, err := http.Post(address, "text/plain", nil)
		return err
	}
	const closed = "http://127.0.0.1:1" // no system gives this port to whoever asks for any

	for name, test := range map[string]struct {
		err    error
		effect catalog.Effect
		again  bool // it is made again as one that was not sent
	}{
		"any error":                   {errors.New("no such order"), "", false},
		"an error that says none":     {&catalog.Error{Code: "closed", Effect: catalog.EffectNone}, catalog.EffectNone, false},
		"an error that says unknown":  {&catalog.Error{Code: "x", Effect: catalog.EffectUnknown}, catalog.EffectUnknown, false},
		"NotApplied":                  {catalog.NotApplied(errors.New("busy")), catalog.EffectNone, true},
		"NotApplied, wrapped":         {fmt.Errorf("refund: %w", catalog.NotApplied(io.EOF)), catalog.EffectNone, true},
		"Unknown":                     {catalog.Unknown(errors.New("gone")), catalog.EffectUnknown, false},
		"Unknown over a typed one":    {catalog.Unknown(&catalog.Error{Code: "x", Effect: catalog.EffectNone}), catalog.EffectUnknown, false},
		"the connection was refused":  {post(closed), catalog.EffectNone, true},
		"the name has no address":     {&net.DNSError{Err: "no such host", Name: "nowhere.example", IsNotFound: true}, catalog.EffectNone, true},
		"no connection in time":       {&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, catalog.EffectNone, true},
		"the certificate is unknown":  {post(secure.URL), catalog.EffectNone, true},
		"the certificate is refused":  {&tls.CertificateVerificationError{Err: errors.New("expired")}, catalog.EffectNone, true},
		"the answer never came":       {post(target.URL), catalog.EffectUnknown, false},
		"reset":                       {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, catalog.EffectUnknown, false},
		"half an answer":              {io.ErrUnexpectedEOF, catalog.EffectUnknown, false},
		"a deadline of its own":       {context.DeadlineExceeded, catalog.EffectUnknown, false},
		"an address that is none":     {&url.Error{Op: "parse", Err: errors.New("bad")}, "", false},
		"no error is no error (none)": {catalog.NotApplied(nil), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			tool := withFunction(write("orders.refund"), func(context.Context, catalog.Call) (json.RawMessage, error) {
				return json.RawMessage(`1`), test.err
			})
			got := do(t, broker(t, of("s", tool)), tool.ID, `{}`).Error
			if test.err == nil {
				if got != nil {
					t.Errorf("error %+v", got)
				}
				return
			}
			if got == nil || got.Effect != test.effect || (got.Retryable && got.Effect == catalog.EffectNone) != test.again {
				t.Errorf("error %+v of %v", got, test.err)
			}
		})
	}
}

// Before is asked once a write has passed all checks, and can keep it from being
// made; a read goes without it.
func TestBeforeAWrite(t *testing.T) {
	called := 0
	function := func(context.Context, catalog.Call) (json.RawMessage, error) {
		called++
		return nil, nil
	}
	tools := []catalog.Tool{withFunction(write("a.write"), function), withFunction(read("a.read"), function)}
	b := broker(t, of("s", tools...))
	asked := 0
	refuse := func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("the context has no deadline")
		}
		asked++
		return errors.New("not now")
	}
	for _, test := range []struct {
		tool, input   string
		asked, called int
	}{{"a.write", `{}`, 1, 0}, {"a.write", `[]`, 1, 0}, {"a.read", `{}`, 1, 1}} {
		req := catalog.Request{Tool: test.tool, Input: json.RawMessage(test.input), Before: refuse}
		outcome := b.Dispatch(t.Context(), everyone, req, b.Plan(t.Context(), everyone, req))
		if asked != test.asked || called != test.called {
			t.Errorf("%s(%s): asked %d times, called %d, error %v", test.tool, test.input, asked, called, outcome.Error)
		}
		if test.tool == "a.write" && (outcome.Error == nil || outcome.Error.Effect != catalog.EffectNone) {
			t.Errorf("%s(%s): error %+v", test.tool, test.input, outcome.Error)
		}
	}
}

// Each row of the table in docs/effects.md happens, to a Go function that writes.
func TestEffectsOfGo(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	breaks := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if hijacked, _, err := w.(http.Hijacker).Hijack(); err == nil {
			hijacked.Close()
		}
	}))
	defer breaks.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	post := func(address string) func() (string, error) {
		return func() (string, error) {
			_, err := http.Post(address, "text/plain", nil)
			return "1", err
		}
	}
	fails := func(err error) func() (string, error) { return func() (string, error) { return "1", err } }
	tests := map[string][]func() (string, error){
		"`heddle.NotApplied(err)`":                                {fails(catalog.NotApplied(io.EOF)), fails(fmt.Errorf("refund: %w", catalog.NotApplied(io.EOF)))},
		"`heddle.Unknown(err)`":                                   {fails(catalog.Unknown(io.EOF)), fails(catalog.Unknown(&catalog.Error{Code: "x", Effect: catalog.EffectNone}))},
		"a `*catalog.Error` that says `EffectNone`":               {fails(&catalog.Error{Code: "closed", Effect: catalog.EffectNone})},
		"a `*catalog.Error` that says `EffectUnknown`":            {fails(&catalog.Error{Code: "x", Effect: catalog.EffectUnknown})},
		"an error of the network: the connection was refused":     {post(closed.URL)},
		"an error of the network: the name has no address":        {fails(&url.Error{Op: "Post", Err: &net.DNSError{Err: "no such host", IsNotFound: true}})},
		"an error of the network: no connection in time":          {fails(&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded})},
		"an error of the network: the certificate is not trusted": {post(secure.URL)},
		"an error of the network: the connection broke":           {post(breaks.URL), fails(&net.OpError{Op: "read", Err: syscall.ECONNRESET})},
		"an error of the network: half an answer":                 {fails(io.ErrUnexpectedEOF)},
		"`context.DeadlineExceeded`, of whatever":                 {fails(context.DeadlineExceeded)},
		"any other error":                                         {fails(errors.New("no such order")), fails(&url.Error{Op: "parse", Err: errors.New("bad")})},
		"nothing, since it panicked":                              {func() (string, error) { panic("oh") }},
		"nothing, since its time is over":                         {func() (string, error) { time.Sleep(4 * time.Second); return "1", nil }},
		"a result":                                                {fails(nil)},
		"a result that is no JSON":                                {func() (string, error) { return "{", nil }},
	}
	rows := catalogtest.EffectRows(t, "Go")
	for row, want := range rows {
		if len(tests[row]) == 0 {
			t.Errorf("docs/effects.md has a row that no test makes happen: %s", row)
		}
		for i, function := range tests[row] {
			t.Run(fmt.Sprintf("%s %d", row, i+1), func(t *testing.T) {
				tool := withFunction(write("orders.refund"), func(context.Context, catalog.Call) (json.RawMessage, error) {
					text, err := function()
					return json.RawMessage(text), err
				})
				tool.Timeout = time.Minute
				if row == "nothing, since its time is over" {
					tool.Timeout = time.Second
				}
				err := do(t, broker(t, of("s", tool)), tool.ID, `{}`).Error
				if got := catalogtest.EffectOf(err); got != want {
					t.Errorf("%s, want %s: %+v", got, want, err)
				}
			})
		}
	}
	for row := range tests {
		if rows[row] == "" {
			t.Errorf("docs/effects.md has no row %q", row)
		}
	}
}
