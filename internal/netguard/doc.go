// Package netguard is the HTTP client of everything that a source of tools asks
// outside. What a specification, a server or a model names cannot make it reach
// into the network that the worker stands in:
//
//	client, err := netguard.New(netguard.Options{})
//	response, err := client.Do(request)
//
// It speaks HTTPS, to public addresses. Addresses are looked at after the name is
// resolved, at each connection, so a name that changes what it points to gains
// nothing. Hosts that the operator allows are exempt from both rules. A redirect
// is a new request to the same rules; one to another origin loses all headers
// that could carry a credential, and one of a write is not followed. Proxies from
// the environment are not used: they would resolve names out of sight.
//
// The length of a response is bounded after decompression, and so is the time for
// all of it. An error that wraps [NotSentError] proves that the request never
// left.
package netguard
