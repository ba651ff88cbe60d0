package blobs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
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
		return nil, fmt.Errorf("blobs: open %s: %w", shown(place), err)
	}
	return &Store{bucket: bucket}, nil
}

// shown is a place without what may be a secret: a URL can hold credentials in
// its user part and its options.
func shown(place string) string {
	scheme, _, isURL := strings.Cut(place, "://")
	u, err := url.Parse(place)
	switch {
	case !isURL:
		return strconv.Quote(place)
	case err != nil:
		return scheme + "://..."
	}
	return u.Scheme + "://" + u.Host + u.Path
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
		return nil, errors.New("is not a URL") // the cause quotes the whole
	}
	if u.Scheme != "file" {
		bucket, err := blob.OpenBucket(ctx, place)
		if err != nil {
			return nil, errors.New(strings.ReplaceAll(err.Error(), place, shown(place)))
		}
		return bucket, nil
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
