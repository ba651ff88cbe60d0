package scripted_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/scripted"
	"github.com/heddle-dev/heddle/signals/contract"
)

func parse(t *testing.T, script string) *scripted.Model {
	t.Helper()
	model, err := scripted.Parse("demo.yaml", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// thread leads a conversation as the product does.
type thread struct {
	t        *testing.T
	turn     int
	step     int
	messages []contract.Message
}

func (th *thread) say(text string) {
	th.turn++
	th.step = 0
	th.add(contract.Message{Role: contract.RoleUser, Text: text})
}

func (th *thread) add(m contract.Message) {
	m.Index, m.Turn = len(th.messages), fmt.Sprint("t", th.turn)
	th.messages = append(th.messages, m)
}

func (th *thread) ask(model *scripted.Model) (activities.ModelResponse, error) {
	return model.Generate(th.t.Context(), activities.ModelRequest{Messages: th.messages, Tools: []activities.ToolDefinition{{Name: "orders__search"}}}, nil)
}

// next asks for a reply and takes it into the conversation.
func (th *thread) next(model *scripted.Model) activities.ModelResponse {
	th.t.Helper()
	resp, err := th.ask(model)
	if err != nil {
		th.t.Fatal(err)
	}
	th.step++
	m := contract.Message{Role: contract.RoleAssistant, Text: resp.Text}
	for i, c := range resp.Calls {
		id := fmt.Sprintf("t%d-s%d-c%d", th.turn, th.step, i+1)
		m.Calls = append(m.Calls, contract.Call{ID: id, Tool: c.Name, Input: json.RawMessage(c.Input)})
	}
	th.add(m)
	return resp
}

func (th *thread) result(tool, text string) {
	th.add(contract.Message{Role: contract.RoleTool, Tool: tool, Text: text})
}

func (th *thread) fails(tool, code, message string) {
	problem := &contract.Problem{Code: code, Message: message}
	text, _ := json.Marshal(map[string]any{"error": problem})
	th.add(contract.Message{Role: contract.RoleTool, Tool: tool, Text: string(text), Problem: problem})
}
