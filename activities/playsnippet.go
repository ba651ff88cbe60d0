package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/heddle-dev/heddle/signals/contract"
)

// playSnippet is a model turn of a turn that runs a snippet or calls a tool, where no
// model is asked: the first has that done, as a model would, and the second tells what
// the first came to.
func (a *Activities) playSnippet(ctx context.Context, in ModelTurnInput, agent Agent) (ModelTurnResult, error) {
	messages, err := a.conversation(ctx, in, ExposureCode)
	if err != nil {
		return ModelTurnResult{}, err
	}
	if len(messages) == 0 {
		return ModelTurnResult{}, fmt.Errorf("turn %s: the transcript is empty", in.Turn)
	}
	last := messages[len(messages)-1]
	reply := ModelResponse{Stop: StopEnd, Text: last.Text}
	switch {
	case last.Role != contract.RoleUser:
	case in.Tool != "":
		reply = ModelResponse{Stop: StopCalls, Calls: []ModelCall{{Name: in.Tool, Input: last.Text}}}
	case in.Script != "":
		reply = ModelResponse{Stop: StopCalls, Calls: []ModelCall{{Name: ScriptTool(in.Script), Input: last.Text}}}
	default:
		input, err := json.Marshal(map[string]string{"code": last.Text})
		if err != nil {
			return ModelTurnResult{}, fmt.Errorf("encode the snippet: %w", err)
		}
		reply = ModelResponse{Stop: StopCalls, Calls: []ModelCall{{Name: ExecuteTool, Input: string(input)}}}
	}
	return a.planned(ctx, in, agent, codeOffer, reply) // whatever the agent's model is offered
}
