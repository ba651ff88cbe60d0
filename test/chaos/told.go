package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/heddle-dev/heddle/signals/contract"
)

// What a thread was told of a write, unless it is the code of an error which says
// that nothing was applied.
const (
	toldNothing = ""
	toldApplied = "applied"
	toldUnknown = contract.CodeOutcomeUnknown
)

// told reads in the thread's transcript what became of each of its intents. A snippet
// whose turn was cancelled tells nothing of them.
func (s *stage) told(ctx context.Context, of story, cancelled map[string]bool) (map[string]string, error) {
	messages, err := s.threads.Transcript(ctx, of.ref(), 0, 0)
	if err != nil {
		return nil, err
	}
	intents, told := map[string]string{}, map[string]string{}
	for _, m := range messages {
		for _, c := range m.Calls {
			var in intentOf
			_ = json.Unmarshal(c.Input, &in) // a snippet has another input
			intents[c.ID] = in.Intent
		}
		switch {
		case m.Role != contract.RoleTool:
		case intents[m.Call] != "":
			told[intents[m.Call]] = outcome(m.Problem)
		case cancelled[m.Turn]:
		default:
			if err := toldBySnippet(m, told); err != nil {
				return nil, err
			}
		}
	}
	return told, nil
}

// outcome is what the result of a direct call says.
func outcome(p *contract.Problem) string {
	if p == nil {
		return toldApplied
	}
	var details struct {
		Effect string `json:"effect"`
	}
	_ = json.Unmarshal(p.Details, &details) // most problems have none
	if details.Effect == toldApplied {
		return toldApplied
	}
	return p.Code
}

// toldBySnippet reads what a snippet says of its calls.
func toldBySnippet(m contract.Message, told map[string]string) error {
	var report struct {
		Result map[string]string `json:"result"`
		Error  json.RawMessage   `json:"error"`
	}
	if m.Problem != nil {
		return fmt.Errorf("snippet %s: %w", m.Call, m.Problem)
	}
	if err := json.Unmarshal([]byte(m.Text), &report); err != nil || report.Error != nil {
		return fmt.Errorf("snippet %s ended with %s (%v)", m.Call, m.Text, err)
	}
	for intent, code := range report.Result {
		told[intent] = code
	}
	return nil
}
