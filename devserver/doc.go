// Command temporal-devserver is a Temporal server for one machine: all Temporal
// services, the Temporal UI and a SQLite database in a single process.
//
// It takes the command line of the official CLI,
//
//	temporal-devserver server start-dev --db-filename heddle.db
//
// so that a program, a script or the Go SDK's testsuite.StartDevServer can start
// either of the two without knowing which. What it adds are defaults for a single
// user on a single machine: the limits that protect a shared cluster from its
// tenants are out of the way (see dynamicconfig.go), and a database file survives
// the kill of the server at any moment (see database.go).
//
// build.sh builds it. The tests build it too, or test the binary that
// HEDDLE_DEVSERVER names; run them as
//
//	CGO_ENABLED=0 go test ./...
//
// so that they use what build.sh has compiled. With cgo, Go compiles the whole
// server once more.
//
// It is a Go module of its own because the Temporal server pins versions of the
// Temporal SDK and API that differ from the ones a worker wants.
package main
