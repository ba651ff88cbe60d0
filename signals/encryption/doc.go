// Package encryption encrypts all that threads leave with Temporal: messages, results,
// errors, summaries. Temporal then keeps nothing of it in clear but what it has to
// know: ids of workflows (tenant and thread), names of workflows, activities, signals
// and updates, search attributes, times and sizes.
//
// A worker encrypts once its heddle.yaml says so (temporal.encryption). A backend in Go
// uses the same keys:
//
//	codec, err := encryption.Parse(os.Getenv("HEDDLE_PAYLOAD_KEYS"))
//	...
//	temporal, err := client.Dial(codec.Options(client.Options{...}))
//	threads := signals.NewClient(temporal, &signals.Options{DataConverter: codec.DataConverter()})
//
// # Keys
//
// A key has an id, which stands beside all that it has encrypted. The newest encrypts,
// all decrypt. To replace one, put the new key behind the old one and restart every
// side; once all have both, put it in front. An old key is needed for as long as the
// namespace retains what it has encrypted. What was written before there were keys is
// read as it stands.
//
// # The form
//
// A payload is encrypted as a whole, its metadata too, with AES-256-GCM. It becomes one
// with the encoding binary/encrypted, the id of its key as encryption-key-id, and the
// nonce of 12 bytes before the data, bound to "payload", a line feed and that id.
package encryption
