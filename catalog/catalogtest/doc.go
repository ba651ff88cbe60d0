// Package catalogtest is the conformance suite that every source of tools must
// pass: [Run] lists the tools, calls them through a broker, well and badly, at
// once and cut short, and says where the source breaks what the catalog counts
// on.
package catalogtest
