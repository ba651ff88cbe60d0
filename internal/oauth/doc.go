// Package oauth speaks OAuth 2.1 as a client that a person lets into a service: the
// authorization code flow with PKCE, for services that say nothing of themselves and
// for those that are found out about.
//
//	service, err := oauth.Discover(ctx, network, "https://mcp.example.com/mcp", nil)
//	client, err := oauth.Register(ctx, network, service.Server, oauth.Identity{Name: "heddle", Redirect: redirect})
//	attempt := oauth.Begin(service, client, redirect, nil)
//	// the person opens attempt.URL, and comes back to redirect with a query
//	code, err := attempt.Read(query)
//	tokens, err := oauth.Exchange(ctx, network, attempt, code)
//	tokens, err = oauth.Refresh(ctx, network, attempt.Grantor, tokens.Refresh)
//
// It follows RFC 9728 (what a service says of its authorization servers), RFC 8414 and
// OpenID Connect Discovery (what these say of themselves), RFC 7591 (registration),
// client id metadata documents, RFC 7636 with S256 alone, RFC 8707 (the resource that a
// token is for), RFC 9207 (who answers), RFC 6750 (what a service says of a token that it
// refuses) and RFC 7009 (revocation).
//
// Nothing is kept here, and nothing is asked but through the network that is given,
// which [Network] makes: HTTPS, public addresses, bounded answers. Where a service is
// reached by HTTPS, so is each server and endpoint that it leads to. What a server says
// in words is data: short, without control characters, without the secrets in use.
package oauth
