package catalog

import (
	"context"
	"encoding/json"
	"time"
)

// Request asks for one call of a tool.
type Request struct {
	// Tool is the tool's id.
	Tool string
	// Input is a JSON object.
	Input json.RawMessage
	// IdempotencyKey is handed to the tool when it is a write.
	IdempotencyKey string
	// CanAsk says that a question of the call reaches a person, and Answer is the
	// answer to the one that it has asked: see [Elicitation].
	CanAsk bool
	Answer *Answer
	// Progress, if set, is told how far the call has come. It returns soon.
	Progress func(Progress)
	// Before, if set, is called when a write has passed every check, right before
	// its tool is called. Its context ends when the call's does. After an error the
	// tool is not called, and the error is the outcome's.
	Before func(ctx context.Context) error
}

// Plan is what the broker found out about a request before anything was done.
// It is small: it goes into the thread's history.
type Plan struct {
	// Tool is the tool's id.
	Tool string `json:"tool"`
	// Title names the tool for people.
	Title string `json:"title,omitempty"`
	// Operation is the tool's operation.
	Operation Operation `json:"operation,omitempty"`
	// NeedsApproval says that a person must agree, and Reason why.
	NeedsApproval bool   `json:"needs_approval,omitempty"`
	Reason        string `json:"reason,omitempty"`
	// Approvers is how many people must agree, each another and none of them who
	// asked. 0: one, whoever it is.
	Approvers int `json:"approvers,omitempty"`
	// Grantable says that a person may have agreed beforehand, for more than this
	// call: nobody but the tool's own default asks.
	Grantable bool `json:"grantable,omitempty"`
	// Policy is the rule of the policy that decided, if one did.
	Policy *Decided `json:"policy,omitempty"`
	// Granted says, of a plan to be carried out, that a person has agreed so, and
	// not to this call.
	Granted bool `json:"granted,omitempty"`
	// Preview is the input as a person may see it: the whole up to [MaxPreview]
	// bytes, else its beginning as a JSON string. Only set where a person is asked.
	Preview json.RawMessage `json:"preview,omitempty"`
	// Does says what the call does where the tool can say more than its input, such
	// as the method and URL of a request. Only set where a person is asked.
	Does string `json:"does,omitempty"`
	// DescriptorDigest and InputDigest bind an approval to what was shown: to all
	// of the tool's descriptor but source and timeout, and to the input as it will
	// be called with, its defaults filled in.
	DescriptorDigest string `json:"descriptor_digest,omitempty"`
	InputDigest      string `json:"input_digest,omitempty"`
	// ResourceKey names what the call works on: see [Descriptor.ResourceKey].
	ResourceKey string `json:"resource_key,omitempty"`
	// Timeout bounds the call.
	Timeout time.Duration `json:"timeout,omitempty"`
	// HonoursKeys says that a write may be sent again under its key.
	HonoursKeys bool `json:"honours_keys,omitempty"`
	// Error says why the call cannot be made; all else but Tool and Policy is then unset.
	Error *Error `json:"error,omitempty"`
	// Described is the tool's descriptor, where a person is asked: what [Differences]
	// compares, should it change before the call is made.
	Described json.RawMessage `json:"-"`
	// Asks is what a person is asked before the call can be planned; Error says so too.
	Asks *Elicitation `json:"-"`
}

// Outcome is how a call ended: with a result or with an error.
type Outcome struct {
	// Result is the tool's output as JSON.
	Result json.RawMessage `json:"result,omitempty"`
	// Warning tells the model that the result is not quite what was promised,
	// such as an output that does not fit its schema.
	Warning string `json:"warning,omitempty"`
	Error   *Error `json:"error,omitempty"`
	// Asks is what the call asks before it can go on; Error says so too. Nothing
	// was applied.
	Asks *Elicitation `json:"asks,omitempty"`
	// Undo says how a write is undone, where its tool says so.
	Undo *Undo `json:"undo,omitempty"`
}
