package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/server/chasm/lib/callback"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/components/nexusoperations"
)

const (
	// queuePollRPS replaces the 20 polls per second that each shard grants each of
	// its queues. With hundreds of shards that is plenty; with the one shard of this
	// server it is the pace of everything: every step of a workflow is a task that
	// one poll has to pick up, so the default alone makes a step take 50 ms.
	queuePollRPS = 10_000

	// timerShift is how far the timer queue reads ahead of the clock. A timer that
	// is set for a time already read fires only after it, so the default of one
	// second makes every shorter timer, retry backoff or sleep take that second.
	// Hosts with clocks of their own need such a margin; one host has one clock.
	timerShift = 10 * time.Millisecond

	// unlimitedRPS stands in for "no limit" where zero would mean "reject all". The
	// limits exist to protect a shared cluster from one of its tenants. Here the
	// only tenant is the user, whose burst of workflows should take as long as it
	// takes instead of failing with RESOURCE_EXHAUSTED.
	unlimitedRPS = 1_000_000

	// maxConcurrentPolls is the number of long polls per namespace and API. Many
	// workers with many pollers each are usual on a developer's machine; the
	// default of 1200 is reached by a dozen worker processes.
	maxConcurrentPolls = 100_000

	// mutableStateCacheSize is the number of workflows that stay in memory. The
	// default (128k) is sized for a machine that does nothing else.
	mutableStateCacheSize = 8192
)

// setting is one dynamic config default. It refers to the server's own
// declaration rather than to the key's name, so that a key which the server drops
// or renames is a compile error here and not a silently slow server.
type setting struct {
	of    dynamicconfig.GenericSetting
	value any
}

// devSettings are the defaults that make the server fit for one user on one
// machine. What the server already enables by itself (eager start of workflows
// and activities, Update, Worker Versioning, schedules) is left alone.
func devSettings(httpAddr string) []setting {
	return []setting{
		// Pace of the history queues: see queuePollRPS and timerShift.
		{dynamicconfig.TransferProcessorMaxPollRPS, queuePollRPS},
		{dynamicconfig.TimerProcessorMaxPollRPS, queuePollRPS},
		{dynamicconfig.VisibilityProcessorMaxPollRPS, queuePollRPS},
		{dynamicconfig.OutboundProcessorMaxPollRPS, queuePollRPS},
		{dynamicconfig.TimerProcessorMaxTimeShift, timerShift},
		{dynamicconfig.OutboundQueueHostSchedulerMaxTaskRPS, float64(unlimitedRPS)},

		// One partition per task queue. More of them spread a task queue over
		// hosts; on one host they only make a task and its poller miss each other
		// and meet by way of a forward.
		{dynamicconfig.MatchingNumTaskqueueReadPartitions, 1},
		{dynamicconfig.MatchingNumTaskqueueWritePartitions, 1},

		// Limits on requests: see unlimitedRPS.
		{dynamicconfig.FrontendRPS, unlimitedRPS},
		{dynamicconfig.FrontendMaxNamespaceRPSPerInstance, unlimitedRPS},
		{dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance, unlimitedRPS},
		{dynamicconfig.FrontendGlobalWorkerDeploymentReadRPS, unlimitedRPS},
		{dynamicconfig.FrontendNamespaceReplicationInducingAPIsRPS, unlimitedRPS},
		{dynamicconfig.FrontendMaxNamespaceNamespaceReplicationInducingAPIsRPSPerInstance, unlimitedRPS},
		{dynamicconfig.FrontendGlobalNamespaceNamespaceReplicationInducingAPIsRPS, unlimitedRPS},
		{dynamicconfig.FrontendMaxConcurrentLongRunningRequestsPerInstance, maxConcurrentPolls},
		{dynamicconfig.MatchingRPS, unlimitedRPS},
		{dynamicconfig.HistoryRPS, unlimitedRPS},

		// Limits on queries to the database. SQLite answers in microseconds and
		// takes one query at a time, so it needs no protection from the services.
		{dynamicconfig.FrontendPersistenceMaxQPS, unlimitedRPS},
		{dynamicconfig.HistoryPersistenceMaxQPS, unlimitedRPS},
		{dynamicconfig.MatchingPersistenceMaxQPS, unlimitedRPS},
		{dynamicconfig.WorkerPersistenceMaxQPS, unlimitedRPS},
		{dynamicconfig.VisibilityPersistenceMaxReadQPS, unlimitedRPS},
		{dynamicconfig.VisibilityPersistenceMaxWriteQPS, unlimitedRPS},

		{dynamicconfig.HistoryCacheHostLevelMaxSize, mutableStateCacheSize},

		// A search attribute that was just added is usable at once, as one expects
		// when typing the two commands after each other.
		{dynamicconfig.ForceSearchAttributesCacheRefreshOnRead, true},

		// No call to the outside: a development server works without a network
		// and tells nobody that it runs.
		{dynamicconfig.EnableServerVersionCheck, false},

		// Nexus operations to an endpoint outside of this server, and completion
		// callbacks to a process on this machine, over plain HTTP.
		{nexusoperations.CallbackURLTemplate, "http://" + httpAddr + "/namespaces/{{.NamespaceName}}/nexus/callback"},
		{callback.AllowedAddresses, []any{
			map[string]any{"Pattern": "localhost:*", "AllowInsecure": true},
			map[string]any{"Pattern": "127.0.0.1:*", "AllowInsecure": true},
			map[string]any{"Pattern": httpAddr, "AllowInsecure": true},
		}},
	}
}

