package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.temporal.io/sdk/activity"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// MaxCallsAtOnce bounds the calls of one model turn: what the model is told, and
// what a person is asked, has to fit into one payload.
const MaxCallsAtOnce = 200

// maxReasoning bounds, in bytes, what is kept of a model's thoughts: they are
// for the person who looks at the timeline, and no later step needs them.
const maxReasoning = 2 << 10

// ModelTurn asks the agent's model for its next message and plans the calls in
// it. It reads the conversation from the thread, so its input stays small
// however long the conversation is.
func (a *Activities) ModelTurn(ctx context.Context, in ModelTurnInput) (ModelTurnResult, error) {
	agent, ok := a.Agents[in.Thread.Agent]
	if !ok {
		return ModelTurnResult{}, unknownAgent(in.Thread.Agent)
	}
	refusal := agent.over(in)
	if refusal == nil && in.Step == 1 {
		refusal = a.badRules(agent.scope(in.Thread))
	}
	if refusal != nil {
		return ModelTurnResult{Limits: &agent.Limits, Audited: a.Audit != nil, Refused: refusal}, nil
	}
	if in.Run != "" {
		return a.playSnippet(ctx, in, agent)
	}
	var received progress
	defer heartbeat(ctx, received.details)()

	scope := agent.scope(in.Thread)
	offer, err := a.offer(ctx, agent, scope)
	if err != nil {
		return ModelTurnResult{}, err
	}
	messages, err := a.conversation(ctx, in, offer.exposure)
	if err != nil {
		return ModelTurnResult{}, err
	}
	system := a.instructions(agent, scope) + a.eager(ctx, agent, scope, offer.exposure)
	sources := a.changed(scope, in.Told) // after the sources were asked for what is offered
	withNotes(messages, sources)
	if refusal, err = a.step(ctx, in.Thread.Tenant); err != nil || refusal != nil {
		return ModelTurnResult{Limits: &agent.Limits, Audited: a.Audit != nil, Refused: refusal}, err
	}
	reply, err := agent.Model.Generate(ctx, ModelRequest{
		Model:           agent.ModelName,
		System:          system,
		Messages:        messages,
		Tools:           offer.tools,
		MaxOutputTokens: agent.MaxOutputTokens,
	}, received.add)
	if err == nil {
		a.used(ctx, in.Thread.Tenant, agent.Price.charge(reply.Usage))
	}
	if err == nil && reply.Text == "" && len(reply.Calls) == 0 {
		err = &ModelError{Kind: ModelUnavailable, Message: "the reply is empty: it has neither words nor calls"}
	}
	switch {
	case err != nil && ctx.Err() != nil: // the turn was cancelled, or the worker stops
		return ModelTurnResult{}, ctx.Err()
	case err != nil:
		return ModelTurnResult{}, modelFailure(err)
	}
	result, err := a.planned(ctx, in, agent, offer, reply)
	result.Sources = sources
	return result, err
}

// planned turns a reply into the activity's result.
func (a *Activities) planned(
	ctx context.Context, in ModelTurnInput, agent Agent, offer offer, reply ModelResponse,
) (ModelTurnResult, error) {
	result := ModelTurnResult{
		Reasoning: beginning(reply.Reasoning, maxReasoning),
		Stop:      reply.Stop,
		Model:     reply.Model,
		Usage:     agent.Price.charge(reply.Usage),
	}
	if in.Step == 1 {
		result.Limits, result.Audited = &agent.Limits, a.Audit != nil
	}
	var err error
	if result.Text, result.Body, err = a.inlineText(ctx, reply.Text); err != nil {
		return ModelTurnResult{}, err
	}
	calls := offer.asked(reply.Calls)
	for i, call := range calls[:min(len(calls), MaxCallsAtOnce)] {
		call.ID = fmt.Sprintf("%s-s%d-c%d", in.Turn, in.Step, i+1)
		planned, err := a.planAsked(ctx, agent.scope(in.Thread), offer.exposure, call)
		if err != nil {
			return ModelTurnResult{}, err
		}
		result.Calls = append(result.Calls, planned)
	}
	if more := len(calls) - MaxCallsAtOnce; more > 0 {
		result.Text += fmt.Sprintf("\n[%d more calls were dropped: at most %d can be made at once]", more, MaxCallsAtOnce)
	}
	return result, a.fitCalls(ctx, result.Calls)
}

// asked are the calls in a reply, by the ids of what they call.
func (o offer) asked(calls []ModelCall) []asked {
	var all []asked
	for _, call := range calls {
		named := contract.Call{Tool: toolID(o.ids, call.Name), Input: json.RawMessage(objectOrWhatCame(call.Input))}
		if o.exposure == ExposureGateway {
			all = append(all, throughGateway(named)...)
		} else {
			all = append(all, asked{Call: named})
		}
	}
	return all
}

