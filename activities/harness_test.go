package activities_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.temporal.io/sdk/testsuite"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

var start = contract.Start{ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: "t"}, Agent: "support", User: "ada"}

// world is what the activities of a test depend on.
type world struct {
	*activities.Activities
	model  *model
	broker *broker
	thread *thread
	blobs  *blobs
	ledger *ledger
}

func newWorld() *world {
	w := &world{model: &model{}, broker: &broker{}, thread: &thread{}, blobs: &blobs{values: map[string][]byte{}}, ledger: &ledger{}}
	w.Activities = &activities.Activities{
		Agents: map[string]activities.Agent{"support": {
			Name: "support", Instructions: "Help.", Model: w.model, ModelName: "test-1", Tools: []string{"orders.*"},
			Limits: activities.Limits{Steps: 7}, Price: activities.Price{Input: 2_000_000, Output: 10_000_000},
		}},
		Broker: w.broker, Threads: w.thread, Blobs: w.blobs, Ledger: w.ledger, Locks: (*locks)(w.ledger),
	}
	return w
}

func (w *world) env(t *testing.T) *testsuite.TestActivityEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(w.Activities)
	return env
}

// run executes an activity and decodes its result.
func run[T any](t *testing.T, env *testsuite.TestActivityEnvironment, activity, in any) (T, error) {
	t.Helper()
	var result T
	encoded, err := env.ExecuteActivity(activity, in)
	if err != nil {
		return result, err
	}
	if err := encoded.Get(&result); err != nil {
		t.Fatal(err)
	}
	return result, nil
}

type model struct {
	reply activities.ModelResponse
	err   error
	asked activities.ModelRequest
}

func (m *model) Generate(_ context.Context, req activities.ModelRequest, stream func(activities.ModelDelta)) (activities.ModelResponse, error) {
	m.asked = req
	stream(activities.ModelDelta{Text: m.reply.Text})
	return m.reply, m.err
}

// broker answers each call by a function of the test.
type broker struct {
	mu       sync.Mutex
	tools    []catalog.Descriptor
	sources  []catalog.Condition
	dispatch func(context.Context, catalog.Request) catalog.Outcome
	plans    []catalog.Plan
	// reconciled and unreachable are what is found out about a write.
	reconciled  catalog.Reconciled
	unreachable error
	requests    []catalog.Request
	scopes      []catalog.Scope
}

func (b *broker) Tools(context.Context, catalog.Scope) ([]catalog.Descriptor, error) {
	return b.tools, nil
}

func (b *broker) List(context.Context, catalog.Scope) ([]catalog.Descriptor, error) {
	return b.tools, nil
}

func (b *broker) Conditions(catalog.Scope) []catalog.Condition { return b.sources }

func (b *broker) CheckRules(scope catalog.Scope) error {
	if strings.Contains(string(scope.ThreadRules)+string(scope.PromptRules), "nonsense") {
		return errors.New("policy rule 1 of the thread: when:1:1: undeclared reference")
	}
	return nil
}

func (b *broker) Plan(_ context.Context, _ catalog.Scope, req catalog.Request) catalog.Plan {
	if req.Tool == "orders.none" {
		return catalog.Plan{Tool: req.Tool, Error: &catalog.Error{Code: catalog.CodeToolNotFound, Message: "no such tool", Hint: "orders.get"}}
	}
	return catalog.Plan{Tool: req.Tool, Operation: catalog.Read, DescriptorDigest: "d", InputDigest: "i"}
}

func (b *broker) Dispatch(ctx context.Context, scope catalog.Scope, req catalog.Request, plan catalog.Plan) catalog.Outcome {
	b.mu.Lock()
	b.requests, b.plans, b.scopes = append(b.requests, req), append(b.plans, plan), append(b.scopes, scope)
	b.mu.Unlock()
	if b.dispatch == nil {
		return catalog.Outcome{Result: json.RawMessage(`{"ok":true}`)}
	}
	return b.dispatch(ctx, req)
}

func (b *broker) Reconcile(_ context.Context, _ catalog.Scope, req catalog.Request, plan catalog.Plan) (catalog.Reconciled, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests, b.plans = append(b.requests, req), append(b.plans, plan)
	return b.reconciled, b.unreachable
}

// thread is a thread that a test sets out.
type thread struct {
	messages []contract.Message
	parts    []contract.Part
	queue    []contract.Submission
	calls    map[string]contract.Call

	execution contract.ExecutionPage
}

