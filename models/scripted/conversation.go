package scripted

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// conversation is what a step can see: a request, up to some message.
type conversation struct {
	messages []contract.Message
	tools    []activities.ToolDefinition
}

// upto is the conversation as it was when message n was not there yet.
func (c conversation) upto(n int) conversation {
	return conversation{messages: c.messages[:n], tools: c.tools}
}

// starts returns where the turns begin: at each message of the user that belongs
// to another turn than the user's message before it. In a conversation that
// names no turns, at each that is not right behind another.
func (c conversation) starts() []int {
	var starts []int
	last := -1 // the user's message before
	for i, m := range c.messages {
		if m.Role != contract.RoleUser {
			continue
		}
		if last < 0 || m.Turn != c.messages[last].Turn || m.Turn == "" && i != last+1 {
			starts = append(starts, i)
		}
		last = i
	}
	return starts
}

// said returns the newest message of the user.
func (c conversation) said() string {
	for i := len(c.messages) - 1; i >= 0; i-- {
		if c.messages[i].Role == contract.RoleUser {
			return c.messages[i].Text
		}
	}
	return ""
}

// result returns the newest result of a tool, or of any if the name is empty.
func (c conversation) result(tool string) (contract.Message, bool) {
	name := activities.ToolName(tool)
	for i := len(c.messages) - 1; i >= 0; i-- {
		m := c.messages[i]
		if m.Role == contract.RoleTool && (tool == "" || activities.ToolName(m.Tool) == name) {
			return m, true
		}
	}
	return contract.Message{}, false
}

// value returns what a reference stands for.
func (c conversation) value(s segment) (any, error) {
	m, ok := c.result(s.tool)
	if !ok {
		return nil, fmt.Errorf("%s: there is no result of %s", s, s.tool)
	}
	var whole any
	dec := json.NewDecoder(strings.NewReader(m.Text))
	dec.UseNumber() // an order's number must not come out rounded
	if err := dec.Decode(&whole); err != nil || dec.More() {
		if s.pointer == "" {
			return m.Text, nil
		}
		return nil, fmt.Errorf("%s: the result of %s is no JSON: %s", s, s.tool, clip(m.Text))
	}
	v, err := at(whole, s.pointer)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; the result is %s", s, err, clip(m.Text))
	}
	return v, nil
}

// mismatch says in which way a condition does not hold, or nothing if it does.
func (c conversation) mismatch(want *condition) string {
	if want == nil {
		return ""
	}
	if want.User != nil && !want.User.match(c.said()) {
		return fmt.Sprintf("the user's message %s; it is %s", want.User, clip(c.said()))
	}
	for _, r := range want.Results {
		if problem := c.mismatchResult(r); problem != "" {
			return problem
		}
	}
	for _, tool := range want.Tools {
		if !c.offers(tool) {
			return fmt.Sprintf("the tool %s is offered; it is not", tool)
		}
	}
	if want.Messages != 0 && want.Messages != len(c.messages) {
		return fmt.Sprintf("there are %d messages; there are %d", want.Messages, len(c.messages))
	}
	return ""
}

func (c conversation) mismatchResult(want result) string {
	name := "a tool"
	if want.Tool != "" {
		name = want.Tool
	}
	m, ok := c.result(want.Tool)
	switch {
	case !ok:
		return fmt.Sprintf("there is a result of %s; there is none", name)
	case want.Failed != nil && *want.Failed != (m.Problem != nil):
		return fmt.Sprintf("failed is %t for the newest call of %s; its result is %s", *want.Failed, name, clip(m.Text))
	case !want.Words.match(m.Text):
		return fmt.Sprintf("the newest result of %s %s; it is %s", name, want.Words, clip(m.Text))
	default:
		return ""
	}
}

func (c conversation) offers(tool string) bool {
	for _, def := range c.tools {
		if activities.ToolName(def.Name) == activities.ToolName(tool) {
			return true
		}
	}
	return false
}

func (w words) match(text string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(w.Contains)) && w.re.MatchString(text)
}

func (w words) String() string {
	var parts []string
	if w.Contains != "" {
		parts = append(parts, fmt.Sprintf("contains %q", w.Contains))
	}
	if w.Regex != "" {
		parts = append(parts, fmt.Sprintf("matches %q", w.Regex))
	}
	return strings.Join(parts, " and ")
}

// clip quotes the beginning of a text for an error.
func clip(s string) string {
	const limit = 200
	if runes := []rune(s); len(runes) > limit {
		return fmt.Sprintf("%q…", string(runes[:limit]))
	}
	return fmt.Sprintf("%q", s)
}
