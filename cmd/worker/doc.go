// Command worker runs a Heddle worker from a configuration file alone: its agents
// have no tools, and talk.
//
//	worker --config heddle.yaml
//	worker --config heddle.yaml --check
//
// A worker with Go functions as tools is a program like this one that passes them
// to [heddle.Main]. See worker --help for the flags and exit codes.
//
// [heddle.Main]: https://pkg.go.dev/github.com/heddle-dev/heddle#Main
package main
