// Package mcp makes tools of what a server offers over the Model Context
// Protocol: its tools, and its resources and prompts as tools that read.
//
//	source, err := mcp.New(mcp.Options{
//		Namespace: "github",
//		URL:       "https://mcp.example.com/mcp",
//		Headers:   map[string]string{"Authorization": "Bearer " + token},
//	})
//
// A server is reached over streamable HTTP, over the older HTTP with server-sent
// events, or as a process on this machine (stdio). All revisions of the protocol
// from 2024-11-05 to 2026-07-28 are spoken; which one is found out with each
// connection.
//
// # Nothing a server says is trusted
//
// A tool is a write unless the application trusts the server and the server says
// that the tool only reads, or the application says so itself ([Permission]).
// Descriptions are text for the model and nothing else. A tool that cannot be used
// costs itself only and is in the [Report]; an id never comes to mean another tool.
// Every length, number and time has a bound (limits.go), every request goes through
// the rules of the network, and each server has a bound of calls at one time and is
// left alone for a while when it does not answer.
//
// # Connections
//
// Nothing is asked before a tool is listed or called. Connections are kept for
// calls to come, per tenant and credential, bounded in number and closed when they
// are idle; a session that the server has forgotten is begun anew without the
// caller noticing, as far as nothing can have happened twice.
//
// # Results
//
// A result is the structured content of the server's answer; else the text, as the
// JSON that it is or as a string; else a list with one entry for each part. Images,
// sounds and files become handles.
//
// The protocol is carried by the transports of mcp-go, behind the interface wire
// and nothing more: what goes over them is raw JSON, which this package writes and
// reads itself.
package mcp
