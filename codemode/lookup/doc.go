// Package lookup answers the two questions that a model has about tools: which
// one does what I want, and how is it called.
//
// Both take what the model wrote, as JSON, and answer in JSON; what is wrong with
// it is a [catalog.Error]. They are the tools.search and tools.describe of a
// snippet, and the functions search and describe of an agent without snippets:
//
//	lookup := lookup.New(broker)
//	found, err := lookup.Search(ctx, scope, []byte(`{"query":"refund an order"}`))
//	how, err := lookup.Describe(ctx, scope, []byte(`{"id":"orders.refund"}`))
//
// A hit carries the tool's signature, its operation and whether a person will be
// asked, so that most calls need no second question.
//
// An application can have the best hits put into an order of its own
// ([Lookup.Rerank]).
//
// The index behind a search (package catalog/search) is built on the first one and
// kept for as long as the sources list the same tools. Scopes share it, each
// narrowed to what it may use: nothing shows of other tools.
package lookup
