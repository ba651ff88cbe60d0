package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/internal/connect"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/signals/encryption"
)

// codec has the keys of encrypted payloads, if some are given.
func (c *cli) codec() (*encryption.Codec, error) {
	keys := c.env(encryption.KeysEnv)
	if c.keysFile != "" {
		text, err := secrets.ReadKey("", c.keysFile)
		if err != nil {
			return nil, fmt.Errorf("--payload-keys: %w", err)
		}
		keys = string(text)
	}
	if strings.TrimSpace(keys) == "" {
		return &encryption.Codec{}, nil
	}
	return encryption.Parse(keys)
}

func (c *cli) codecCommand() *cobra.Command {
	var listen string
	var origins []string
	cmd := &cobra.Command{
		Use:   "codec",
		Short: "Decrypt payloads for the Temporal UI and CLI",
		Long: `Serve the keys of encrypted payloads to the Temporal UI and CLI, until it is
interrupted. Give its address to the UI as codec endpoint (in the UI itself, or as
--ui-codec-endpoint of the development server), or to temporal as --codec-endpoint.

Whoever reaches it can read what is encrypted: it listens on a loopback address alone,
and answers pages of the UI's origin alone. To serve a team, put a proxy before it that
knows who asks, and sends a loopback address as Host.`,
		Example: `  HEDDLE_PAYLOAD_KEYS=$(cat payload.keys) starter codec
  starter codec --payload-keys payload.keys --listen localhost:8081 --origin https://temporal.example.com
  starter codec --payload-keys payload.keys --json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.serveCodec(cmd.Context(), listen, origins) },
	}
	cmd.Flags().StringVar(&listen, "listen", "localhost:8081", "loopback address to listen on")
	cmd.Flags().StringSliceVar(&origins, "origin", nil, "origin of the Temporal UI, repeatable (default: that of the local UI)")
	return cmd
}

// serving is what codec prints as JSON.
type serving struct {
	Endpoint string   `json:"endpoint"`
	Origins  []string `json:"origins"`
}

func (c *cli) serveCodec(ctx context.Context, listen string, origins []string) error {
	codec, err := c.codec()
	if err != nil {
		return err
	}
	if !codec.Encrypts() {
		return misused("there are no keys: set %s, or name a file with --payload-keys", encryption.KeysEnv)
	}
	if host, _, err := net.SplitHostPort(listen); err != nil || host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return misused("--listen %q: want a loopback address and a port, such as localhost:8081", listen)
	}
	if len(origins) == 0 {
		options, err := connect.Options(c.target, connect.Target{})
		if err != nil {
			return err
		}
		ui := cmp.Or(c.uiURL, connect.LocalUI(options.HostPort))
		if ui == "" || ui == "none" {
			return misused("the origin of the Temporal UI is not known: name it with --origin")
		}
		origins = []string{ui}
	}
	for i, origin := range origins {
		origins[i] = strings.TrimRight(origin, "/")
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	started := serving{"http://" + listener.Addr().String(), origins}
	if err := c.print(started, func(w io.Writer) {
		fmt.Fprintf(w, "codec endpoint: %s, for %s\n", started.Endpoint, strings.Join(origins, ", "))
	}); err != nil {
		return err
	}
	server := &http.Server{Handler: codec.Endpoint(origins...), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); ctx.Err() == nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("codec endpoint: %w", err)
	}
	return nil
}
