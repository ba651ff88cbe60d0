package activities

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

const (
	// maxTold bounds the sources that a thread remembers to be not well, and so what is
	// told of them: those beyond are for the worker's log.
	maxTold = 50
	// maxReason bounds each reason that is told, in bytes.
	maxReason = 300
)

// SourceTold is what a thread was told of a source of tools that is not well: that it
// cannot be read, and how many of its tools cannot be used. Why is not compared: a
// source that fails now in this way and now in that has not changed.
type SourceTold struct {
	Source  string `json:"source"`
	Unread  bool   `json:"unread,omitempty"`
	LeftOut int    `json:"left_out,omitempty"`
}

// ToldOf is what remains to be known of a state that was told.
func ToldOf(s contract.SourceState) SourceTold {
	return SourceTold{Source: s.Source, Unread: s.Unread != "", LeftOut: s.LeftOut}
}

// Tell adds what is told of sources to what was told before.
func Tell(told []SourceTold, states []contract.SourceState) []SourceTold {
	told = slices.Clone(told)
	for _, state := range states {
		told = slices.DeleteFunc(told, func(known SourceTold) bool { return known.Source == state.Source })
		if now := ToldOf(state); now.Unread || now.LeftOut > 0 {
			told = append(told, now)
		}
	}
	return told
}

// changed are the sources of the scope's tools that are not as the thread was told,
// the first [contract.MaxSources] of them: the others are told of next time. Of a
// source that this worker has not asked nothing is known, so that what was told holds.
func (a *Activities) changed(scope catalog.Scope, told []SourceTold) []contract.SourceState {
	var states []contract.SourceState
	room := maxTold - len(told)
	for _, c := range a.Broker.Conditions(scope) {
		state := stateOf(c)
		i := slices.IndexFunc(told, func(known SourceTold) bool { return known.Source == state.Source })
		switch {
		case i >= 0 && told[i] == ToldOf(state), i < 0 && state.Unread == "" && state.LeftOut == 0:
			continue
		case i < 0 && room == 0:
			continue
		case i < 0:
			room--
		default:
			state.Recovered = told[i].Unread && state.Unread == ""
		}
		if states = append(states, state); len(states) == contract.MaxSources {
			break
		}
	}
	return states
}

func stateOf(c catalog.Condition) contract.SourceState {
	state := contract.SourceState{Source: beginning(c.Source, catalog.MaxID), LeftOut: len(c.LeftOut)}
	var reasons []string
	for _, part := range c.Unavailable {
		reason := part.Reason
		if part.Source != c.Source {
			reason = part.Source + ": " + reason
		}
		reasons = append(reasons, reason)
	}
	state.Unread = beginning(strings.Join(reasons, "; "), maxReason)
	for _, fault := range c.LeftOut[:min(len(c.LeftOut), contract.MaxLeftOut)] {
		state.Reasons = append(state.Reasons, beginning(fault, maxReason))
	}
	return state
}

// withNotes tells the model what became known of sources of tools, each time behind
// the message that it then answered: the conversation up to there reads as before.
func withNotes(messages []contract.Message, now []contract.SourceState) {
	for i := 1; i < len(messages); i++ {
		addNote(&messages[i-1], messages[i].Sources)
	}
	if len(messages) > 0 {
		addNote(&messages[len(messages)-1], now)
	}
}

func addNote(m *contract.Message, states []contract.SourceState) {
	if note := noteOf(states); note != "" {
		m.Text = strings.TrimPrefix(m.Text+"\n\n"+note, "\n\n")
	}
}

// noteOf says what a model needs to know of sources of tools. Of tools that cannot be
// used it need not know. A reason is the word of a source: it is quoted, so that it
// passes for nothing else.
func noteOf(states []contract.SourceState) string {
	var lines []string
	for _, state := range states {
		if state.Unread != "" {
			lines = append(lines, fmt.Sprintf("- %s cannot be read now, and its tools may be missing or out of date: %q", state.Source, state.Unread))
		}
	}
	for _, state := range states {
		if state.Recovered {
			lines = append(lines, "- "+state.Source+" can be read again.")
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "[Note of the system about the sources of your tools:\n" + strings.Join(lines, "\n") + "]"
}
