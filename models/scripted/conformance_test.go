package scripted_test

import (
	"encoding/json"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/modeltest"
	"github.com/heddle-dev/heddle/models/scripted"
)

func TestConformance(t *testing.T) {
	modeltest.Run(t, func(t *testing.T, script modeltest.Script) activities.Model {
		// JSON is YAML.
		data, err := json.Marshal(map[string]any{"turns": []any{map[string]any{"steps": steps(t, script)}}})
		if err != nil {
			t.Fatal(err)
		}
		model, err := scripted.Parse(t.Name(), data)
		if err != nil {
			t.Fatal(err)
		}
		return model
	})
}

func steps(t *testing.T, script modeltest.Script) []any {
	var steps []any
	for _, reply := range script {
		step := map[string]any{
			"text":      reply.Text,
			"reasoning": reply.Reasoning,
			"usage":     map[string]any{"input": reply.Usage.InputTokens, "output": reply.Usage.OutputTokens},
		}
		if reply.Result != "" {
			step["expect"] = map[string]any{"results": []any{map[string]any{"contains": reply.Result}}}
		}
		if reply.Stall {
			step["delay"] = "24h"
		}
		var calls []any
		for _, c := range reply.Calls {
			var input map[string]any
			if err := json.Unmarshal([]byte(c.Input), &input); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, map[string]any{"tool": c.Name, "input": input})
		}
		step["calls"] = calls
		steps = append(steps, step)
	}
	return steps
}
