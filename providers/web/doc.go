// Package web is the source of web.search and web.fetch. It knows its two tools
// without asking anybody, so that nothing goes over the network before one of them
// is called. A call goes to a search service that speaks the Model Context Protocol,
// by a function that the application hands in.
//
// The service is told what is looked for and an id that is the same for all calls of
// a thread ([SessionID]), so that it can rank by what was asked before. It is not told
// who asks: neither tenant, user nor thread can be read from the id.
package web
