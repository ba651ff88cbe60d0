package encryption

import (
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// encodedMessage stands for the message of an encrypted failure, as in Temporal's SDKs.
const encodedMessage = "Encoded failure"

// failureConverter says of a failure that cannot be decrypted why.
type failureConverter struct {
	converter.FailureConverter
	codec *Codec
}

// FailureToError makes a failure an error.
func (f failureConverter) FailureToError(failure *failurepb.Failure) error {
	told := failure
	for part, depth := failure, 0; part != nil; part, depth = part.GetCause(), depth+1 {
		attributes := part.GetEncodedAttributes()
		if attributes == nil {
			continue
		}
		if _, err := f.codec.Decode([]*commonpb.Payload{attributes}); err != nil {
			if told == failure {
				told = proto.CloneOf(failure)
			}
			same := told
			for range depth {
				same = same.GetCause()
			}
			same.Message, same.EncodedAttributes = err.Error(), nil
		}
	}
	return f.FailureConverter.FailureToError(told)
}

// EncryptFailure returns a failure, and what caused it, with messages, stack traces and
// details encrypted. It is for who changes a failure on its way to Temporal; else
// [Codec.FailureConverter] does it.
func (c *Codec) EncryptFailure(failure *failurepb.Failure) (*failurepb.Failure, error) {
	if c.keys == nil || failure == nil {
		return failure, nil
	}
	// It may be another error's own.
	failure = proto.CloneOf(failure)
	dc := c.DataConverter()
	for part := failure; part != nil; part = part.GetCause() {
		if part.GetEncodedAttributes() != nil { // it has come from Temporal, and may have been decrypted
			part.Message, part.StackTrace = encodedMessage, ""
		} else if err := converter.EncodeCommonFailureAttributes(dc, part); err != nil {
			return nil, err
		}
		for _, details := range []*commonpb.Payloads{
			part.GetApplicationFailureInfo().GetDetails(),
			part.GetCanceledFailureInfo().GetDetails(),
			part.GetTimeoutFailureInfo().GetLastHeartbeatDetails(),
		} {
			for i, p := range details.GetPayloads() {
				if isEncrypted(p) {
					continue
				}
				encrypted, err := c.Encode([]*commonpb.Payload{p})
				if err != nil {
					return nil, err
				}
				details.Payloads[i] = encrypted[0]
			}
		}
	}
	return failure, nil
}
