package sandbox

import (
	"crypto/sha256"
	"math/rand/v2"
)

// random is the randomness of one execution, fixed by its seed. Numbers and bytes
// come from streams of their own.
type random struct {
	numbers, octets *rand.ChaCha8
}

func newRandom(seed string) *random {
	return &random{
		numbers: rand.NewChaCha8(sha256.Sum256([]byte("numbers\x00" + seed))),
		octets:  rand.NewChaCha8(sha256.Sum256([]byte("octets\x00" + seed))),
	}
}

// float gives a number in [0, 1).
func (r *random) float() float64 {
	const bits = 53
	return float64(r.numbers.Uint64()>>(64-bits)) / (1 << bits)
}

// maxRandomBytes is the most that crypto.getRandomValues gives at once.
const maxRandomBytes = 65536

func (r *random) bytes(n int) []byte {
	b := make([]byte, min(max(n, 0), maxRandomBytes))
	_, _ = r.octets.Read(b) // never fails
	return b
}
