// Package schema reads JSON Schema documents as their authors wrote them: with
// properties in their order, numbers in their digits, and each value knowing its
// place, so that what is said of a schema can point into it.
//
// [Parse] makes a [Document] of a text, within bounds. A schema in it is a
// [Value] like any other JSON value, looked into with nil-safe methods, so that
// a walk needs no check at each step:
//
//	doc, err := schema.Parse(text)
//	doc.Root.Get("properties").Get("order").Get("type").Str()
//
// What the drafts of JSON Schema do differently is answered by the Document:
// [Document.Resolve] follows a reference, [Document.RefAlone] says whether
// keywords beside one count, [Document.Items] finds the schemas of an array's
// elements.
//
// The package validates nothing and knows no keyword's meaning beyond these.
// Nothing is ever fetched: a reference to another document is an error.
package schema
