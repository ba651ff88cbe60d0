package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/temporal"
)

// run starts the server and the UI, says where they are, and stops them when ctx
// is canceled.
func run(ctx context.Context, opts *options, stdout, stderr io.Writer) error {
	for _, warning := range opts.warnings {
		fmt.Fprintf(stderr, "Warning: %s\n", warning)
	}
	var ports portReservation
	defer ports.release()
	addrs, err := reservePorts(&ports, opts)
	if err != nil {
		return err
	}
	db, err := prepareDatabase(opts)
	if err != nil {
		return err
	}
	cfg := newServerConfig(opts, addrs, db)
	if opts.logConfig {
		fmt.Fprintln(stderr, cfg.String())
	}
	ports.release()

	stop, err := startAll(ctx, opts, addrs, cfg, stderr)
	if err != nil && ctx.Err() == nil { // being told to stop is no failure
		return errors.Join(err, stop())
	}
	if err == nil {
		printReady(stdout, opts, addrs)
	}
	<-ctx.Done()
	fmt.Fprintln(stdout, "Stopping the server...")
	return stop()
}

// startAll returns when the server is ready for requests and the UI is up. The
// returned function stops what has been started, also after an error.
func startAll(ctx context.Context, opts *options, addrs addresses, cfg *config.Config, logs io.Writer) (stop func() error, err error) {
	stopServer, err := startServer(opts, addrs, cfg, logs)
	if err != nil {
		return func() error { return nil }, err
	}
	frontendAddr := cfg.PublicClient.HostPort
	if err := waitReady(ctx, frontendAddr, opts.namespaces); err != nil || opts.headless {
		return stopServer, err
	}
	stopUI, err := startUI(ctx, opts, frontendAddr)
	if err != nil {
		return stopServer, err
	}
	return func() error {
		stopUI()
		return stopServer()
	}, nil
}

// startServer starts the Temporal services. They listen when it returns, but may
// still be finding each other.
func startServer(opts *options, addrs addresses, cfg *config.Config, logs io.Writer) (stop func() error, err error) {
	logger, level := newLogger(logs, opts.logLevel, opts.logFormat)
	httpAddr := hostPort(dialHost(opts.ip), addrs.http)
	server, err := temporal.NewServer(
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(newStaticHosts(opts, addrs)),
		temporal.WithLogger(logger),
		temporal.WithDynamicConfigClient(newDynamicConfig(httpAddr, opts.dynamicConfig)),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
	)
	if err != nil {
		return nil, fmt.Errorf("set up the server: %w", err)
	}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return func() error {
		quiet(level)
		if err := server.Stop(); err != nil {
			return fmt.Errorf("stop the server: %w", err)
		}
		if opts.dbFilename == "" {
			return nil
		}
		if err := checkpoint(cfg.Persistence.DataStores[storeName].SQL); err != nil {
			return fmt.Errorf("checkpoint %s: %w", opts.dbFilename, err)
		}
		return nil
	}, nil
}

// reservePorts decides on all ports and writes that of the UI back into opts.
func reservePorts(ports *portReservation, opts *options) (addresses, error) {
	var addrs addresses
	wanted := []struct {
		port *int
		ip   string
		flag string
		want int
	}{
		{&addrs.frontend, opts.ip, "--port", opts.port},
		{&addrs.http, opts.ip, "--http-port", opts.httpPort},
		{&addrs.metrics, opts.ip, "--metrics-port", opts.metricsPort},
		{&opts.uiPort, opts.uiIP, "--ui-port", opts.uiPort},
		{&addrs.history, loopback, "the history service", 0},
		{&addrs.matching, loopback, "the matching service", 0},
		{&addrs.worker, loopback, "the worker service", 0},
	}
	for _, w := range wanted {
		if w.port == &opts.uiPort && opts.headless {
			continue
		}
		port, err := ports.reserve(w.flag, w.ip, w.want)
		if err != nil {
			return addresses{}, err
		}
		*w.port = port
	}
	return addrs, nil
}

// prepareDatabase makes the database ready for the server, namespaces included.
func prepareDatabase(opts *options) (*config.SQL, error) {
	if opts.dbFilename != "" {
		if err := prepareFile(opts.dbFilename); err != nil {
			return nil, fmt.Errorf("--db-filename %s: %w", opts.dbFilename, err)
		}
	}
	db := newDatabaseConfig(opts.dbFilename, opts.pragmas)
	return db, registerNamespaces(db, opts.namespaces, opts.searchAttributes)
}

// printReady prints where the server is, in the form of the official CLI.
func printReady(w io.Writer, opts *options, addrs addresses) {
	fmt.Fprintf(w, "%s\n\n", versionLine())
	fmt.Fprintf(w, "%-18s%s\n", "Temporal Server:", hostPort(friendlyHost(opts.ip), addrs.frontend))
	if !opts.headless {
		fmt.Fprintf(w, "%-18shttp://%s%s\n", "Temporal UI:", hostPort(friendlyHost(opts.uiIP), opts.uiPort), opts.uiPublicPath)
	}
	fmt.Fprintf(w, "%-18shttp://%s/metrics\n", "Temporal Metrics:", hostPort(friendlyHost(opts.ip), addrs.metrics))
}
