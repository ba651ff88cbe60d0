// Package triage is an example: an agent that assigns reviewers to pull requests of
// a service like GitHub, in one snippet.
//
// The worker is the generic one: the tools are the operations of an OpenAPI
// specification that heddle.yaml names. The agent's snippet lists the open pull
// requests, reads their files and who has changed these, all at once, and requests
// reviews; each request waits for a person's approval.
//
//	heddle.yaml    the agent and the service
//	openapi.yaml   the operations that it uses, as GitHub's own specification has
//	               them; TRIAGE_SPEC names that one, or any other
//	triage.yaml    the script that plays the model's part, with the snippet
//	service.go     the service on this machine
//	demo/          starts it all and lets the agent work
package triage
