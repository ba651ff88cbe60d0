package encryption

import (
	"errors"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/heddle-dev/heddle/internal/keyring"
)

const (
	// encoding is that of an encrypted payload, in its metadata.
	encoding = "binary/encrypted"
	// keyID is the metadata that names the key.
	keyID = "encryption-key-id"
)

// KeysEnv is the environment variable in which the starter looks for keys.
const KeysEnv = "HEDDLE_PAYLOAD_KEYS"

// Codec encrypts and decrypts payloads. It is a [converter.PayloadCodec], and safe for
// concurrent use. The zero value has no keys: it encrypts nothing, and says of what is
// encrypted that it has none.
type Codec struct{ keys *keyring.Ring }

// Parse reads keys, the newest first: each as id:key with a key of 32 bytes in base64,
// separated by commas or white space; a line that begins with # is a comment. An error
// quotes no key.
func Parse(keys string) (*Codec, error) {
	ring, err := keyring.Parse(keys)
	if err != nil {
		return nil, fmt.Errorf("keys of the payloads: %w", err)
	}
	return &Codec{ring}, nil
}

// Encrypts reports whether there are keys.
func (c *Codec) Encrypts() bool { return c.keys != nil }

// ErrKey says that a payload cannot be decrypted with the keys that there are.
var ErrKey = errors.New("the payload cannot be decrypted")

// Encode encrypts payloads with the newest key.
func (c *Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if c.keys == nil {
		return payloads, nil
	}
	key := c.keys.Newest()
	encrypted := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		whole, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encrypt a payload: %w", err)
		}
		encrypted[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding), keyID: []byte(key.ID)},
			Data:     key.Seal(binding(key.ID), whole),
		}
	}
	return encrypted, nil
}

// Decode decrypts payloads. One that is not encrypted is returned as it is. The error
// wraps [ErrKey] where a key is missing or is another.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	plain := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if !isEncrypted(p) {
			plain[i] = p
			continue
		}
		id := string(p.GetMetadata()[keyID])
		whole, err := c.open(id, p.GetData())
		if err != nil {
			return nil, err
		}
		plain[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(whole, plain[i]); err != nil {
			return nil, fmt.Errorf("decrypt a payload: %w", err)
		}
	}
	return plain, nil
}

func isEncrypted(p *commonpb.Payload) bool {
	return string(p.GetMetadata()[converter.MetadataEncoding]) == encoding
}

func (c *Codec) open(id string, data []byte) ([]byte, error) {
	if c.keys == nil {
		return nil, fmt.Errorf("%w: it is encrypted with the key %q, and there are no keys here; set %s, or temporal.encryption in heddle.yaml", ErrKey, id, KeysEnv)
	}
	key := c.keys.Find(id)
	if key == nil {
		return nil, fmt.Errorf("%w: it is encrypted with the key %q, and here there are %s", ErrKey, id, strings.Join(c.keys.IDs(), ", "))
	}
	whole, err := key.Open(binding(id), data)
	if err != nil {
		return nil, fmt.Errorf("%w with the key %q: %w", ErrKey, id, err)
	}
	return whole, nil
}

// binding keeps what is enciphered as a payload from being taken for something else
// that the same key has enciphered.
func binding(id string) string { return "payload\n" + id }

// DataConverter is Temporal's own, with encryption.
func (c *Codec) DataConverter() converter.DataConverter {
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
}

// FailureConverter is Temporal's own, with encryption of messages, stack traces and
// details. A failure that cannot be decrypted says so.
func (c *Codec) FailureConverter() converter.FailureConverter {
	return failureConverter{temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: c.DataConverter(), EncodeCommonAttributes: c.keys != nil,
	}), c}
}

// Options are those of a Temporal client, with encryption. Without keys, a data
// converter that is set stays.
func (c *Codec) Options(options client.Options) client.Options {
	if c.keys == nil && options.DataConverter != nil {
		return options
	}
	options.DataConverter, options.FailureConverter = c.DataConverter(), c.FailureConverter()
	return options
}
