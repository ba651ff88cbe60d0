// Command conformance is the client that the conformance suite of the Model Context
// Protocol drives: the source of providers/mcp, called through the broker as a thread
// calls it. The suite starts it with the address of a server and names the scenario in
// the environment; test/mcp/conformance.sh starts the suite.
//
// The suite's scenarios of authorization are played with internal/oauth, as connections
// are made, behind the credentials of the source.
package main
