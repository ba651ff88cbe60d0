package engine_test

import (
	"testing"

	"github.com/heddle-dev/heddle/codemode/engine"
)

func TestRunsASnippetToItsEnd(t *testing.T) {
	e := newEngine(t, engine.Options{})
	end, calls, _ := play(t, e, program("const a: any = await orders.get({ id: 7 });\na.id + 1"), echo)
	if end.Error != nil || string(end.Result) != "8" {
		t.Errorf("end = %+v, want 8", end)
	}
	if len(calls) != 1 || calls[0].Tool != "shop.get" || string(calls[0].Input) != `{"id":7}` {
		t.Errorf("calls = %+v", calls)
	}
}
