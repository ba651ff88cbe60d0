package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

func TestReasonOf(t *testing.T) {
	for words, want := range map[string]string{
		"runtime: goroutine stack exceeds 67108864-byte limit\nfatal error: stack overflow":   snippet.CodeStack,
		"fatal error: runtime: out of memory":                                                 snippet.CodeMemory,
		"runtime: cannot map pages in arena address space":                                    snippet.CodeMemory,
		"SIGSEGV: segmentation violation\nPC=0x43761d m=2\n\ngoroutine 0 gp=0x1 m=2 [idle]:":  snippet.CodeMemory,
		"panic: runtime error: index out of range [3] with length 2\n\ngoroutine 1 [running]": "",
		"panic: SIGSEGV\ngoroutine 0 ":                                                        "",
		"":                                                                                    "",
	} {
		if got := reasonOf(words, nil); got != want {
			t.Errorf("%q is %q, want %q", words, got, want)
		}
	}
}
