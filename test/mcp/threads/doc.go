// Package threads tests servers of the Model Context Protocol as threads use them:
// real workers on a real Temporal server, which call the tools of servers that others
// have written, over streamable HTTP and over stdio. Every tool of the protocol's own
// example server is called from a snippet; a server asks a person, and the worker dies
// while the question is open; progress is seen, and a cancelled turn ends what the
// server does for it.
package threads
