package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxFiles bounds the processes that may write to one folder.
const maxFiles = 1000

// syncEvery is how often what was written is made to outlive the machine. A process
// that is killed loses nothing.
const syncEvery = time.Second

// Log is the audit log of one process. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	file *os.File
	seq  int64
	prev string
	torn int
	// failed is why nothing can be written any more.
	failed error
	dirty  bool
	stop   chan struct{}
}

// Open goes on with the first log in a folder that no other process holds, or begins
// one. It refuses one whose last line is not as it was written.
func Open(folder string) (*Log, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	for n := 1; n <= maxFiles; n++ {
		path := filepath.Join(folder, fmt.Sprintf("audit-%d.jsonl", n))
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		held, err := lock(file)
		if err != nil || held {
			_ = file.Close()
			if err != nil {
				return nil, fmt.Errorf("audit log %s: lock it: %w", path, err)
			}
			continue
		}
		l := &Log{file: file, stop: make(chan struct{})}
		if err := l.resume(); err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("audit log %s: %w; move the file away to begin another", path, err)
		}
		go l.sync()
		return l, nil
	}
	return nil, fmt.Errorf("audit log: all of the %d files in %s are held by other processes", maxFiles, folder)
}

// resume finds the end of the chain, and takes a torn line away.
func (l *Log) resume() error {
	size, err := l.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	from := max(size-2*maxLine, 0)
	tail := make([]byte, size-from)
	if _, err := l.file.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	whole := bytes.LastIndexByte(tail, '\n') + 1
	if whole == 0 && from > 0 {
		return errors.New("its last line is longer than any")
	}
	if l.torn = len(tail) - whole; l.torn > 0 {
		if err := l.file.Truncate(from + int64(whole)); err != nil {
			return err
		}
	}
	if _, err := l.file.Seek(from+int64(whole), io.SeekStart); err != nil || whole == 0 {
		return err
	}
	last := tail[:whole-1]
	r, hash, err := decode(last[bytes.LastIndexByte(last, '\n')+1:])
	if err != nil {
		return fmt.Errorf("the last line: %w", err)
	}
	l.seq, l.prev = r.Seq, hash
	return nil
}

// Write adds an entry. After an error that is the disk's nothing more is written.
func (l *Log) Write(entry any) error {
	body, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	text, hash, err := encode(record{Seq: l.seq + 1, Prev: l.prev, Time: time.Now().UTC(), Torn: l.torn, Body: body})
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	if n, err := l.file.Write(text); err != nil {
		// A part of a line must not stay: the next would be lost with it.
		l.failed = fmt.Errorf("audit log: %w", err)
		if end, seekErr := l.file.Seek(int64(-n), io.SeekCurrent); seekErr == nil && l.file.Truncate(end) == nil {
			l.failed = nil
		}
		return fmt.Errorf("audit log: %w", err)
	}
	l.seq, l.prev, l.torn, l.dirty = l.seq+1, hash, 0, true
	return nil
}

// sync makes what was written outlive the machine.
func (l *Log) sync() {
	ticker := time.NewTicker(syncEvery)
	defer ticker.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
		}
		l.mu.Lock()
		dirty := l.dirty
		l.dirty = false
		l.mu.Unlock()
		if dirty {
			_ = l.file.Sync() // the next is tried in a second
		}
	}
}

// Close lets another process go on with the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil || !errors.Is(l.failed, os.ErrClosed) {
		close(l.stop)
		l.failed = fmt.Errorf("audit log: %w", os.ErrClosed)
		return errors.Join(l.file.Sync(), l.file.Close())
	}
	return nil
}
