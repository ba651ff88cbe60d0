// Package openapi makes tools of the operations of an HTTP service that an
// OpenAPI specification describes: 3.0, 3.1 or Swagger 2, as JSON or YAML.
//
//	source, err := openapi.New(openapi.Options{
//		Namespace: "billing",
//		Spec:      openapi.Location{URL: "https://api.example.com/openapi.json"},
//	})
//
// A specification is split into operations and no further ([Load]): one is looked
// at when it is described or called, with what it refers to. What cannot be used
// costs itself only, and is in the [Report].
//
// # The input of a tool
//
// Parameters stand in the input by their own names, wherever they are sent; the
// request body stands under body:
//
//	{"owner": "acme", "repo": "shop", "body": {"title": "It is broken"}}
//
// Where two parameters have the same name, or one is called body, the later of
// path, query, header and cookie has its place at the end: id and id_query. Where
// the body may be sent in several media types, content_type names another than
// the first. A file is an object with filename, content_type and one of
// bytes_base64, text and ref.
//
// # The output
//
// The output is the body of the answer: JSON as it is, text as a string, null for
// nothing. A file is its content_type and size with a handle (ref), or with
// bytes_base64 where files are not kept.
//
// # Pages
//
// Where the specification shows that the answers of a read come in pages, the input
// has pages beside the rest: how many to read, one after another. The output is that
// of the last page with the lists of all joined, so that it is what one long page
// would be, and holds the cursor to go on from:
//
//	const open = await github.pulls.list({owner, repo, state: "open", pages: 10});
//
// It shows that by the header Link (RFC 8288), by a link of the operation to itself,
// by a cursor or an address in the answer, by has_more with a parameter for the last
// item's id, or by a parameter that counts pages or items. An address is followed
// only within the service, and no page is read twice.
//
// # Reads and writes
//
// GET, HEAD and OPTIONS read; all else writes. That is decided by the method of
// the operation itself and never by its name. The specification cannot say
// otherwise; the application can ([Options]).
//
// # Credentials
//
// A specification says how to authenticate, the application with which secrets
// ([Login]): by reference, so that they are there only while a request is made. They
// go to the origin of the server, which stays what it was when it was first known,
// and to those that the application names. OAuth access tokens for client credentials
// are fetched here; those that a person has consented to are the secrets of a
// connection, such as connection:crm:token. One that the service refuses is asked
// for once more, which is when whoever keeps it renews it.
//
// # Files
//
// What an answer has that is neither JSON nor text goes to a [Store], and the output
// is its handle: {content_type, size, ref}. The ref is what an input takes for a file,
// so a snippet hands a file from one service to another without reading it:
//
//	const scan = await archive.documents.download({id: "d-1"});
//	await mail.attachments.create({body: {file: {filename: "scan.pdf", ref: scan.ref}}});
package openapi
