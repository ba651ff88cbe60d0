package heddle

import (
	"context"
	"encoding/json"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/signals/encryption"
)

// exits keeps secrets in at each way out of an activity: its result, its heartbeats
// and its error on the way to Temporal, what it stores, what a model is asked and what
// it answers. The broker has taken them out of the results of tools before; what
// came by another way, or from another worker, is found here.
type exits struct {
	interceptor.WorkerInterceptorBase
	redactor *secrets.Redactor
}

// tenantOf is the tenant that an activity works for. Of what works for none, nobody's
// secrets may leave.
func tenantOf(ctx context.Context) string {
	if activity.IsActivity(ctx) {
		if ref, err := contract.ParseThreadRef(activity.GetInfo(ctx).WorkflowExecution.ID); err == nil {
			return ref.Tenant
		}
	}
	return secrets.Everyone
}

// value takes secrets out of a value that will be encoded as JSON.
func (e *exits) value(ctx context.Context, value any) any {
	if value == nil || e.redactor.Empty() {
		return value
	}
	doc, err := json.Marshal(value)
	if err != nil {
		return value // encoding it will fail again, and be told
	}
	if clean := e.redactor.JSON(tenantOf(ctx), doc); string(clean) != string(doc) {
		return clean
	}
	return value
}

// InterceptActivity watches what activities return and tell the server.
func (e *exits) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &exitsInbound{interceptor.ActivityInboundInterceptorBase{Next: next}, e}
}

type exitsInbound struct {
	interceptor.ActivityInboundInterceptorBase
	exits *exits
}

func (i *exitsInbound) Init(next interceptor.ActivityOutboundInterceptor) error {
	return i.Next.Init(&exitsOutbound{interceptor.ActivityOutboundInterceptorBase{Next: next}, i.exits})
}

func (i *exitsInbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	result, err := i.Next.ExecuteActivity(ctx, in)
	return i.exits.value(ctx, result), err
}

type exitsOutbound struct {
	interceptor.ActivityOutboundInterceptorBase
	exits *exits
}

func (o *exitsOutbound) RecordHeartbeat(ctx context.Context, details ...any) {
	clean := make([]any, len(details))
	for i, detail := range details {
		clean[i] = o.exits.value(ctx, detail)
	}
	o.Next.RecordHeartbeat(ctx, clean...)
}

// failures takes secrets out of errors on their way to Temporal, and encrypts the rest.
type failures struct {
	// FailureConverter reads what is encrypted.
	converter.FailureConverter
	redactor *secrets.Redactor
	codec    *encryption.Codec
}

func (e *exits) failureConverter(codec *encryption.Codec) converter.FailureConverter {
	return failures{codec.FailureConverter(), e.redactor, codec}
}

func (f failures) ErrorToFailure(err error) *failurepb.Failure {
	failure := temporal.GetDefaultFailureConverter().ErrorToFailure(err)
	for part := failure; part != nil; part = part.GetCause() {
		part.Message, part.StackTrace = f.redactor.All(part.Message), f.redactor.All(part.StackTrace)
		for _, payload := range payloadsOf(part) {
			payload.Data = f.redactor.JSON(secrets.Everyone, payload.Data)
		}
	}
	encrypted, err := f.codec.EncryptFailure(failure)
	if err != nil { // rather no words than clear ones
		return &failurepb.Failure{Message: "the error cannot be encrypted: " + err.Error(), FailureInfo: failure.GetFailureInfo()}
	}
	return encrypted
}

func payloadsOf(failure *failurepb.Failure) []*commonpb.Payload {
	return slices.Concat(
		failure.GetApplicationFailureInfo().GetDetails().GetPayloads(),
		failure.GetCanceledFailureInfo().GetDetails().GetPayloads(),
		failure.GetTimeoutFailureInfo().GetLastHeartbeatDetails().GetPayloads(),
	)
}

// guardedBlobs takes secrets out of what activities store.
type guardedBlobs struct {
	activities.Blobs
	exits *exits
}

func (b guardedBlobs) Put(ctx context.Context, value []byte) (contract.Ref, error) {
	return b.Blobs.Put(ctx, b.exits.redactor.JSON(tenantOf(ctx), value))
}

// guardModels guards the models of agents.
func (e *exits) guardModels(agents map[string]activities.Agent) map[string]activities.Agent {
	for name, agent := range agents {
		agent.Model = guardedModel{agent.Model, e}
		agents[name] = agent
	}
	return agents
}

// guardedModel takes secrets out of what a model is asked and answers.
type guardedModel struct {
	activities.Model
	exits *exits
}

func (m guardedModel) Generate(ctx context.Context, req activities.ModelRequest, stream func(activities.ModelDelta)) (activities.ModelResponse, error) {
	if m.exits.redactor.Empty() {
		return m.Model.Generate(ctx, req, stream)
	}
	tenant := tenantOf(ctx)
	text := func(s string) string { return m.exits.redactor.Text(tenant, s) }
	doc := func(v json.RawMessage) json.RawMessage { return m.exits.redactor.JSON(tenant, v) }

	req.System = text(req.System)
	req.Messages = slices.Clone(req.Messages)
	for i, message := range req.Messages {
		// A tool's result is JSON, and found in as such.
		message.Text = string(doc(json.RawMessage(message.Text)))
		message.Calls = slices.Clone(message.Calls)
		for j, call := range message.Calls {
			message.Calls[j].Input = doc(call.Input)
		}
		req.Messages[i] = message
	}
	req.Tools = slices.Clone(req.Tools)
	for i, tool := range req.Tools {
		req.Tools[i].Description, req.Tools[i].Input = text(tool.Description), doc(tool.Input)
	}

	reply, err := m.Model.Generate(ctx, req, stream)
	reply.Text, reply.Reasoning, reply.Model = text(reply.Text), text(reply.Reasoning), text(reply.Model)
	reply.Calls = slices.Clone(reply.Calls)
	for i, call := range reply.Calls {
		reply.Calls[i].Name, reply.Calls[i].Input = text(call.Name), string(doc(json.RawMessage(call.Input)))
	}
	return reply, err
}
