package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
)

// uiStartTimeout is generous: binding a port takes no time, and the port was free
// a moment ago.
const uiStartTimeout = time.Minute

// startUI serves the Temporal UI and returns when it accepts connections. The
// returned function stops it.
func startUI(ctx context.Context, opts *options, frontendAddr string) (stop func(), err error) {
	host := opts.uiIP
	if strings.Contains(host, ":") {
		host = "[" + host + "]" // the UI server joins host and port by itself
	}
	cfg := &uiconfig.Config{
		TemporalGRPCAddress: frontendAddr,
		Host:                host,
		Port:                opts.uiPort,
		PublicPath:          opts.uiPublicPath,
		UIAssetPath:         opts.uiAssetPath,
		DefaultNamespace:    defaultNamespace,
		EnableUI:            true,
		HideLogs:            true,
		DisableNewsFetch:    true, // no call to the outside, as for the server
		Codec:               uiconfig.Codec{Endpoint: opts.uiCodecEndpoint},
		// The UI speaks plain HTTP here, over which some browsers do not send a
		// cookie that is marked secure, and without its cookie every action of
		// the UI is refused.
		CORS: uiconfig.CORS{CookieInsecure: true},
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure the UI: %w", err)
	}
	ui := uiserver.NewServer(uioptions.WithConfigProvider(cfg))
	go func() { _ = ui.Start() }() // ends the process itself if it cannot bind
	ctx, cancel := context.WithTimeout(ctx, uiStartTimeout)
	defer cancel()
	if err := waitListening(ctx, hostPort(dialHost(opts.uiIP), opts.uiPort)); err != nil {
		ui.Stop()
		return nil, fmt.Errorf("start the UI: %w", err)
	}
	return ui.Stop, nil
}
