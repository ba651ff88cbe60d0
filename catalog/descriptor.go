package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
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
	// Trust says whose word the descriptor is. The zero value is the author of the
	// application.
	Trust Trust `json:"trust,omitempty"`

	// Destructive says that a write removes or overwrites what cannot be brought
	// back. Only for a write.
	Destructive bool `json:"destructive,omitempty"`
	// Idempotent says that a call made twice with the same input does no more than
	// one.
	Idempotent bool `json:"idempotent,omitempty"`
	// HonoursKeys says that the target honours idempotency keys: two requests with
	// one key have one effect. Only then is a write whose outcome is unknown sent
	// again, under the same key. Only for a write.
	HonoursKeys bool `json:"honours_keys,omitempty"`
	// Independent says that a call of a write touches nothing that other writes do, so
	// that their order is of no matter. Only for a write. Who asks about the tool is
	// told. It makes no call run beside another: the writes of a thread run one at a
	// time whatever they say of themselves, so that they are applied in the order in
	// which they were asked for and, when it is not known what became of one, no other
	// is under way. Those of different threads run beside each other anyway, unless
	// they have a [Descriptor.ResourceKey] in common.
	Independent bool `json:"independent,omitempty"`
	// Secrets are references to the secrets that a call may use, in the form of
	// [SecretRef]; it gets no others.
	Secrets []string `json:"secrets,omitempty"`
	// ResourceKey names what a call works on, as a template over the input, such as
	// order/{order}: writes with the same key run one after another, across threads
	// of a tenant too. See [ExpandResourceKey] for its form. Empty: the tool's calls
	// share nothing with others, unless [Tool.Resource] is set.
	ResourceKey string `json:"resource_key,omitempty"`
	// Examples show how the tool is called. At most [MaxExamples].
	Examples []Example `json:"examples,omitempty"`
}

// Name is what the tool is called within its namespace: items.list of
// orders.items.list.
func (d Descriptor) Name() string {
	_, name, _ := strings.Cut(d.ID, ".")
	return name
}

// Hints are what the descriptor says of calls beside their operation:
// destructive, idempotent, independent.
func (d Descriptor) Hints() []string {
	var hints []string
	for _, h := range []struct {
		name string
		set  bool
	}{{"destructive", d.Destructive}, {"idempotent", d.Idempotent}, {"independent", d.Independent}} {
		if h.set {
			hints = append(hints, h.name)
		}
	}
	return hints
}

// Trust says whose word a descriptor is.
type Trust string

// The degrees of trust.
const (
	// TrustAuthor: the author of the application, or a service that the author
	// trusts as himself.
	TrustAuthor Trust = ""
	// TrustRemote: the service that offers the tool. Its word can make a call more
	// protected and never less: [ApprovalNever] counts as [ApprovalDefault].
	TrustRemote Trust = "remote"
)

// Example is a call that makes sense.
type Example struct {
	// Description says what it is for; may be empty.
	Description string `json:"description,omitempty"`
	// Input is one that fits the tool's input schema.
	Input json.RawMessage `json:"input"`
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
	// Sketch, if set beside Schemas, makes schemas that say no more than the names and
	// descriptions of what the tool takes and gives, at little cost: what a search
	// needs of many tools. It is never used to check anything.
	Sketch func() (input, output json.RawMessage)
	// Prepare, if set, completes an input that fits the schema: it fills in what
	// the caller left out, or refuses what a schema cannot say. What it returns
	// must fit the schema too, and is what a person is shown, what the digest
	// covers and what Call gets. It runs at Plan and again at Dispatch, so it must
	// answer alike each time and do nothing outside. An error refuses the call.
	Prepare func(input json.RawMessage) (json.RawMessage, error)
	// Resource, if set, names what a call with an input works on, where no
	// [Descriptor.ResourceKey] can say it; the descriptor's is then not used. It runs
	// at Plan and again at Dispatch, so it must answer alike each time and do nothing
	// outside. An error refuses the call; an empty key names nothing.
	Resource func(input json.RawMessage) (string, error)
	// Preview, if set, says what a call with an input will do, for the person who is
	// asked about it: a method and URL, a difference ([Diff]). It may look, and changes
	// nothing. At most [MaxDoes] bytes of it are shown.
	Preview func(input json.RawMessage) string
	// Reconcile, if set, finds out what became of a call of a write that may or may not
	// have been applied: it asks the target, by the idempotency key or by what the
	// input says, and changes nothing. It is asked again after an error. It may say
	// [FoundNotApplied] only of a call that the target will not apply later either.
	Reconcile func(ctx context.Context, call Call) (Reconciled, error)
	// Undo, if set, says of a write that was applied how it is undone.
	Undo UndoFunc
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
	//   - It returned an error of the network: [EffectNone] if no connection was
	//     made, else [EffectUnknown].
	//   - It returned any other error: nothing, the effect is left empty. As always
	//     in Go, an error means that it was not done; a function that cannot be
	//     sure returns [Unknown].
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

// sketched returns the descriptor with its sketch, or else with its schemas.
func (t Tool) sketched() (d Descriptor, err error) {
	if t.Sketch == nil {
		t, err = complete(t)
		return t.Descriptor, err
	}
	returned := false
	defer func() {
		if !returned {
			logPanic("catalog: the sketch of a tool panicked", t.ID, recover())
			err = fmt.Errorf("tool %s: it cannot be sketched; the worker's log has the details", t.ID)
		}
	}()
	t.Input, t.Output = t.Sketch()
	returned = true
	return t.Descriptor, nil
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
	// Secrets are those that the tool declares.
	Secrets CallSecrets
	// Progress, unless nil, may be told how far the call has come, as often as one
	// likes.
	Progress func(Progress)
	// CanAsk says that the call may return an [Elicitation], and Answer is the answer to
	// the one that it returned before.
	CanAsk bool
	Answer *Answer
}

// Source is a provider of tools.
type Source interface {
	// Name names the source in errors.
	Name() string
	// Tools lists the source's tools as they are now. It is called for each plan and
	// each dispatch, so it answers from memory, with the very slice that it returned
	// before if nothing has changed; a source whose tools lie elsewhere is a [Remote].
	// It may be called by several goroutines, and none changes what it gets. An error,
	// a panic or more than ten seconds cost no other source's tools: what the source
	// listed before holds, and it is tried again later.
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
	// Mode is the name of the mode that the thread is in. Empty: none binds it.
	Mode string `json:"mode,omitempty"`
	// ThreadRules and PromptRules are rules for the calls of the thread, and of the
	// message that is answered, as JSON: the [Policy] reads them. They only tighten.
	ThreadRules json.RawMessage `json:"thread_rules,omitempty"`
	PromptRules json.RawMessage `json:"prompt_rules,omitempty"`
}
