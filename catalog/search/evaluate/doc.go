// Package evaluate measures how well the tools of a set are found: how findable
// the names and descriptions of one's own tools are, or how good a ranking is.
//
// A set is two files of JSON lines. Each line of the tools is a tool,
//
//	{"id": "orders.refund", "name": "refund", "description": "Pays back an order.",
//	 "parameters": {"type": "object", "properties": {"order": {"description": "its number"}}}}
//
// where id is needed, and namespace, title, tags, operation and output (a JSON
// Schema like parameters) are read too. Each line of the queries is what somebody
// may ask for, and the ids of the tools that do it:
//
//	{"id": "q1", "query": "I want my money back", "relevant": ["orders.refund"]}
//
// [ReadTools] and [ReadQueries] read them, and [Run] measures. Relevant tools of
// the same name are versions of one: whichever is found first counts, once.
package evaluate
