package secrets

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"filippo.io/age"
)

// maxFile bounds a file of secrets, in bytes.
const maxFile = 16 << 20

// File is a store in one file, enciphered with age or readable by its owner alone.
// Each change replaces the file as a whole, under a lock that other processes of the
// same machine respect.
type File struct {
	path string
	// identities decipher the file; the first enciphers it. None: it is plain.
	identities []identity
	mu         sync.Mutex
}

// fileContent is what a file of secrets holds, as JSON.
type fileContent struct {
	Format  int          `json:"format"`
	Secrets []fileSecret `json:"secrets"`
	// key names the identity that deciphered it.
	key string
}

// fileFormat is the version of the file's form.
const fileFormat = 1

type fileSecret struct {
	Key
	Value   []byte    `json:"value"`
	Version int64     `json:"version"`
	Expires time.Time `json:"expires,omitzero"`
	Updated time.Time `json:"updated"`
}

// OpenFile returns a store in a file. With identities it is enciphered. Without, nil,
// it is plain, and refused when anybody but its owner may read it. A file that is not
// there is an empty store.
func OpenFile(path string, identities *Identities) (*File, error) {
	f := &File{path: path}
	if identities != nil {
		f.identities = identities.all
	}
	content, err := f.read()
	content.wipe()
	if err != nil {
		return nil, err
	}
	return f, nil
}

// readPrivate reads a file that only its owner may read.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: is not a regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s: others than its owner may read or write it (mode %04o); run: chmod 600 %s", path, info.Mode().Perm(), path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s: is %d bytes long, at most %d are allowed", path, info.Size(), maxFile)
	}
	return os.ReadFile(path)
}

// Name names the file.
func (f *File) Name() string { return "file " + f.path }

// Get reads a secret.
func (f *File) Get(_ context.Context, key Key) (Item, error) {
	content, err := f.read()
	if err != nil {
		return Item{}, err
	}
	defer content.wipe()
	i := content.index(key)
	if i < 0 {
		return Item{}, ErrNotFound
	}
	found := content.Secrets[i]
	return Item{Value: bytes.Clone(found.Value), Expires: found.Expires, Version: found.Version}, nil
}

// Put stores a secret.
func (f *File) Put(ctx context.Context, key Key, item Item) error {
	if err := errors.Join(key.Check(), checkValue(item.Value)); err != nil {
		return err
	}
	return f.change(ctx, func(content *fileContent) error {
		secret := fileSecret{key, bytes.Clone(item.Value), 1, item.Expires, time.Now().UTC()}
		i := content.index(key)
		switch {
		case i < 0 && item.Version != 0:
			return ErrChanged
		case i < 0:
			content.Secrets = append(content.Secrets, secret)
		case item.Version != 0 && content.Secrets[i].Version != item.Version:
			return ErrChanged
		default:
			secret.Version = content.Secrets[i].Version + 1
			wipe(content.Secrets[i].Value)
			content.Secrets[i] = secret
		}
		return nil
	})
}

// Delete removes a secret.
func (f *File) Delete(ctx context.Context, key Key) error {
	return f.change(ctx, func(content *fileContent) error {
		i := content.index(key)
		if i < 0 {
			return ErrNotFound
		}
		wipe(content.Secrets[i].Value)
		content.Secrets = slices.Delete(content.Secrets, i, i+1)
		return nil
	})
}

// List says which secrets there are.
func (f *File) List(context.Context) ([]Entry, error) {
	content, err := f.read()
	if err != nil {
		return nil, err
	}
	defer content.wipe()
	entries := make([]Entry, len(content.Secrets))
	for i, s := range content.Secrets {
		entries[i] = Entry{Key: s.Key, Store: f.Name(), Expires: s.Expires, Updated: s.Updated, KeyID: content.key}
	}
	slices.SortFunc(entries, compareEntries)
	return entries, nil
}

