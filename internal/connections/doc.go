// Package connections keeps the credentials that people have let this side have for
// services: by consent (OAuth), or as a key that they were given.
//
// A connection belongs to a tenant, or to one user of it; see [ID]. It lies in the
// store of secrets, enciphered as all of them, as two secrets:
//
//	connection:NAME:token   the value that is sent: an access token or a key
//	connection:NAME:grant   all else: whom it is from, the refresh token, what was granted
//
// Sources of tools know the first alone, by its reference; the vault has it renewed
// through [Book.Renew].
//
// # Consent
//
// [Book.Begin] finds out about the service and returns the address where the person
// agrees; the attempt lies in the store meanwhile, so that the answer may come to
// another worker. [Book.Finish] takes the answer, once, within [ConsentTime]. [Book.Mend] does so for a call that lacks consent, within [QuestionTime].
//
// # Renewal
//
// One worker renews a token, however many want it: it takes a lease in the grant, by
// replacing just the version that it has read, and the others wait for what it stores.
// The new refresh token and the new access token are stored in one step, before anybody
// uses the latter. A worker that dies
//
//   - before its request has left: the lease runs out after [LeaseTime], and another
//     worker renews;
//   - after the tokens are stored: the others find them in the grant, and no request
//     is made;
//   - in between: the server may have put a new refresh token in place of the old, and
//     it died with the worker. The next renewal sends the old one. A server that allows
//     for lost answers takes it; another answers that it is void, and the connection
//     is revoked: a person must consent anew. No client can do better.
//
// A grant that the server has called void is marked so, and is not sent again.
package connections
