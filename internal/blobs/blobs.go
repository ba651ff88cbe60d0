package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/heddle-dev/heddle/signals/contract"
)

// MaxSize bounds a value, in bytes.
const MaxSize = 64 << 20

// ErrNotFound: the store has no such value. Either it was deleted by hand, or
// the workers do not share one store.
var ErrNotFound = errors.New("not in the store; do all workers share one store of large values?")

// ErrCorrupt: what the store holds is not what was written.
var ErrCorrupt = errors.New("corrupt: the stored bytes are not the ones that were written")

// ErrTooLarge: the value is longer than [MaxSize].
var ErrTooLarge = fmt.Errorf("longer than %d bytes", MaxSize)

// Store is a content-addressed store. It is safe for concurrent use, by this
// process and by others.
type Store struct {
	bucket *blob.Bucket
}

// Put stores a value and returns the reference to it. Storing it again is no
// error, and mends a copy that has become corrupt.
func (s *Store) Put(ctx context.Context, value []byte) (contract.Ref, error) {
	ref := refOf(value)
	if len(value) > MaxSize {
		return contract.Ref{}, fmt.Errorf("blobs: put %d bytes: %w", len(value), ErrTooLarge)
	}
	if err := ctx.Err(); err != nil {
		return contract.Ref{}, fmt.Errorf("blobs: put %s: %w", ref.Digest, err)
	}
	if _, err := s.Get(ctx, ref); err == nil {
		return ref, nil
	}
	options := &blob.WriterOptions{ContentType: "application/octet-stream", DisableContentTypeDetection: true}
	if err := s.bucket.WriteAll(ctx, key(ref.Digest), value, options); err != nil {
		return contract.Ref{}, fmt.Errorf("blobs: put %s: %w", ref.Digest, err)
	}
	return ref, nil
}

// Get returns the value that a reference stands for, after checking its size and
// sum. The error is one of [ErrNotFound] and [ErrCorrupt] where the store was
// read; any other may pass.
func (s *Store) Get(ctx context.Context, ref contract.Ref) ([]byte, error) {
	if err := checkRef(ref); err != nil {
		return nil, fmt.Errorf("blobs: get: %w", err)
	}
	value, err := s.read(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("blobs: get %s: %w", ref.Digest, err)
	}
	return value, nil
}

func (s *Store) read(ctx context.Context, ref contract.Ref) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := s.bucket.NewReader(ctx, key(ref.Digest), nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Size() != ref.Size {
		return nil, fmt.Errorf("%w (%d bytes, want %d)", ErrCorrupt, r.Size(), ref.Size)
	}
	value := make([]byte, ref.Size)
	if _, err := io.ReadFull(r, value); err != nil {
		return nil, err
	}
	if refOf(value) != ref {
		return nil, fmt.Errorf("%w (the sum differs)", ErrCorrupt)
	}
	return value, nil
}

// Close releases what the store holds on to. The values stay.
func (s *Store) Close() error { return s.bucket.Close() }

const digestPrefix = "sha256:"

func refOf(value []byte) contract.Ref {
	sum := sha256.Sum256(value)
	return contract.Ref{Digest: digestPrefix + hex.EncodeToString(sum[:]), Size: int64(len(value))}
}

// checkRef refuses a reference that no Put has made. A digest becomes a path, so
// nothing but hex digits may pass.
func checkRef(ref contract.Ref) error {
	sum, ok := strings.CutPrefix(ref.Digest, digestPrefix)
	if _, err := hex.DecodeString(sum); !ok || err != nil || len(sum) != 2*sha256.Size || strings.ToLower(sum) != sum {
		return fmt.Errorf("digest %.100q is not sha256: and 64 lower-case hex digits", ref.Digest)
	}
	if ref.Size < 0 || ref.Size > MaxSize {
		return fmt.Errorf("size %d is not between 0 and %d", ref.Size, MaxSize)
	}
	return nil
}

// key spreads the values over 256 folders, so that none grows too large to list.
func key(digest string) string {
	sum := strings.TrimPrefix(digest, digestPrefix)
	return "sha256/" + sum[:2] + "/" + sum
}
