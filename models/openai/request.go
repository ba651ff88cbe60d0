package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// params maps a request to the API. An error names the field that is wrong.
func (m *Model) params(req activities.ModelRequest) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{Model: req.Model}
	switch {
	case req.Model == "":
		return params, errors.New("model: is empty; name one that the server has")
	case len(req.Messages) == 0:
		return params, errors.New("messages: there are none")
	case req.MaxOutputTokens < 0:
		return params, fmt.Errorf("max output tokens: %d is negative", req.MaxOutputTokens)
	}
	m.limitOutput(&params, req.MaxOutputTokens)
	if req.System != "" {
		params.Messages = append(params.Messages, sdk.SystemMessage(req.System))
	}
	for i, msg := range req.Messages {
		mapped, err := mapMessage(msg)
		if err != nil {
			return params, fmt.Errorf("messages[%d]: %w", i, err)
		}
		params.Messages = append(params.Messages, mapped)
	}
	for i, def := range req.Tools {
		mapped, err := mapTool(def)
		if err != nil {
			return params, fmt.Errorf("tools[%d]: %w", i, err)
		}
		params.Tools = append(params.Tools, mapped)
	}
	return params, nil
}

func mapMessage(msg contract.Message) (sdk.ChatCompletionMessageParamUnion, error) {
	switch msg.Role {
	case contract.RoleUser:
		return sdk.UserMessage(msg.Text), nil
	case contract.RoleAssistant:
		return mapAssistant(msg)
	case contract.RoleTool:
		if msg.Call == "" {
			return sdk.ChatCompletionMessageParamUnion{}, errors.New("call: is empty; a tool message answers a call")
		}
		// The API has no mark for a call that failed; the text says it.
		return sdk.ToolMessage(msg.Text, msg.Call), nil
	default:
		return sdk.ChatCompletionMessageParamUnion{}, fmt.Errorf("role: %q is unknown", msg.Role)
	}
}

func mapAssistant(msg contract.Message) (sdk.ChatCompletionMessageParamUnion, error) {
	var mapped sdk.ChatCompletionAssistantMessageParam
	// The content may be left out only where there are calls.
	if msg.Text != "" || len(msg.Calls) == 0 {
		mapped.Content.OfString = sdk.String(msg.Text)
	}
	for i, c := range msg.Calls {
		if len(c.Input) == 0 && c.Body != nil {
			return sdk.ChatCompletionMessageParamUnion{}, fmt.Errorf("calls[%d]: input: is a reference that was not resolved", i)
		}
		arguments := string(c.Input)
		if arguments == "" {
			arguments = "{}"
		}
		mapped.ToolCalls = append(mapped.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID:       c.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Tool, Arguments: arguments},
			},
		})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &mapped}, nil
}

func mapTool(def activities.ToolDefinition) (sdk.ChatCompletionToolUnionParam, error) {
	if def.Name == "" {
		return sdk.ChatCompletionToolUnionParam{}, errors.New("name: is empty")
	}
	mapped := shared.FunctionDefinitionParam{Name: def.Name}
	if def.Description != "" {
		mapped.Description = sdk.String(def.Description)
	}
	if len(def.Input) > 0 {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(def.Input, &object); err != nil || object == nil {
			return sdk.ChatCompletionToolUnionParam{}, fmt.Errorf("%s: input: the schema is no JSON object", def.Name)
		}
		// As raw JSON the schema keeps the order of its properties.
		mapped.SetExtraFields(map[string]any{"parameters": def.Input})
	}
	return sdk.ChatCompletionFunctionTool(mapped), nil
}

// official reports whether the server is OpenAI's own, also when rented at
// Azure, which understands parameters that others do not.
func (m *Model) official() bool {
	host := strings.ToLower(m.base.Hostname())
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}

// limitOutput sets the bound of the reply. Compatible servers know max_tokens,
// and some ignore the other name without a word; OpenAI's newer models refuse it.
func (m *Model) limitOutput(params *sdk.ChatCompletionNewParams, tokens int) {
	switch {
	case tokens == 0:
	case m.official():
		params.MaxCompletionTokens = sdk.Int(int64(tokens))
	default:
		params.MaxTokens = sdk.Int(int64(tokens))
	}
}
