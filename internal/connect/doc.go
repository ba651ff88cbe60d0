// Package connect connects to a Temporal server the way Temporal's own tools do:
// by the TEMPORAL_* environment variables and the profiles of temporal.toml, with
// TLS and API keys among them, through the SDK's envconfig.
//
// [Options] says where to connect to and [Dial] connects. What decides, first to
// last: an explicit choice such as a flag, the environment, the profile, a default
// such as that of heddle.yaml, and then localhost:7233 and the namespace "default".
package connect