func (th *thread) Transcript(_ context.Context, _ activities.RunRef, in activities.ModelTurnInput) ([]contract.Message, error) {
	if in.Upto > len(th.messages) {
		return nil, fmt.Errorf("the thread has %d messages", len(th.messages))
	}
	return th.messages[:in.Upto], nil
}

func (th *thread) Messages(_ context.Context, _ activities.RunRef, from, to int) ([]contract.Message, error) {
	return th.messages[from:to], nil
}

func (th *thread) Parts(context.Context, activities.RunRef) ([]contract.Part, error) {
	return th.parts, nil
}

func (th *thread) Queue(context.Context, activities.RunRef) ([]contract.Submission, error) {
	return th.queue, nil
}

func (th *thread) Calls(_ context.Context, _ activities.RunRef, ids []string) ([]contract.Call, error) {
	var calls []contract.Call
	for _, id := range ids {
		call, ok := th.calls[id]
		if !ok {
			return nil, fmt.Errorf("no open call %s", id)
		}
		calls = append(calls, call)
	}
	return calls, nil
}

func (th *thread) Execution(context.Context, activities.RunRef, activities.SegmentInput) (contract.ExecutionPage, error) {
	return th.execution, nil
}

// ask opens n calls of a tool and returns references to them.
func (th *thread) ask(n int, tool string) []activities.CallRef {
	th.calls = map[string]contract.Call{}
	refs := make([]activities.CallRef, n)
	for i := range refs {
		id := fmt.Sprintf("t1-s1-c%d", i+1)
		th.calls[id] = contract.Call{ID: id, Tool: tool, Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i+1))}
		refs[i] = activities.CallRef{ID: id, Tool: tool, DescriptorDigest: "d", InputDigest: "i"}
	}
	return refs
}

type blobs struct {
	mu     sync.Mutex
	values map[string][]byte
	broken bool
}

var errBroken = errors.New("the bucket is gone")

func (b *blobs) Put(_ context.Context, value []byte) (contract.Ref, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken {
		return contract.Ref{}, errBroken
	}
	sum := sha256.Sum256(value)
	ref := contract.Ref{Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(value))}
	b.values[ref.Digest] = append([]byte(nil), value...)
	return ref, nil
}

func (b *blobs) Get(_ context.Context, ref contract.Ref) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	value, ok := b.values[ref.Digest]
	if !ok || b.broken {
		return nil, errBroken
	}
	return value, nil
}

// ledger notes what it is asked.
type ledger struct {
	mu    sync.Mutex
	steps []string
	// found is the claim of another attempt.
	found             *activities.Claimed
	claimErr, beatErr error
	// lock is the answer of the lock, if not that it is granted.
	lock             *contract.LockAnswer
	lockErr, freeErr error
}

// locks notes what it is asked where the ledger does.
type locks ledger

func (l *locks) Acquire(_ context.Context, _ string, owner contract.LockOwner) (contract.LockAnswer, error) {
	(*ledger)(l).did("lock")
	if l.lock != nil {
		return *l.lock, l.lockErr
	}
	return contract.LockAnswer{Status: contract.LockGranted}, l.lockErr
}

func (l *locks) Release(context.Context, string, contract.LockOwner) error {
	(*ledger)(l).did("unlock")
	return l.freeErr
}

func (l *locks) Holds(context.Context, contract.LockOwner) (bool, error) { return true, nil }

func (l *ledger) did(step string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps = append(l.steps, step)
}

func (l *ledger) Claim(_ context.Context, _ string, claim activities.Claim) (activities.Claimed, error) {
	l.did("claim")
	if l.found != nil || l.claimErr != nil {
		found := activities.Claimed{}
		if l.found != nil {
			found = *l.found
		}
		return found, l.claimErr
	}
	return activities.Claimed{ID: "c1", Own: true, Claim: claim}, nil
}

func (l *ledger) Look(context.Context, string) (*activities.Claimed, error) {
	l.did("look")
	return l.found, nil
}

func (l *ledger) Record(context.Context, string, string, activities.CallResult) error {
	l.did("record")
	return nil
}

func (l *ledger) Release(context.Context, string, string, string) error {
	l.did("release")
	return nil
}

func (l *ledger) Beat(_ context.Context, intent *activities.Intent) error {
	if intent == nil {
		return nil
	}
	l.did("intent")
	return l.beatErr
}
