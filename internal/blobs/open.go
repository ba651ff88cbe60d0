package blobs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/memblob" // mem://, for tests
)

// Open opens the store at a place: the path of a folder, which is created for
// the owner alone where it is missing; file:///path, the same; mem://, which
// ends with the process; or the URL of any bucket whose gocloud.dev driver is
// linked into the program.
func Open(ctx context.Context, place string) (*Store, error) {
	bucket, err := open(ctx, place)
	if err != nil {
		return nil, fmt.Errorf("blobs: open %q: %w", place, err)
	}
	return &Store{bucket: bucket}, nil
}

func open(ctx context.Context, place string) (*blob.Bucket, error) {
	if strings.TrimSpace(place) == "" {
		return nil, errors.New("is empty, want a folder or a URL")
	}
	if !strings.Contains(place, "://") {
		return openFolder(place)
	}
	u, err := url.Parse(place)
	if err != nil {
		return nil, errors.New("is not a URL") // the cause quotes the URL, which may hold a credential
	}
	if u.Scheme != "file" {
		return blob.OpenBucket(ctx, place)
	}
	if u.Host != "" && u.Host != "localhost" {
		return nil, fmt.Errorf("has the host %q; a folder is written file:///path", u.Host)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("has options; a folder is written file:///path and takes none")
	}
	return openFolder(filepath.FromSlash(u.Path))
}

func openFolder(path string) (*blob.Bucket, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return fileblob.OpenBucket(path, &fileblob.Options{
		// Beside its place and not in a temporary folder: a rename is atomic within
		// one file system only.
		NoTempDir:   true,
		DirFileMode: 0o700,
		// A value is named by its content; there is nothing else to say of it.
		Metadata: fileblob.MetadataDontWrite,
	})
}
