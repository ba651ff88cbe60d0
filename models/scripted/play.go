package scripted

import (
	"errors"
	"fmt"

	"github.com/heddle-dev/heddle/signals/contract"
)

// play finds the step that answers a conversation. The error says where in the
// script the conversation left it.
func (s *script) play(c conversation) (step, error) {
	starts := c.starts()
	if len(starts) == 0 {
		return step{}, errors.New("the conversation has no message of the user")
	}
	t := s.turnAt(c, starts)
	if t == nil {
		last := starts[len(starts)-1]
		return step{}, fmt.Errorf("turn %d: no turn of the script is for the message %s", len(starts), clip(c.messages[last].Text))
	}
	n, err := t.stepAt(c, starts[len(starts)-1])
	if err != nil {
		return step{}, fmt.Errorf("turn %d (line %d): %w", len(starts), t.line, err)
	}
	next := t.Steps[n]
	if problem := c.mismatch(next.Expect); problem != "" {
		return step{}, fmt.Errorf("turn %d, step %d (line %d): expected that %s", len(starts), n+1, next.line, problem)
	}
	return next, nil
}

// turnAt finds the entry that the newest turn plays, by giving each turn before
// it the entry that it played. Nil: the script has none.
func (s *script) turnAt(c conversation, starts []int) *turn {
	next := 0 // where the entries without when stand that are not played yet
	var played *turn
	for _, start := range starts {
		played = s.turnFor(c.messages[start].Text)
		if played != nil {
			continue
		}
		for next < len(s.Turns) && s.Turns[next].When != nil {
			next++
		}
		if next < len(s.Turns) {
			played = &s.Turns[next]
			next++
		}
	}
	return played
}

// turnFor finds the first entry whose when matches a message.
func (s *script) turnFor(text string) *turn {
	for i := range s.Turns {
		if w := s.Turns[i].When; w != nil && w.match(text) {
			return &s.Turns[i]
		}
	}
	return nil
}

// stepAt finds the next step of a turn that began at a message. Each reply since
// then was the first step, behind the one before, whose when held at that time.
func (t *turn) stepAt(c conversation, start int) (int, error) {
	next := 0
	for i := start; i < len(c.messages); i++ {
		if c.messages[i].Role != contract.RoleAssistant {
			continue
		}
		if next = t.from(next, c.upto(i)) + 1; next > len(t.Steps) {
			return 0, fmt.Errorf("message %d is a reply that none of the %d steps can be", i, len(t.Steps))
		}
	}
	n := t.from(next, c)
	if n == len(t.Steps) {
		return 0, fmt.Errorf("no step is left of its %d; %s", len(t.Steps), c.latest())
	}
	return n, nil
}

// from returns the first step at or behind n whose when holds, or the number of
// steps if none does.
func (t *turn) from(n int, c conversation) int {
	for n < len(t.Steps) && c.mismatch(t.Steps[n].When) != "" {
		n++
	}
	return n
}

// latest says what the model was given last.
func (c conversation) latest() string {
	m := c.messages[len(c.messages)-1]
	if m.Role == contract.RoleTool {
		return fmt.Sprintf("the last message is the result of %s: %s", m.Tool, clip(m.Text))
	}
	return fmt.Sprintf("the last message is the %s's: %s", m.Role, clip(m.Text))
}
