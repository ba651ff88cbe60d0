package engine_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/codemode/engine"
)

// resident is the memory of this process, in bytes, with no garbage in it.
func resident(t testing.TB) int64 { return residentOf(t, os.Getpid()) }

func residentOf(t testing.TB, pid int) int64 {
	t.Helper()
	if pid == os.Getpid() {
		runtime.GC()
		debug.FreeOSMemory()
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// processTime is how long another process has run, to a hundredth of a second.
func processTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

func TestMemoryIsWithoutTheFileOfTheProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, bytes.Repeat([]byte{1}, 64<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before, resident := engine.MemoryOf(os.Getpid()), residentOf(t, os.Getpid())
	mapped, err := unix.Mmap(int(file.Fd()), 0, 64<<20, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mapped) }()
	if grown := residentOf(t, os.Getpid()) - resident; grown < 32<<20 {
		t.Fatalf("the file is not resident: %d bytes more", grown)
	}
	if grown := engine.MemoryOf(os.Getpid()) - before; grown > 32<<20 {
		t.Errorf("memory grew by %d bytes with a file that is mapped and not written", grown)
	}
}
