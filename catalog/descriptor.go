package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Operation says whether a tool changes anything outside.
type Operation string

// The operations.
const (
	// Read changes nothing: it may run beside others and be retried.
	Read Operation = "read"
	// Write changes something: writes run one at a time, need approval by
	// default and are never retried blindly.
	Write Operation = "write"
)

// Approval says when a person must agree to a call.
type Approval string

// The approval rules.
const (
	// ApprovalDefault asks for writes and not for reads.
	ApprovalDefault Approval = ""
	// ApprovalAlways asks for each call.
	ApprovalAlways Approval = "always"
	// ApprovalNever asks for none. Only the author of an application can say so.
	ApprovalNever Approval = "never"
)

// MaxApprovers bounds how many people must agree to a call.
const MaxApprovers = 8

// Descriptor is what is known of a tool without calling it.
type Descriptor struct {
	// ID is the tool's name in the catalog: the namespace, a dot and the name,
	// such as orders.refund. See [CheckID] for the legal form.
	ID string `json:"id"`
	// Title is a short name for people. Empty: made from the ID.
	Title string `json:"title,omitempty"`
	// Description tells the model, and people, what the tool does.
	Description string `json:"description"`
	// Input is the JSON Schema (2020-12 or draft-07) of the input, an object.
	Input json.RawMessage `json:"input_schema"`
	// Output is the JSON Schema of the output. Empty: anything.
	Output json.RawMessage `json:"output_schema,omitempty"`
	// Operation is [Read] or [Write].
	Operation Operation `json:"operation"`
	// Capabilities are what using the tool takes, such as workspace.write: a mode
	// and a policy speak of them. See [CheckCapability] and [Descriptor.Needs].
	Capabilities []string `json:"capabilities,omitempty"`
	// Tags say what else the tool is, for search and policy, in the same form.
	Tags []string `json:"tags,omitempty"`
	// Approval is when a person must agree.
	Approval Approval `json:"approval,omitempty"`
	// Approvers is how many people must agree, each another and none of them who
	// asked; at most [MaxApprovers]. 0: one, whoever it is.
	Approvers int `json:"approvers,omitempty"`
	// Timeout bounds one call. 0: [DefaultTimeout].
	Timeout time.Duration `json:"timeout,omitempty"`
	// Source says where the tool comes from, for people: a file and line for a
	// Go function.
	Source string `json:"source,omitempty"`
}

// DefaultTimeout bounds a call of a tool that sets no timeout.
const DefaultTimeout = time.Minute

// MaxTimeout bounds every call.
const MaxTimeout = 30 * time.Minute

// Tool is a tool that can be called.
type Tool struct {
	Descriptor
	// Schemas, if set, makes Input and Output, which the descriptor then lacks: for
	// a source with more tools than are ever described or called. It answers alike
	// each time and does nothing outside; an error makes the tool unusable.
	Schemas func() (input, output json.RawMessage, err error)
	// Prepare, if set, completes an input that fits the schema: it fills in what
	// the caller left out, or refuses what a schema cannot say. What it returns
	// must fit the schema too, and is what a person is shown, what the digest
	// covers and what Call gets. It runs at Plan and again at Dispatch, so it must
	// answer alike each time and do nothing outside. An error refuses the call.
	Prepare func(input json.RawMessage) (json.RawMessage, error)
	// Call carries one call out. The input was validated. The context ends at
	// the tool's timeout or when the turn is cancelled; a function that does not
	// return soon after is left behind.
	//
	// An error that is an *[Error] reaches the model as it is, within bounds; any
	// other becomes one with code [CodeToolFailed]. A read has no effect. Of a
	// write that failed, this is known of its effect:
	//
	//   - It timed out, was cancelled or panicked: [EffectUnknown].
	//   - It returned an *Error: what that says.
	//   - It returned any other error: nothing, the effect is left empty. As always
	//     in Go, an error means that it was not done; a function that cannot be
	//     sure returns an *Error with EffectUnknown.
	Call func(ctx context.Context, call Call) (json.RawMessage, error)
}

// Complete returns the tool with its schemas in the descriptor.
func (t Tool) Complete() (_ Tool, err error) {
	if t.Schemas == nil {
		return t, nil
	}
	returned := false
	defer func() {
		if !returned {
			logPanic("catalog: the schemas of a tool panicked", t.ID, recover())
			err = fmt.Errorf("tool %s: its schemas cannot be made; the worker's log has the details", t.ID)
		}
	}()
	t.Input, t.Output, err = t.Schemas()
	t.Schemas = nil
	returned = true
	return t, err
}

// Call is one call as a tool sees it.
type Call struct {
	// Input is a JSON object that fits the tool's input schema.
	Input json.RawMessage
	// Scope is on whose behalf the call is made.
	Scope Scope
	// IdempotencyKey is the same for every attempt of the same call and differs
	// from that of every other call. Empty for a read.
	IdempotencyKey string
}

// Source is a provider of tools.
type Source interface {
	// Name names the source in errors.
	Name() string
	// Tools lists the source's tools as they are now. It is called for each plan
	// and each dispatch, so a source whose tools lie elsewhere remembers them. It
	// may be called by several goroutines, and none changes what it gets. An error,
	// a panic or more than ten seconds make the source's own tools unavailable and
	// no others.
	Tools(ctx context.Context) ([]Tool, error)
}

// Scope is on whose behalf, and within what, calls are planned and made. It
// comes from the thread and the agent's configuration, never from a model.
type Scope struct {
	Tenant string   `json:"tenant"`
	User   string   `json:"user,omitempty"`
	Roles  []string `json:"roles,omitempty"`
	Thread string   `json:"thread"`
	Agent  string   `json:"agent"`
	// Tools are globs over tool ids that the agent may use, such as orders.* ;
	// none means no tool.
	Tools []string `json:"tools,omitempty"`
}
