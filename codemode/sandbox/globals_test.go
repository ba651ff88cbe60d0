package sandbox

import (
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

// TestReservedNamesAreTheGlobals keeps the list of names that no namespace may
// take true to what a snippet finds.
func TestReservedNamesAreTheGlobals(t *testing.T) {
	if err := loadPrelude(); err != nil {
		t.Fatal(err)
	}
	x, err := newExecution()
	if err != nil {
		t.Fatal(err)
	}
	if err := x.begin(&snippet.Program{Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	names := x.rt.GlobalObject().GetOwnPropertyNames()
	for _, name := range names {
		if !snippet.Reserved(name) {
			t.Errorf("%s is a global and not reserved", name)
		}
	}
	for _, name := range snippet.ReservedNames() {
		if x.rt.Get(name) == nil {
			t.Errorf("%s is reserved and no global", name)
		}
	}
}

// TestGojaTellsWhetherAPromiseIsHandled pins a field of goja that its API does
// not show.
func TestGojaTellsWhetherAPromiseIsHandled(t *testing.T) {
	rt := goja.New()
	for source, want := range map[string]bool{
		"new Promise(() => {})": false,
		"Promise.resolve(1)":    false,
		"(() => { const p = Promise.resolve(); p.then(); return p })()": true,
	} {
		value, err := rt.RunString(source)
		if err != nil {
			t.Fatal(err)
		}
		if got := handled(value.Export().(*goja.Promise)); got != want {
			t.Errorf("%s: handled = %t, want %t", source, got, want)
		}
	}
}
