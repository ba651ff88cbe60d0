package catalogtest

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/catalog"
)

// promptly is how long something may take that should take no time. It is
// generous, for machines that are busy.
const promptly = time.Minute

func list(t testing.TB, source catalog.Source) []catalog.Tool {
	t.Helper()
	tools, err := source.Tools(t.Context())
	if err != nil {
		t.Fatalf("Tools: %v", err)
	}
	complete := make([]catalog.Tool, len(tools))
	for i, tool := range tools {
		if complete[i], err = tool.Complete(); err != nil {
			t.Errorf("%s: its schemas: %v", tool.ID, err)
		}
	}
	return complete
}

func checkDescriptors(t testing.TB, fixture func(testing.TB) Fixture) {
	source := fixture(t).Source
	newBroker(t, source) // ids legal and unique, fields complete
	tools := list(t, source)
	if len(tools) == 0 {
		t.Error("the source has no tools")
	}
	for _, tool := range tools {
		if strings.TrimSpace(tool.Description) == "" {
			t.Errorf("%s: the description is empty", tool.ID)
		}
		for name, text := range map[string]string{"title": tool.Title, "description": tool.Description, "source": tool.Source} {
			if !utf8.ValidString(text) {
				t.Errorf("%s: the %s is not valid UTF-8", tool.ID, name)
			}
		}
		checkSchemas(t, tool.Descriptor)
	}
}

func checkSchemas(t testing.TB, d catalog.Descriptor) {
	t.Helper()
	violations, err := catalog.Validate(d.Input, json.RawMessage(`[]`))
	switch {
	case err != nil:
		t.Errorf("%s: input: %v", d.ID, err)
	case len(violations) == 0:
		t.Errorf("%s: the input schema takes an array; its type must be object", d.ID)
	}
	var input struct {
		Type       any             `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(d.Input, &input); err != nil || input.Type != "object" {
		t.Errorf(`%s: the input schema's type is %v, want "object"`, d.ID, input.Type)
	}
	if len(d.Output) > 0 {
		if _, err := catalog.Validate(d.Output, json.RawMessage(`{}`)); err != nil {
			t.Errorf("%s: output: %v", d.ID, err)
		}
	}
}

// checkListings lists often: nothing may change on the way, not even the order.
func checkListings(t testing.TB, fixture func(testing.TB) Fixture) {
	source := fixture(t).Source
	first := descriptors(list(t, source))
	for range 5 {
		if again := descriptors(list(t, source)); !reflect.DeepEqual(first, again) {
			t.Errorf("a listing differs from the one before:\n%s\n%s", asJSON(first), asJSON(again))
			return
		}
	}
}

// checkDigests compares two sources made alike, as two workers have them: an
// approval planned by one must hold at the other.
func checkDigests(t testing.TB, fixture func(testing.TB) Fixture) {
	a, b := fixture(t), fixture(t)
	first, second := newBroker(t, a.Source), newBroker(t, b.Source)
	for _, c := range a.Good {
		x, y := first.Plan(t.Context(), scope, c.request()), second.Plan(t.Context(), scope, c.request())
		if x.Error != nil || y.Error != nil {
			t.Errorf("%s cannot be planned: %v, %v", c.Tool, x.Error, y.Error)
		}
		if x.DescriptorDigest != y.DescriptorDigest {
			t.Errorf("%s: two sources made alike describe it differently", c.Tool)
		}
		if x.InputDigest != y.InputDigest {
			t.Errorf("%s: two sources made alike complete the input differently", c.Tool)
		}
	}
}

func checkListCancel(t testing.TB, fixture func(testing.TB) Fixture) {
	source := fixture(t).Source
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	_, _ = source.Tools(ctx) // an error or a list, as long as it comes
	if took := time.Since(began); took > promptly {
		t.Errorf("Tools took %s with a context that had ended", took)
	}
	if len(list(t, source)) == 0 {
		t.Error("a listing that was cut short spoils the next one")
	}
}

func descriptors(tools []catalog.Tool) []catalog.Descriptor {
	var all []catalog.Descriptor
	for _, tool := range tools {
		all = append(all, tool.Descriptor)
	}
	return all
}

func asJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}