// planAsked plans what a model asks for.
func (a *Activities) planAsked(ctx context.Context, scope catalog.Scope, exposure Exposure, call asked) (PlannedCall, error) {
	switch {
	case call.fault != nil:
		planned := PlannedCall{Call: call.Call, Plan: catalog.Plan{Tool: call.Tool}, Problem: problem(call.fault)}
		var err error
		planned.Call, err = a.inlineInput(ctx, call.Call)
		return planned, err
	case exposure == ExposureCode && call.Tool == ExecuteTool:
		return a.planExecute(ctx, call.Call)
	case exposure == ExposureGateway && lookupKinds[call.Tool] != "":
		return a.planLookup(ctx, call.Call)
	}
	planned, err := a.plan(ctx, scope, catalog.Request{CanAsk: true}, call.Call)
	if exposure == ExposureDirect && planned.Asks != nil && call.Tool == connectFunction(catalog.Descriptor{ID: call.Tool}.Namespace()) {
		planned.Kind = CallConnect
	}
	return planned, err
}

// fitCalls makes calls fit into one payload. It stores inputs, the longest first,
// and shortens what only people see of them.
func (a *Activities) fitCalls(ctx context.Context, calls []PlannedCall) error {
	order, sum := make([]int, len(calls)), 0
	for i, call := range calls {
		order[i] = i
		sum += encodedLen(call.Input)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(encodedLen(calls[j].Input), encodedLen(calls[i].Input)) })
	for _, i := range order {
		if sum <= maxInlineSum || calls[i].Body != nil {
			break
		}
		ref, err := a.Blobs.Put(ctx, calls[i].Input)
		if err != nil {
			return unavailable(ErrTypeBlobs, "store the input of "+calls[i].Tool, err)
		}
		sum -= encodedLen(calls[i].Input)
		calls[i].Input, calls[i].Body = nil, &ref
	}
	if len(calls) == 0 {
		return nil
	}
	share := maxInlineSum / len(calls) // at least 2 KiB
	for i := range calls {
		if preview := calls[i].Plan.Preview; encodedLen(preview) > share {
			calls[i].Plan.Preview = quoted(string(preview), share)
		}
		if does := calls[i].Plan.Does; 6*len(does) > share { // a character takes six bytes in JSON at most
			calls[i].Plan.Does = beginning(does, share/6)
		}
		if problem := calls[i].Problem; problem != nil && encodedLen(problem.Details) > share {
			problem.Details = nil
		}
	}
	return nil
}

// plan has the broker plan a call. The request is completed with the tool and the
// input.
func (a *Activities) plan(ctx context.Context, scope catalog.Scope, req catalog.Request, call contract.Call) (PlannedCall, error) {
	req.Tool, req.Input = call.Tool, call.Input
	plan := a.Broker.Plan(ctx, scope, req)
	planned := PlannedCall{Call: call, Plan: plan, Problem: problem(plan.Error)}
	if plan.Asks != nil {
		asked, refused := a.asked(ctx, plan.Asks)
		planned.Asks, planned.Problem = asked, problem(refused)
	}
	planned.Plan.Error = nil
	if err := a.asScript(ctx, &planned); err != nil {
		return planned, err
	}
	if err := a.keepDescriptor(ctx, &planned); err != nil {
		return planned, err
	}
	var err error
	planned.Call, err = a.inlineInput(ctx, call)
	return planned, err
}

// inlineInput keeps a short input as it is and stores a long one. Of one that is
// no JSON it keeps the beginning, as a string.
func (a *Activities) inlineInput(ctx context.Context, call contract.Call) (contract.Call, error) {
	switch {
	case !json.Valid(call.Input):
		quoted, err := json.Marshal(beginning(string(call.Input), contract.MaxPreview))
		if err != nil {
			return call, err
		}
		call.Input = quoted
	case len(call.Input) > contract.MaxInline:
		ref, err := a.Blobs.Put(ctx, call.Input)
		if err != nil {
			return call, unavailable(ErrTypeBlobs, "store the input of "+call.Tool, err)
		}
		call.Input, call.Body = nil, &ref
	}
	return call, nil
}

