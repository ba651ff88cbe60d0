package catalog

import (
	"crypto/sha256"
	"encoding/hex"
)

// digest names a content: sha256: and 64 hex digits.
func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// descriptorDigest covers all that a person agrees to by approving a call of a
// tool. Source and timeout are not among it: a moved line or a longer deadline
// is the same tool. The schemas go in by their own digests, so the order of
// their keys does not matter.
func descriptorDigest(d Descriptor, input, output string) string {
	canonical, err := encode([]string{d.ID, d.Title, d.Description, input, output, string(d.Operation), string(d.Approval)})
	if err != nil {
		panic(err) // strings always encode
	}
	return digest(canonical)
}
