package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// A mode lets a tool pass if each capability that it needs is allowed and none denied,
// and a write if its resource is one that may be written.
func TestModes(t *testing.T) {
	all := []string{"*"}
	readsMail := catalog.Descriptor{Operation: catalog.Read, Capabilities: []string{"mail.read"}}
	sendsMail := catalog.Descriptor{Operation: catalog.Write, Capabilities: []string{"mail.send", "people.read"}}
	for name, test := range map[string]struct {
		mode     catalog.Mode
		tool     catalog.Descriptor
		resource string
		refused  string
	}{
		"allowed by name":               {catalog.Mode{Allow: []string{"mail.read"}}, readsMail, "", ""},
		"allowed by a trailing star":    {catalog.Mode{Allow: []string{"mail.*"}}, readsMail, "", ""},
		"allowed by a prefix of a word": {catalog.Mode{Allow: []string{"mai*"}}, readsMail, "", ""},
		"not allowed":                   {catalog.Mode{Allow: []string{"maps.*"}}, readsMail, "", `does not allow the capability "mail.read"`},
		"a star is not in the middle":   {catalog.Mode{Allow: []string{"mail.re"}}, readsMail, "", "does not allow"},
		"deny wins":                     {catalog.Mode{Allow: all, Deny: []string{"mail.read"}}, readsMail, "", `denies the capability "mail.read" (mail.read)`},
		"deny wins over the same name":  {catalog.Mode{Allow: []string{"mail.read"}, Deny: []string{"mail.*"}}, readsMail, "", `denies the capability "mail.read" (mail.*)`},
		"one of two is not allowed":     {catalog.Mode{Allow: []string{"mail.*"}, Writable: all}, sendsMail, "", `does not allow the capability "people.read"`},
		"one of two is denied":          {catalog.Mode{Allow: all, Deny: []string{"people.*"}, Writable: all}, sendsMail, "", "denies"},
		"nothing may be written":        {catalog.Mode{Allow: all}, sendsMail, "box/1", "lets nothing be written"},
		"written in its scope":          {catalog.Mode{Allow: all, Writable: []string{"plans/*", "box/*"}}, sendsMail, "box/1", ""},
		"written by its very name":      {catalog.Mode{Allow: all, Writable: []string{"box/1"}}, sendsMail, "box/1", ""},
		"written elsewhere":             {catalog.Mode{Allow: all, Writable: []string{"box/1"}}, sendsMail, "box/12", `lets "box/1" be written and not "box/12"`},
		"written nobody knows where":    {catalog.Mode{Allow: all, Writable: []string{"box/*"}}, sendsMail, "", "a resource that the call does not name"},
		"written anywhere":              {catalog.Mode{Allow: all, Writable: all}, sendsMail, "", ""},
		"a read has no scope":           {catalog.Mode{Allow: all, Writable: []string{"box/*"}}, readsMail, "maps/1", ""},
	} {
		test.mode.Name = "triage"
		err := test.mode.Admits(test.tool)
		if err == nil {
			err = test.mode.AdmitsWrite(test.tool, test.resource)
		}
		switch {
		case test.refused == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.refused != "" && (err == nil || err.Code != catalog.CodeModeDenied || !strings.Contains(err.Message, test.refused) || !strings.Contains(err.Message, `"triage"`)):
			t.Errorf("%s: %v, want %q", name, err, test.refused)
		}
	}
}

// The built-in modes, and one of one's own in the place of one of them, at plan and at
// dispatch: a mode that is switched in between counts.
func TestModesAtPlanAndDispatch(t *testing.T) {
	plan, pay := write("plans.save"), write("orders.pay")
	plan.ResourceKey, pay.ResourceKey = "plans/{id}", "order/{id}"
	b := broker(t, of("mine", read("orders.get"), plan, pay))
	modes, err := catalog.NewModes(catalog.Mode{Name: "review", Allow: []string{"orders.*"}, Writable: []string{"order/*"}})
	if err != nil {
		t.Fatal(err)
	}
	b.Govern(nil, modes)
	for mode, may := range map[string]string{
		"": "orders.get plans.save orders.pay", "build": "orders.get plans.save orders.pay", "ask": "orders.get", "plan": "orders.get plans.save",
		"review": "orders.get orders.pay", "nosuch": "",
	} {
		scope := everyone
		scope.Mode = mode
		for _, tool := range []string{"orders.get", "plans.save", "orders.pay"} {
			req := catalog.Request{Tool: tool, Input: json.RawMessage(`{"id":"7"}`), IdempotencyKey: "k"}
			planned := b.Plan(t.Context(), scope, req)
			before := b.Plan(t.Context(), everyone, req) // in no mode, and the mode is switched then
			made := b.Dispatch(t.Context(), scope, req, before)
			for what, err := range map[string]*catalog.Error{"planned": planned.Error, "made": made.Error} {
				if allowed := strings.Contains(may, tool); allowed != (err == nil) || err != nil && err.Code != catalog.CodeModeDenied {
					t.Errorf("%s in the mode %q is %s: %v", tool, mode, what, err)
				}
			}
		}
	}
}

// What a mode hides is not listed either.
func TestModesHideTools(t *testing.T) {
	b := broker(t, of("mine", read("orders.get"), write("orders.pay")))
	modes, err := catalog.NewModes(catalog.Mode{Name: "blind", Allow: []string{"*"}, Deny: []string{"orders.read"}, Writable: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	b.Govern(nil, modes)
	for mode, want := range map[string]string{"": "orders.get orders.pay", "ask": "orders.get", "blind": "orders.pay", "nosuch": ""} {
		scope := everyone
		scope.Mode = mode
		listed, err := b.List(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range listed {
			ids = append(ids, d.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("in the mode %q there are %q, want %q", mode, got, want)
		}
	}
}

func TestModesThatCannotBe(t *testing.T) {
	for want, mode := range map[string]catalog.Mode{
		"allows no capability":            {Name: "m"},
		"the name is 0 characters":        {Allow: []string{"*"}},
		"the name holds":                  {Name: "a b", Allow: []string{"*"}},
		"allow: ":                         {Name: "m", Allow: []string{"a*b"}},
		"deny: ":                          {Name: "m", Allow: []string{"*"}, Deny: []string{"*x"}},
		"writable: \"a*b\" is no pattern": {Name: "m", Allow: []string{"*"}, Writable: []string{"a*b"}},
		"writable: \"\" is no pattern":    {Name: "m", Allow: []string{"*"}, Writable: []string{""}},
		"the prompt is 16385 bytes long":  {Name: "m", Allow: []string{"*"}, Prompt: strings.Repeat("x", catalog.MaxModePrompt+1)},
		"allow has 257 patterns":          {Name: "m", Allow: strings.Split(strings.Repeat("a.*,", 256)+"a.*", ",")},
	} {
		if _, err := catalog.NewModes(mode); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", mode.Name, err, want)
		}
	}
}