// newDynamicConfig returns the client the server reads its dynamic config from:
// the defaults above, and over them what the user set.
func newDynamicConfig(httpAddr string, overrides dynamicconfig.ConfigValueMap) dynamicconfig.Client {
	values := make(dynamicconfig.ConfigValueMap)
	for _, s := range devSettings(httpAddr) {
		values[s.of.Key()] = []dynamicconfig.ConstrainedValue{{Value: s.value}}
	}
	maps.Copy(values, overrides)
	return staticConfig(values)
}

// staticConfig is a dynamic config that never changes. It hands out the same
// slice on every call, which the server's conversion cache relies on.
type staticConfig dynamicconfig.ConfigValueMap

// GetValue implements dynamicconfig.Client.
func (c staticConfig) GetValue(key dynamicconfig.Key) []dynamicconfig.ConstrainedValue {
	return c[key]
}

// parseDynamicConfig reads KEY=JSON_VALUE pairs. A value of the wrong type is an
// error, because the server would log it and go on with its default. An unknown
// key is only a warning: the pairs are often written for another version of the
// server than this one.
func parseDynamicConfig(pairs []string) (dynamicconfig.ConfigValueMap, []string, error) {
	values := make(dynamicconfig.ConfigValueMap)
	var warnings []string
	for _, pair := range pairs {
		name, raw, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, nil, fmt.Errorf("%q is not KEY=JSON_VALUE", pair)
		}
		if !json.Valid([]byte(raw)) {
			return nil, nil, fmt.Errorf("the value of %s is not JSON: %s (a string needs its quotes)", name, raw)
		}
		key := dynamicconfig.MakeKey(name)
		if !isKnownKey(key) {
			warnings = append(warnings, fmt.Sprintf("dynamic config %s is unknown to this server and has no effect", name))
			continue
		}
		// JSON is YAML, and the server's YAML loader is what converts and checks
		// the value by the type the key was declared with.
		var loader dynamicconfig.YamlLoader
		loader.LoadValue(key, []byte(`[{"value": `+raw+`}]`))
		if problems := slices.Concat(loader.Errors, loader.Warnings); len(problems) > 0 {
			return nil, nil, fmt.Errorf("the value of %s does not fit: %w", name, problems[0])
		}
		values[key] = loader.Map[key]
	}
	return values, warnings, nil
}

// isKnownKey asks the loader about a key without a value: all it can find wrong
// with that is the key.
func isKnownKey(key dynamicconfig.Key) bool {
	var loader dynamicconfig.YamlLoader
	loader.LoadValue(key, []byte("[]"))
	return len(loader.Warnings) == 0
}
