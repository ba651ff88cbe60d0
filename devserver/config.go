package main

import (
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/primitives"
)

const (
	// clusterName is recorded in the database, and in every namespace in it. It is
	// the name the official CLI uses, so that either can open the other's file.
	clusterName = "active"
	storeName   = "sqlite"
)

// addresses are the ports the services of one server listen on.
type addresses struct {
	frontend, http, metrics   int
	history, matching, worker int
}

// newServerConfig returns the static configuration of the server.
func newServerConfig(opts *options, addrs addresses, db *config.SQL) *config.Config {
	frontendAddr := hostPort(dialHost(opts.ip), addrs.frontend)
	return &config.Config{
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback},
			Metrics: &metrics.Config{Prometheus: &metrics.PrometheusConfig{
				ListenAddress: hostPort(opts.ip, addrs.metrics),
				HandlerPath:   "/metrics",
			}},
		},
		Persistence: config.Persistence{
			DefaultStore:    storeName,
			VisibilityStore: storeName,
			// A shard is the unit in which history is spread over hosts. One host
			// needs one, and each shard costs polling even when nothing happens.
			NumHistoryShards: 1,
			DataStores:       map[string]config.DataStore{storeName: {SQL: db}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {
					Enabled:                true,
					InitialFailoverVersion: 1,
					RPCAddress:             frontendAddr,
					HTTPAddress:            hostPort(dialHost(opts.ip), addrs.http),
				},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			string(primitives.FrontendService): {RPC: config.RPC{
				BindOnIP: opts.ip,
				GRPCPort: addrs.frontend,
				HTTPPort: addrs.http,
			}},
			string(primitives.HistoryService):  internalService(addrs.history),
			string(primitives.MatchingService): internalService(addrs.matching),
			string(primitives.WorkerService):   internalService(addrs.worker),
		},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		PublicClient: config.PublicClient{HostPort: frontendAddr},
	}
}

// internalService is a service that only the other services talk to. It stays on
// loopback whatever --ip is.
func internalService(port int) config.Service {
	return config.Service{RPC: config.RPC{BindOnIP: loopback, GRPCPort: port}}
}

// newStaticHosts tells each service where the others are. With that the server
// needs no membership protocol, which among the services of one process has
// nothing to find out and takes its time to join and to leave.
func newStaticHosts(opts *options, addrs addresses) map[primitives.ServiceName]static.Hosts {
	return map[primitives.ServiceName]static.Hosts{
		primitives.FrontendService: static.SingleLocalHost(hostPort(dialHost(opts.ip), addrs.frontend)),
		primitives.HistoryService:  static.SingleLocalHost(hostPort(loopback, addrs.history)),
		primitives.MatchingService: static.SingleLocalHost(hostPort(loopback, addrs.matching)),
		primitives.WorkerService:   static.SingleLocalHost(hostPort(loopback, addrs.worker)),
	}
}
