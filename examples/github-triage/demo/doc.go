// Command demo shows an agent assign reviewers to pull requests: it starts a
// Temporal server, a service with pull requests and a worker, asks the agent, shows
// what it does, asks for the approvals, and ends everything it started.
//
// With DEMO_YES=1 it approves by itself. TRIAGE_SPEC names the specification to make
// the tools of, such as the one that GitHub publishes; without it that is the one of
// HEDDLE_SHARED/openapi/github-rest.json where there is one, and else the example's
// own excerpt. HEDDLE_DEVSERVER names the Temporal server, else it is temporal on the
// PATH.
package main