// Rotate enciphers the file with the first identity.
func (f *File) Rotate(ctx context.Context) (rotated int, err error) {
	if len(f.identities) == 0 {
		return 0, nil
	}
	err = f.change(ctx, func(content *fileContent) error {
		if content.key == f.identities[0].name {
			return errUnchanged
		}
		rotated = len(content.Secrets)
		return nil
	})
	return rotated, err
}

// Close does nothing: the file is opened anew each time.
func (*File) Close() error { return nil }

// errUnchanged says that a change has nothing to write.
var errUnchanged = errors.New("unchanged")

// change reads the file, changes what it holds and replaces it.
func (f *File) change(ctx context.Context, change func(*fileContent) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("secrets file: %w", err)
	}
	unlock, err := lockFile(ctx, f.real()+".lock")
	if err != nil {
		return fmt.Errorf("secrets file: lock: %w", err)
	}
	defer unlock()
	content, err := f.read()
	if err != nil {
		return err
	}
	defer content.wipe()
	if err := change(&content); err != nil {
		if errors.Is(err, errUnchanged) {
			return nil
		}
		return err
	}
	return f.write(content)
}

// real is the path of the file itself, where the store's is a link.
func (f *File) real() string {
	if real, err := filepath.EvalSymlinks(f.path); err == nil {
		return real
	}
	return f.path
}

func (f *File) read() (fileContent, error) {
	content := fileContent{Format: fileFormat}
	text, err := f.decipher(&content)
	if errors.Is(err, fs.ErrNotExist) {
		return content, nil
	}
	if err != nil {
		return content, fmt.Errorf("secrets file: %w", err)
	}
	defer wipe(text)
	if err := json.Unmarshal(text, &content); err != nil { // the decoder's error may quote a value
		return content, fmt.Errorf("secrets file: %s: is not a file of secrets", f.path)
	}
	if content.Format != fileFormat {
		return content, fmt.Errorf("secrets file: %s: has format %d, want %d; it may be of a newer version", f.path, content.Format, fileFormat)
	}
	return content, nil
}

func (f *File) decipher(content *fileContent) ([]byte, error) {
	if len(f.identities) == 0 {
		return readPrivate(f.path)
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: is longer than the %d bytes that are allowed", f.path, maxFile)
	}
	for _, one := range f.identities {
		plain, err := age.Decrypt(bytes.NewReader(text), one)
		var other *age.NoIdentityMatchError
		if errors.As(err, &other) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: is not enciphered with age: %w", f.path, err)
		}
		content.key = one.name
		return io.ReadAll(io.LimitReader(plain, maxFile))
	}
	return nil, fmt.Errorf("%s: none of the identities deciphers it", f.path)
}

// write replaces the file at once: a reader finds the old one or the new one.
func (f *File) write(content fileContent) (err error) {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return fmt.Errorf("secrets file: encode: %w", err)
	}
	defer wipe(text)
	path := f.real()
	// One that is there was left by a process that was killed: its lock is ours.
	_ = os.Remove(path + ".new")
	temporary, err := os.OpenFile(path+".new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("secrets file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = temporary.Close()
			_ = os.Remove(temporary.Name())
			err = fmt.Errorf("secrets file: write: %w", err)
		}
	}()
	if err := f.encipher(temporary, text); err != nil {
		return err
	}
	if err := temporary.Sync(); err != nil {
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func (f *File) encipher(to io.Writer, text []byte) error {
	if len(f.identities) == 0 {
		_, err := to.Write(append(text, '\n'))
		return err
	}
	w, err := age.Encrypt(to, f.identities[0].recipient)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	return w.Close()
}

// syncDir makes a rename survive a power cut.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (c *fileContent) index(key Key) int {
	return slices.IndexFunc(c.Secrets, func(s fileSecret) bool { return s.Key == key })
}

func (c *fileContent) wipe() {
	for _, s := range c.Secrets {
		wipe(s.Value)
	}
}

func compareEntries(a, b Entry) int {
	return cmp.Or(
		cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Owner, b.Owner),
		cmp.Compare(a.Key.Name, b.Key.Name),
	)
}
