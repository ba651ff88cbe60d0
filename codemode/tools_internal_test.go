package codemode

import (
	"slices"
	"strings"
	"testing"
)

func TestMentioned(t *testing.T) {
	for source, want := range map[string]string{
		`await crm.find({})`: "crm.find",
		"return (crm.a.b ( {} ), crm\n  .c({}), crm.a.b())": "crm.a.b crm.c",
		`other.crm.find({}); xcrm.find({}); $crm.find({})`:  "",
		`crm.find; crm["find"]({}); crm?.find({})`:          "",
		`const r = [crm.find(1),crm.find(2)]`:               "crm.find",
		`crm.` + strings.Repeat("x", 500) + `({})`:          "",
		`crm.ünicode({})`:                                   "",
	} {
		if got := mentioned(source, "crm"); strings.Join(got, " ") != want {
			t.Errorf("%s calls %q, want %q", source, got, want)
		}
	}
	if got := mentioned("git_hub.find({}); github.look({})", "git-hub"); !slices.Equal(got, []string{"git-hub.find"}) {
		t.Errorf("of a namespace whose name is none of the language it calls %q", got)
	}
	if got := mentioned(strings.Repeat("crm.a({});", 100_000), "crm"); len(got) != 1 {
		t.Errorf("many calls are %d tools", len(got))
	}
}
