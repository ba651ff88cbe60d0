package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// digest names a content: sha256: and 64 hex digits.
func digest(content []byte) string {
	sum := sha256.Sum256(content)
	const prefix = "sha256:"
	var name [len(prefix) + 2*sha256.Size]byte
	hex.Encode(name[copy(name[:], prefix):], sum[:])
	return string(name[:])
}

// descriptorDigest covers all that a person agrees to by approving a call of a
// tool. Source, timeout and examples are not among it: a moved line or a longer
// deadline is the same tool. The schemas go in by their own digests, so the order
// of their keys does not matter.
func descriptorDigest(d Descriptor, input, output string) string {
	parts := []string{d.ID, d.Title, d.Description, input, output, string(d.Operation), string(d.Approval)}
	// What a tool need not have is left out where it has none, so that the digest of
	// a tool without it is what it was before there were such things.
	for _, capability := range d.Capabilities {
		parts = append(parts, "capability "+capability)
	}
	for _, tag := range d.Tags {
		parts = append(parts, "tag "+tag)
	}
	if d.Approvers > 0 {
		parts = append(parts, "approvers "+strconv.Itoa(d.Approvers))
	}
	for _, secret := range d.Secrets {
		parts = append(parts, "secret "+secret)
	}
	if d.ResourceKey != "" {
		parts = append(parts, "resource key "+d.ResourceKey)
	}
	if d.Trust != TrustAuthor {
		parts = append(parts, "trust "+string(d.Trust))
	}
	for _, hint := range d.Hints() {
		parts = append(parts, "hint "+hint)
	}
	canonical, err := encode(parts)
	if err != nil {
		panic(err) // strings always encode
	}
	return digest(canonical)
}
