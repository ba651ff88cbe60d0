package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/internal/blobs"
	"github.com/heddle-dev/heddle/signals/contract"
)

func open(t testing.TB, place string) *blobs.Store {
	t.Helper()
	s, err := blobs.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestPutGet(t *testing.T) {
	for name, place := range map[string]string{
		"folder": filepath.Join(t.TempDir(), "not", "there", "yet"), "file URL": "file://" + filepath.ToSlash(t.TempDir()), "memory": "mem://",
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, place)
			for _, value := range [][]byte{nil, {}, []byte("x"), []byte("héllo\x00\xff"), bytes.Repeat([]byte("0123456789"), 500_000)} {
				ref, err := s.Put(t.Context(), value)
				if err != nil {
					t.Fatal(err)
				}
				again, err := s.Put(t.Context(), value)
				if err != nil || again != ref {
					t.Errorf("putting it again: %v, %v; want %v", again, err, ref)
				}
				got, err := s.Get(t.Context(), ref)
				if err != nil || !bytes.Equal(got, value) {
					t.Errorf("got %d bytes (%v), want the %d that were put", len(got), err, len(value))
				}
			}
		})
	}
}

func TestRefIsTheSum(t *testing.T) {
	ref, err := open(t, "mem://").Put(t.Context(), []byte("abc"))
	want := contract.Ref{Digest: "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", Size: 3}
	if err != nil || ref != want {
		t.Errorf("ref is %v (%v), want %v", ref, err, want)
	}
}

// TestFolder looks at what is on disk: one file, for the owner alone, and no
// trace of how it got there.
func TestFolder(t *testing.T) {
	root := filepath.Join(t.TempDir(), "blobs")
	s := open(t, root)
	ref, err := s.Put(t.Context(), []byte("abc"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			if info.Mode().Perm() != 0o700 {
				t.Errorf("folder %s has mode %o", path, info.Mode().Perm())
			}
			return nil
		}
		files = append(files, path)
		return nil
	})
	sum := strings.TrimPrefix(ref.Digest, "sha256:")
	if want := filepath.Join(root, "sha256", sum[:2], sum); err != nil || len(files) != 1 || files[0] != want {
		t.Errorf("files are %q (%v), want %s alone", files, err, want)
	}

	other := open(t, root)
	if got, err := other.Get(t.Context(), ref); err != nil || string(got) != "abc" {
		t.Errorf("another store of the same folder gets %q, %v", got, err)
	}
}

func TestNotFound(t *testing.T) {
	ref, err := open(t, "mem://").Put(t.Context(), []byte("abc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"mem://", t.TempDir()} {
		if _, err := open(t, place).Get(t.Context(), ref); !errors.Is(err, blobs.ErrNotFound) || !strings.Contains(err.Error(), ref.Digest) {
			t.Errorf("%s: error is %v, want ErrNotFound that names the digest", place, err)
		}
	}
}

// TestCorrupt damages a stored value. Putting it again mends it.
func TestCorrupt(t *testing.T) {
	for name, damage := range map[string][]byte{"shorter": []byte("ab"), "longer": []byte("abcd"), "other": []byte("abx"), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			s := open(t, root)
			ref, err := s.Put(t.Context(), []byte("abc"))
			if err != nil {
				t.Fatal(err)
			}
			sum := strings.TrimPrefix(ref.Digest, "sha256:")
			if err := os.WriteFile(filepath.Join(root, "sha256", sum[:2], sum), damage, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Get(t.Context(), ref); !errors.Is(err, blobs.ErrCorrupt) || got != nil {
				t.Errorf("got %q, %v; want ErrCorrupt", got, err)
			}
			if _, err := s.Put(t.Context(), []byte("abc")); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Get(t.Context(), ref); err != nil || string(got) != "abc" {
				t.Errorf("after it was put again: %q, %v", got, err)
			}
		})
	}
}

func TestBadRef(t *testing.T) {
	s := open(t, t.TempDir())
	good := "sha256:" + strings.Repeat("a", 64)
	for _, ref := range []contract.Ref{
		{},
		{Digest: good[7:], Size: 1},
		{Digest: "sha256:" + strings.Repeat("a", 63), Size: 1},
		{Digest: "sha256:" + strings.Repeat("A", 64), Size: 1},
		{Digest: "sha256:../../" + strings.Repeat("a", 58), Size: 1},
		{Digest: "md5:" + strings.Repeat("a", 64), Size: 1},
		{Digest: good, Size: -1},
		{Digest: good, Size: blobs.MaxSize + 1},
	} {
		if _, err := s.Get(t.Context(), ref); err == nil || errors.Is(err, blobs.ErrNotFound) {
			t.Errorf("%+v: error is %v, want it refused", ref, err)
		}
	}
}

func TestTooLarge(t *testing.T) {
	if _, err := open(t, "mem://").Put(t.Context(), make([]byte, blobs.MaxSize+1)); !errors.Is(err, blobs.ErrTooLarge) {
		t.Errorf("error is %v, want ErrTooLarge", err)
	}
}

func TestCancellation(t *testing.T) {
	for _, place := range []string{"mem://", t.TempDir()} {
		s := open(t, place)
		ref, err := s.Put(t.Context(), []byte("abc"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Put(ctx, []byte("other")); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Put returns %v", place, err)
		}
		if _, err := s.Get(ctx, ref); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Get returns %v", place, err)
		}
	}
}

// TestManyAtOnce writes the same values from many sides, through several stores
// of one folder.
func TestManyAtOnce(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		s := open(t, root)
		for range 4 {
			wg.Go(func() {
				for i := range 20 {
					value := bytes.Repeat([]byte(fmt.Sprint(i)), 10_000)
					ref, err := s.Put(t.Context(), value)
					if err != nil {
						t.Error(err)
						return
					}
					if got, err := s.Get(t.Context(), ref); err != nil || !bytes.Equal(got, value) {
						t.Errorf("got %d bytes, %v", len(got), err)
					}
				}
			})
		}
	}
	wg.Wait()
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for place, part := range map[string]string{
		"":                      "is empty",
		"  ":                    "is empty",
		file:                    "not a directory",
		"file://host/folder":    `has the host "host"`,
		"file:///a?metadata=":   "has options",
		"gopher://bucket":       "gopher",
		"s3://key:secret@\x7f/": "is not a URL",
		"mine://key:secret@bucket/path?token=secret": "mine://bucket/path",
	} {
		_, err := blobs.Open(t.Context(), place)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: error is %v, want one that says %q", place, err, part)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows a credential: %v", place, err)
		}
	}
}

func BenchmarkPutGet(b *testing.B) {
	s := open(b, b.TempDir())
	value := bytes.Repeat([]byte("x"), 256<<10)
	b.SetBytes(int64(len(value)))
	for i := 0; b.Loop(); i++ {
		copy(value, fmt.Sprintf("%020d", i))
		ref, err := s.Put(b.Context(), value)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Get(b.Context(), ref); err != nil {
			b.Fatal(err)
		}
	}
}
