// Package plainjson writes JSON as [encoding/json] does, without the escapes that are
// for HTML: keys sorted, no white space. What values are mostly made of it writes
// without reflection, which is several times as fast.
//
//	text, err := plainjson.Encode(map[string]any{"b": 1, "a": "<"}) // {"a":"<","b":1}
package plainjson