// conversation reads the transcript and makes of it what a model is to see.
func (a *Activities) conversation(ctx context.Context, in ModelTurnInput, exposure Exposure) ([]contract.Message, error) {
	history, err := a.Threads.Transcript(ctx, runOf(ctx), in)
	if err != nil {
		return nil, unavailable(ErrTypeThread, "read the transcript", err)
	}
	messages := make([]contract.Message, len(history))
	for i, message := range history {
		if messages[i], err = a.shown(ctx, message, exposure); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

// shown is a message as the model sees it: bodies of words put back, calls under
// the names that the model knows, problems as JSON.
func (a *Activities) shown(ctx context.Context, m contract.Message, exposure Exposure) (contract.Message, error) {
	if m.Body != nil && m.Role != contract.RoleTool {
		body, err := a.Blobs.Get(ctx, *m.Body)
		if err != nil {
			return m, unavailable(ErrTypeBlobs, fmt.Sprintf("read the body of message %d", m.Index), err)
		}
		m.Text, m.Body = string(body), nil
	}
	if m.Body != nil {
		m.Text = fmt.Sprintf("%s\n[cut: these are the first %d of %d bytes]", m.Text, len(m.Text), m.Body.Size)
	}
	if m.Problem != nil {
		text, err := json.Marshal(map[string]*contract.Problem{"error": m.Problem})
		if err != nil {
			return m, fmt.Errorf("message %d: encode its problem: %w", m.Index, err)
		}
		m.Text = string(text)
	}
	calls := make([]contract.Call, len(m.Calls))
	for i, call := range m.Calls {
		if call.Body != nil {
			body, err := a.Blobs.Get(ctx, *call.Body)
			if err != nil {
				return m, unavailable(ErrTypeBlobs, "read the input of call "+call.ID, err)
			}
			call.Input, call.Body = body, nil
		}
		calls[i] = call
	}
	m.Calls = calls
	if exposure == ExposureGateway {
		return gatewayView(m)
	}
	for i := range m.Calls {
		m.Calls[i].Tool = ToolName(m.Calls[i].Tool)
	}
	m.Tool = ToolName(m.Tool)
	return m, nil
}

// objectOrWhatCame is the input that a model wrote. Several models write nothing
// at all for a tool without parameters.
func objectOrWhatCame(input string) string {
	if strings.TrimSpace(input) == "" {
		return "{}"
	}
	return input
}

// ToolName is the name under which a model knows the tool of an id: ids have
// dots, which some vendors refuse.
func ToolName(id string) string { return strings.ReplaceAll(id, ".", "__") }

// toolID finds the id of the tool that a model called name. A name that no tool
// has is taken for an id, so that the refusal speaks of what the model wrote, but
// no more of it than an id can have.
func toolID(ids map[string]string, name string) string {
	if id, ok := ids[name]; ok {
		return id
	}
	printable := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ReplaceAll(name, "__", "."))
	return beginning(printable, catalog.MaxID)
}

func definitions(tools []catalog.Descriptor) []ToolDefinition {
	defined := make([]ToolDefinition, len(tools))
	for i, tool := range tools {
		defined[i] = ToolDefinition{Name: ToolName(tool.ID), Description: tool.Description, Input: tool.Input}
	}
	return defined
}

func (p Price) charge(u contract.Usage) contract.Usage {
	const perTokens = 1_000_000
	u.CostMicros = (u.InputTokens*p.Input + u.OutputTokens*p.Output) / perTokens
	return u
}

// instructions are the agent's, and what the mode of the thread adds to them.
func (a *Activities) instructions(agent Agent, scope catalog.Scope) string {
	mode, unknown := a.Modes.Of(scope.Mode)
	switch {
	case unknown != nil:
		return agent.Instructions + "\n\n" + unknown.Message
	case mode.Prompt != "":
		return agent.Instructions + "\n\n" + mode.Prompt
	}
	return agent.Instructions
}

// badRules says what is wrong with the rules that a backend gave.
func (a *Activities) badRules(scope catalog.Scope) *contract.Problem {
	if len(scope.ThreadRules)+len(scope.PromptRules) == 0 {
		return nil
	}
	if err := a.Broker.CheckRules(scope); err != nil {
		return &contract.Problem{Code: contract.ErrInvalid, Message: beginning(err.Error(), contract.MaxPartText)}
	}
	return nil
}

// rules are rules as the broker's policy reads them.
func rules(of []contract.Rule) json.RawMessage {
	if len(of) == 0 {
		return nil
	}
	encoded, err := json.Marshal(of)
	if err != nil {
		panic(err) // words and numbers always encode
	}
	return encoded
}

// over says which limit of the agent a thread has come to before the turn.
func (agent Agent) over(in ModelTurnInput) *contract.Problem {
	if in.Used == nil {
		return nil
	}
	thread := Bounds{Limits: agent.Limits.Thread, Used: *in.Used, At: "limits.thread", SetBy: SetByAgent, Whose: "thread"}
	if e := thread.Over(); e != nil {
		return thread.Problem(agent.Name, e)
	}
	return nil
}

func (agent Agent) scope(thread contract.Start) catalog.Scope {
	return catalog.Scope{
		Tenant: thread.Tenant, User: thread.User, Roles: thread.Roles, Thread: thread.Thread,
		Agent: agent.Name, Tools: agent.Tools, Mode: cmp.Or(thread.Mode, agent.Mode),
		ThreadRules: rules(thread.Policy), PromptRules: rules(thread.PromptPolicy),
	}
}

func runOf(ctx context.Context) RunRef {
	execution := activity.GetInfo(ctx).WorkflowExecution
	return RunRef{WorkflowID: execution.ID, RunID: execution.RunID}
}
