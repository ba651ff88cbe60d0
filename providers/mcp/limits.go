package mcp

import "time"

// The bounds of what one server can make the worker hold, wait for or send. Those
// that an operator may have to move are in [Options].
const (
	// DefaultMaxMessage bounds one message: a JSON body or one event of a stream.
	DefaultMaxMessage = 8 << 20
	// DefaultMaxTools bounds the tools that a listing may hold.
	DefaultMaxTools = 1000
	// DefaultIdle is how long a connection is kept that nobody uses.
	DefaultIdle = 2 * time.Minute
	// DefaultMaxConnections bounds the connections of a source.
	DefaultMaxConnections = 64

	// streamFactor bounds one response, which may be a stream of many messages, as a
	// multiple of a message.
	streamFactor = 4
	// maxMessages bounds the messages of one stream.
	maxMessages = 10_000
	// maxRequests bounds the HTTP requests that one call may cause: the call itself,
	// answers to what the server asks, resumptions of its stream.
	maxRequests = 16
	// maxListens bounds how often a connection listens anew for notifications.
	maxListens = 8
	// maxPages bounds the pages of a listing.
	maxPages = 100
	// maxListing bounds all pages of a listing, in bytes.
	maxListing = 16 << 20
	// maxName bounds the name of a tool, in bytes.
	maxName = 128
	// maxTitle and maxDescription bound what is said of a tool, in bytes. What is
	// longer is cut.
	maxTitle       = 200
	maxDescription = 4 << 10
	// maxSchema bounds a schema, in bytes, and maxDepth how deep it is nested.
	maxSchema = 128 << 10
	maxDepth  = 64
	// maxParts bounds the parts of one result.
	maxParts = 1000
	// maxReasons bounds the reasons in a report.
	maxReasons = 100
	// maxText bounds a text of the server in an error, in bytes.
	maxText = 1 << 10
	// maxRounds bounds how often a server may ask back within one call.
	maxRounds = 8

	// connectTimeout bounds the way to a session that can be used, and probeTimeout
	// the first question of it, which older servers may leave unanswered.
	connectTimeout = 8 * time.Second
	probeTimeout   = 3 * time.Second
	// listTimeout bounds a listing. It is less than the catalog waits.
	listTimeout = 9 * time.Second
	// closeTimeout bounds how long the end of a connection may take.
	closeTimeout = 2 * time.Second
	// cancelTimeout bounds how long a server is told of a call that was cancelled.
	cancelTimeout = 3 * time.Second
	// refreshAfter is when a listing is asked for anew, where the server does not say
	// earlier that it has changed.
	refreshAfter = 5 * time.Minute
	// writeTimeout bounds how long a process may leave its input unread.
	writeTimeout = 5 * time.Second
	// maxConcurrent bounds the calls of a server at one time; more wait.
	maxConcurrent = 128
)
