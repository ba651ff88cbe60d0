package activities_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestModelTurnSeesTheTranscript(t *testing.T) {
	w := newWorld()
	w.broker.tools = []catalog.Descriptor{{ID: "orders.get", Description: "Get", Input: json.RawMessage(`{"type":"object"}`)}}
	long := strings.Repeat("é", contract.MaxInline)
	body, _ := w.blobs.Put(t.Context(), []byte(long))
	w.thread.messages = []contract.Message{
		{Index: 0, Role: contract.RoleUser, Text: "é…", Body: &body},
		{Index: 1, Role: contract.RoleAssistant, Calls: []contract.Call{{ID: "c1", Tool: "orders.get", Input: json.RawMessage(`{}`)}}},
		{Index: 2, Role: contract.RoleTool, Call: "c1", Tool: "orders.get", Problem: &contract.Problem{Code: "tool_failed", Message: "no"}},
		{Index: 3, Role: contract.RoleTool, Call: "c2", Tool: "orders.get", Text: `"begin`, Body: &contract.Ref{Digest: "sha256:x", Size: 9_000_000}},
		{Index: 4, Role: contract.RoleUser, Text: "not to be seen yet"},
	}
	w.model.reply = activities.ModelResponse{
		Text: "Let me look", Stop: activities.StopCalls, Model: "test-1-2026", Usage: contract.Usage{InputTokens: 1000, OutputTokens: 100},
		Calls: []activities.ModelCall{
			{Name: "orders__get", Input: `{"id":9007199254740993}`}, {Name: "orders__none", Input: ""}, {Name: "orders__get", Input: `{"id":`},
		},
	}
	result, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t2", Step: 1, Upto: 4})
	if err != nil {
		t.Fatal(err)
	}
	asked := w.model.asked
	if len(asked.Messages) != 4 || asked.Messages[0].Text != long {
		t.Fatalf("the model was shown %d messages; the first is %d bytes", len(asked.Messages), len(asked.Messages[0].Text))
	}
	if asked.Messages[1].Calls[0].Tool != "orders__get" || asked.Tools[0].Name != "orders__get" || asked.System != "Help." {
		t.Errorf("asked = %+v", asked)
	}
	if !strings.Contains(asked.Messages[2].Text, `"code":"tool_failed"`) {
		t.Errorf("a failed call shows as %s", asked.Messages[2].Text)
	}
	if !strings.Contains(asked.Messages[3].Text, "of 9000000 bytes") {
		t.Errorf("a cut result shows as %s", asked.Messages[3].Text)
	}
	calls := result.Calls
	if calls[0].ID != "t2-s1-c1" || calls[0].Tool != "orders.get" || string(calls[0].Input) != `{"id":9007199254740993}` {
		t.Errorf("call = %+v", calls[0])
	}
	if calls[1].Problem == nil || calls[1].Problem.Code != catalog.CodeToolNotFound || calls[1].Plan.Error != nil ||
		!strings.Contains(string(calls[1].Problem.Details), "orders.get") || string(calls[1].Input) != "{}" {
		t.Errorf("call of an unknown tool = %+v", calls[1])
	}
	if string(calls[2].Input) != `"{\"id\":"` {
		t.Errorf("an input that is no JSON is kept as %s", calls[2].Input)
	}
	if result.Usage.CostMicros != 3000 || result.Limits == nil || result.Limits.Steps != 7 {
		t.Errorf("result = %+v", result)
	}
}

func TestLongValuesTravelByReference(t *testing.T) {
	w := newWorld()
	long := strings.Repeat("ö", contract.MaxInline)
	w.model.reply = activities.ModelResponse{
		Text: long, Stop: activities.StopCalls,
		Calls: []activities.ModelCall{{Name: "orders__put", Input: `{"text":"` + long + `"}`}},
	}
	result, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t1", Step: 2})
	if err != nil {
		t.Fatal(err)
	}
	if result.Body == nil || len(result.Text) > 4<<10 || !strings.HasPrefix(long, result.Text) {
		t.Errorf("text of %d bytes, body %v", len(result.Text), result.Body)
	}
	if call := result.Calls[0]; call.Body == nil || call.Input != nil {
		t.Errorf("input = %s, body %v", call.Input, call.Body)
	}
	if result.Limits != nil {
		t.Error("limits are told again")
	}
	encoded, _ := json.Marshal(result)
	if len(encoded) > 16<<10 {
		t.Errorf("the result has %d bytes", len(encoded))
	}
}

// However much a model asks for at once, what it said fits into one payload.
func TestManyLongCallsFitIntoOnePayload(t *testing.T) {
	w := newWorld()
	hostile := strings.Repeat("<", 60_000) // six bytes a character in JSON
	for range 400 {
		w.model.reply.Calls = append(w.model.reply.Calls, activities.ModelCall{Name: "orders__put", Input: `{"text":"` + hostile + `"}`})
	}
	w.model.reply.Calls[7].Name = strings.Repeat("\x01", 70_000)
	result, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t1", Step: 2})
	if err != nil {
		t.Fatal(err)
	}
	encoded, _ := json.Marshal(result)
	if len(encoded) > 1<<20 {
		t.Errorf("the result has %d bytes", len(encoded))
	}
	if len(result.Calls) != activities.MaxCallsAtOnce || !strings.Contains(result.Text, "200 more calls were dropped") {
		t.Errorf("%d calls, and the agent's words are %q", len(result.Calls), result.Text)
	}
	if tool := result.Calls[7].Tool; len(tool) > catalog.MaxID || strings.Contains(tool, "\x01") {
		t.Errorf("a tool is called %q", tool)
	}
	for i, call := range result.Calls {
		if call.Input == nil && call.Body == nil {
			t.Fatalf("the input of call %d is lost", i)
		}
	}
}

func TestModelFailuresAreRetriedOrNot(t *testing.T) {
	for _, test := range []struct {
		err       *activities.ModelError
		retryable bool
		delay     time.Duration
	}{
		{&activities.ModelError{Kind: activities.ModelRateLimited, Status: 429, Message: "slow down", RetryAfter: 17 * time.Second}, true, 17 * time.Second},
		{&activities.ModelError{Kind: activities.ModelUnavailable, Status: 503, Message: "overloaded"}, true, 0},
		{&activities.ModelError{Kind: activities.ModelUnauthorized, Status: 401, Message: "bad key"}, false, 0},
		{&activities.ModelError{Kind: activities.ModelInvalid, Status: 400, Message: "no such model"}, false, 0},
	} {
		t.Run(string(test.err.Kind), func(t *testing.T) {
			w := newWorld()
			w.model.err = fmt.Errorf("generate: %w", test.err)
			_, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t1", Step: 1})
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || app.Type() != activities.ErrTypeModel || !strings.Contains(app.Message(), test.err.Message) {
				t.Fatalf("error = %v", err)
			}
			if app.NonRetryable() == test.retryable || app.NextRetryDelay() != test.delay {
				t.Errorf("non-retryable %v, delay %v", app.NonRetryable(), app.NextRetryDelay())
			}
		})
	}
}

func TestEmptyReplyIsAnError(t *testing.T) {
	w := newWorld()
	w.model.reply = activities.ModelResponse{Reasoning: "hm", Stop: activities.StopEnd}
	_, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t1", Step: 1})
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.NonRetryable() || !strings.Contains(app.Message(), "empty") {
		t.Errorf("error = %v", err)
	}
}

func TestUnknownAgentIsTriedAgain(t *testing.T) {
	w := newWorld()
	other := start
	other.Agent = "gone"
	for _, activity := range []struct{ do, in any }{
		{w.ModelTurn, activities.ModelTurnInput{Thread: other}},
		{w.BatchRead, activities.BatchReadInput{Thread: other}},
		{w.Write, activities.WriteInput{Thread: other}},
		{w.ListTools, contract.ListTools{Agent: "gone"}},
	} {
		_, err := w.env(t).ExecuteActivity(activity.do, activity.in)
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.Type() != contract.ErrUnknownAgent || app.NonRetryable() || !strings.Contains(app.Message(), "gone") {
			t.Errorf("error = %v", err)
		}
	}
}

func TestBatchReadBoundsConcurrencyAndIsolatesFailures(t *testing.T) {
	w := newWorld()
	var running, most atomic.Int64
	w.broker.dispatch = func(ctx context.Context, req catalog.Request) catalog.Outcome {
		now := running.Add(1)
		defer running.Add(-1)
		for {
			seen := most.Load()
			if now <= seen || most.CompareAndSwap(seen, now) {
				break
			}
		}
		time.Sleep(time.Millisecond) // long enough for the others to begin
		if string(req.Input) == `{"n":7}` {
			return catalog.Outcome{Error: &catalog.Error{Code: catalog.CodeToolFailed, Message: "seven"}}
		}
		return catalog.Outcome{Result: req.Input, Warning: "w"}
	}
	refs := w.thread.ask(40, "orders.get")
	result, err := run[activities.BatchReadResult](t, w.env(t), w.BatchRead, activities.BatchReadInput{Thread: start, Calls: refs})
	if err != nil {
		t.Fatal(err)
	}
	if n := most.Load(); n > activities.MaxReadsAtOnce || n < 2 {
		t.Errorf("%d reads ran at once, want 2 to %d", n, activities.MaxReadsAtOnce)
	}
	for i, r := range result.Results {
		switch {
		case r.ID != refs[i].ID:
			t.Fatalf("result %d is of call %s", i, r.ID)
		case i == 6 && (r.Problem == nil || r.Problem.Message != "seven"):
			t.Errorf("the failing read = %+v", r)
		case i != 6 && (r.Problem != nil || string(r.Result) != fmt.Sprintf(`{"n":%d}`, i+1) || r.Warning != "w"):
			t.Errorf("read %d = %+v", i+1, r)
		}
	}
	if s := w.broker.scopes[0]; s.Tenant != "acme" || s.User != "ada" || s.Agent != "support" || s.Tools[0] != "orders.*" {
		t.Errorf("scope = %+v", s)
	}
	if p := w.broker.plans[0]; p.DescriptorDigest != "d" || p.InputDigest != "i" || p.NeedsApproval {
		t.Errorf("plan = %+v", p)
	}
}

func TestBatchReadRepeatsOnlyWhatIsMissing(t *testing.T) {
	w := newWorld()
	refs := w.thread.ask(3, "orders.get")
	env := w.env(t)
	env.SetHeartbeatDetails([]activities.CallResult{{ID: refs[1].ID, Result: json.RawMessage(`"from before"`)}})
	result, err := run[activities.BatchReadResult](t, env, w.BatchRead, activities.BatchReadInput{Thread: start, Calls: refs})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.broker.requests) != 2 {
		t.Errorf("%d reads, want the two that are missing", len(w.broker.requests))
	}
	if string(result.Results[1].Result) != `"from before"` || string(result.Results[2].Result) != `{"ok":true}` {
		t.Errorf("results = %+v", result.Results)
	}
}

func TestRetryableReadsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		attempts := 0
		w.broker.dispatch = func(context.Context, catalog.Request) catalog.Outcome {
			if attempts++; attempts < 3 {
				return catalog.Outcome{Error: &catalog.Error{Code: catalog.CodeSourceUnavailable, Message: "busy", Retryable: true}}
			}
			return catalog.Outcome{Result: json.RawMessage(`1`)}
		}
		result, err := run[activities.BatchReadResult](t, w.env(t), w.BatchRead, activities.BatchReadInput{Thread: start, Calls: w.thread.ask(1, "orders.get")})
		if err != nil || attempts != 3 || string(result.Results[0].Result) != `1` {
			t.Errorf("%d attempts, results %+v, error %v", attempts, result.Results, err)
		}
	})
}

func TestHugeResultsLeaveHistorySmall(t *testing.T) {
	w := newWorld()
	sizes := []int{600_000, 2_097_153, 50_000, 60_000, 4_194_475}
	w.broker.dispatch = func(_ context.Context, req catalog.Request) catalog.Outcome {
		var in struct{ N int }
		_ = json.Unmarshal(req.Input, &in)
		size := 60_000
		if in.N <= len(sizes) {
			size = sizes[in.N-1]
		}
		return catalog.Outcome{Result: append(append([]byte(`"`), bytes.Repeat([]byte("€"), size/3)...), '"')}
	}
	refs := w.thread.ask(30, "orders.get")
	result, err := run[activities.BatchReadResult](t, w.env(t), w.BatchRead, activities.BatchReadInput{Thread: start, Calls: refs})
	if err != nil {
		t.Fatal(err)
	}
	encoded, _ := json.Marshal(result)
	if len(encoded) > 1<<20 {
		t.Errorf("the batch's result has %d bytes", len(encoded))
	}
	if len(w.broker.requests) != len(refs) {
		t.Errorf("%d calls, want one per read", len(w.broker.requests))
	}
	for i, size := range sizes[:2] {
		r := result.Results[i]
		if r.Body == nil || r.Body.Size != int64(size/3*3+2) {
			t.Fatalf("result %d: body %v", i, r.Body)
		}
		if whole, err := w.blobs.Get(t.Context(), *r.Body); err != nil || !json.Valid(whole) {
			t.Errorf("result %d cannot be read in whole: %v", i, err)
		}
		if !json.Valid(r.Result) || !strings.HasSuffix(string(r.Result), `€"`) {
			t.Errorf("result %d begins with %q", i, r.Result[:20])
		}
	}
}

func TestWriteIsCarriedOutAsApproved(t *testing.T) {
	w := newWorld()
	refs := w.thread.ask(2, "orders.refund")
	refs[0].Approved = true
	in := activities.WriteInput{Thread: start, Root: "root-run", Call: refs[0]}
	result, err := run[activities.CallResult](t, w.env(t), w.Write, in)
	if err != nil || string(result.Result) != `{"ok":true}` {
		t.Fatalf("result %+v, error %v", result, err)
	}
	if plan := w.broker.plans[0]; !plan.NeedsApproval || plan.DescriptorDigest != "d" || plan.InputDigest != "i" {
		t.Errorf("plan = %+v", plan)
	}
	if _, err := run[activities.CallResult](t, w.env(t), w.Write, in); err != nil {
		t.Fatal(err)
	}
	in.Call = refs[1]
	if _, err := run[activities.CallResult](t, w.env(t), w.Write, in); err != nil {
		t.Fatal(err)
	}
	first, again, other := w.broker.requests[0].IdempotencyKey, w.broker.requests[1].IdempotencyKey, w.broker.requests[2].IdempotencyKey
	if first == "" || first != again || first == other {
		t.Errorf("idempotency keys: %s, again %s, of another call %s", first, again, other)
	}
}

// A write is claimed, then told, then sent, and its outcome recorded.
func TestWriteIsDurableBeforeItIsSent(t *testing.T) {
	unsent := errors.New("the server does not answer")
	for _, test := range []struct {
		name    string
		set     func(*ledger)
		outcome catalog.Outcome

		steps  string // what happened, in order
		failed bool   // the activity fails as one that sent nothing
		code   string
	}{
		{
			name: "applied", outcome: catalog.Outcome{Result: json.RawMessage(`1`)},
			steps: "claim intent send record",
		},
		{
			name: "refused by the target", outcome: catalog.Outcome{Error: &catalog.Error{Code: "closed", Effect: catalog.EffectNone}},
			steps: "claim intent send release", code: "closed",
		},
		{
			name: "unknown", outcome: catalog.Outcome{Error: &catalog.Error{Code: "reset", Effect: catalog.EffectUnknown}},
			steps: "claim intent send", code: contract.CodeOutcomeUnknown,
		},
		{
			name: "applied, and the result is lost", outcome: catalog.Outcome{Error: &catalog.Error{Code: "large", Effect: catalog.EffectApplied}},
			steps: "claim intent send record", code: "large",
		},
		{name: "no claim", set: func(l *ledger) { l.claimErr = unsent }, steps: "claim", failed: true},
		{name: "no intent", set: func(l *ledger) { l.beatErr = unsent }, steps: "claim intent release", failed: true},
		{
			name: "claimed by another run", set: func(l *ledger) { l.found = &activities.Claimed{ID: "c0"} },
			steps: "claim", code: contract.CodeOutcomeUnknown,
		},
		{
			name:  "made before",
			set:   func(l *ledger) { l.found = &activities.Claimed{ID: "c0", Result: &activities.CallResult{ID: "other"}} },
			steps: "claim",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld()
			if test.set != nil {
				test.set(w.ledger)
			}
			w.broker.dispatch = func(ctx context.Context, req catalog.Request) catalog.Outcome {
				if err := req.Before(ctx); err != nil {
					return catalog.Outcome{Error: &catalog.Error{Code: catalog.CodeNotMade, Message: err.Error(), Effect: catalog.EffectNone}}
				}
				w.ledger.did("send")
				return test.outcome
			}
			in := activities.WriteInput{Thread: start, Root: "r", Call: w.thread.ask(1, "orders.refund")[0]}
			result, err := run[activities.CallResult](t, w.env(t), w.Write, in)
			var app *temporal.ApplicationError
			if failed := errors.As(err, &app) && app.Type() == activities.ErrTypeNotSent; failed != test.failed || err != nil && !failed {
				t.Errorf("error %v", err)
			}
			if steps := strings.Join(w.ledger.steps, " "); steps != test.steps {
				t.Errorf("steps %q, want %q", steps, test.steps)
			}
			if code := codeOf(result.Problem); code != test.code || err == nil && result.ID != in.Call.ID {
				t.Errorf("result %+v, problem %+v", result, result.Problem)
			}
		})
	}
}

// What was not sent, and may go better, is told apart from what was refused.
func TestWriteSaysThatItWasNotSent(t *testing.T) {
	for _, test := range []struct {
		name    string
		begin   bool
		failure catalog.Error
		want    bool
	}{
		{"the source cannot be read now", false, catalog.Error{Code: "unavailable", Retryable: true}, true},
		{"the tool changed", false, catalog.Error{Code: "changed", Effect: catalog.EffectNone}, false},
		{"the target cannot be reached", true, catalog.Error{Code: "unreachable", Retryable: true, Effect: catalog.EffectNone}, true},
		{"the target is busy", true, catalog.Error{Code: "busy", Retryable: true}, false},
		{"nobody knows", true, catalog.Error{Code: "reset", Retryable: true, Effect: catalog.EffectUnknown}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld()
			w.broker.dispatch = func(ctx context.Context, req catalog.Request) catalog.Outcome {
				if test.begin {
					_ = req.Before(ctx)
				}
				return catalog.Outcome{Error: &test.failure}
			}
			in := activities.WriteInput{Thread: start, Root: "r", Call: w.thread.ask(1, "orders.refund")[0]}
			result, err := run[activities.CallResult](t, w.env(t), w.Write, in)
			if err != nil || result.NotSent != test.want {
				t.Errorf("result %+v, %v, want not sent %v", result, err, test.want)
			}
		})
	}
}

func codeOf(p *contract.Problem) string {
	if p == nil {
		return ""
	}
	return p.Code
}

func TestWriteWithoutAKnownOutcomeSaysSo(t *testing.T) {
	w := newWorld()
	w.broker.dispatch = func(context.Context, catalog.Request) catalog.Outcome {
		return catalog.Outcome{Error: &catalog.Error{
			Code: catalog.CodeTimeout, Message: "no answer in 1m0s", Effect: catalog.EffectUnknown, Retryable: true,
		}}
	}
	result, err := run[activities.CallResult](t, w.env(t), w.Write, activities.WriteInput{Thread: start, Call: w.thread.ask(1, "orders.refund")[0]})
	if err != nil || result.Problem == nil || result.Problem.Code != contract.CodeOutcomeUnknown ||
		!strings.Contains(result.Problem.Message, "timeout") || len(w.broker.requests) != 1 {
		t.Errorf("result %+v, error %v, %d calls", result, err, len(w.broker.requests))
	}
}

// A write that was applied must come back as applied even if its result cannot
// be stored.
func TestWriteSurvivesABrokenStore(t *testing.T) {
	w := newWorld()
	w.blobs.broken = true
	w.broker.dispatch = func(context.Context, catalog.Request) catalog.Outcome {
		return catalog.Outcome{Result: json.RawMessage(`"` + strings.Repeat("x", contract.MaxInline) + `"`)}
	}
	result, err := run[activities.CallResult](t, w.env(t), w.Write, activities.WriteInput{Thread: start, Call: w.thread.ask(1, "orders.refund")[0]})
	if err != nil || result.Problem != nil || result.Warning == "" || !json.Valid(result.Result) {
		t.Errorf("result %.80s, warning %q, error %v", result.Result, result.Warning, err)
	}
}

func TestArchiveKeepsEverything(t *testing.T) {
	w := newWorld()
	for i := range 50 {
		w.thread.messages = append(w.thread.messages, contract.Message{Index: i, Role: contract.RoleTool, Text: strings.Repeat("z", 60_000)})
	}
	w.thread.parts = []contract.Part{{ID: "t1", Seq: 3}}
	first, err := run[activities.ArchiveResult](t, w.env(t), w.Archive, activities.ArchiveInput{From: 0, To: 30})
	if err != nil {
		t.Fatal(err)
	}
	second, err := run[activities.ArchiveResult](t, w.env(t), w.Archive, activities.ArchiveInput{From: 30, To: 50, Archive: &first.Archive})
	if err != nil {
		t.Fatal(err)
	}
	var archive contract.Archive
	manifest, _ := w.blobs.Get(t.Context(), second.Archive)
	if err := json.Unmarshal(manifest, &archive); err != nil {
		t.Fatal(err)
	}
	next, parts := 0, 0
	for _, chunk := range archive.Chunks {
		encoded, err := w.blobs.Get(t.Context(), chunk.Ref)
		if err != nil || len(encoded) > 2<<20 {
			t.Fatalf("chunk of %d bytes: %v", len(encoded), err)
		}
		var body contract.ChunkBody
		if err := json.Unmarshal(encoded, &body); err != nil {
			t.Fatal(err)
		}
		if chunk.From != next || chunk.To-chunk.From != len(body.Messages) || body.Messages[0].Index != next {
			t.Errorf("chunk %+v follows %d", chunk, next)
		}
		next = chunk.To
		parts += len(body.Parts)
	}
	if next != 50 || parts != 2 {
		t.Errorf("%d messages and %d parts in the archive", next, parts)
	}
}

func TestStoreQueueKeepsLongTexts(t *testing.T) {
	w := newWorld()
	w.thread.queue = []contract.Submission{{ID: "short", Text: "hi"}, {ID: "long", Text: strings.Repeat("l", 5000)}}
	env := w.env(t)
	encoded, err := env.ExecuteActivity(w.StoreQueue)
	if err != nil {
		t.Fatal(err)
	}
	var result activities.StoreQueueResult
	if err := encoded.Get(&result); err != nil {
		t.Fatal(err)
	}
	if len(result.Refs) != 1 || result.Refs["long"].Size != 5000 {
		t.Errorf("refs = %+v", result.Refs)
	}
}

// A thread that has come to a limit of its agent asks no model.
func TestThreadLimitsAskNoModel(t *testing.T) {
	w := newWorld()
	agent := w.Agents["support"]
	agent.Limits.Thread = contract.Limits{CostMicros: 5000}
	w.Agents["support"] = agent
	w.model.reply = activities.ModelResponse{Text: "hi", Stop: activities.StopEnd}
	w.thread.messages = []contract.Message{{Role: contract.RoleUser, Text: "Hi"}}
	for _, test := range []struct {
		used *activities.Used
		over bool
	}{
		{&activities.Used{Usage: contract.Usage{CostMicros: 4999}}, false},
		{&activities.Used{Usage: contract.Usage{CostMicros: 5000}}, true},
		{nil, false}, // a later step, or a thread of an older workflow
	} {
		w.model.asked = activities.ModelRequest{}
		result, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t1", Step: 1, Upto: 1, Used: test.used})
		if err != nil {
			t.Fatal(err)
		}
		if asked := w.model.asked.Model != ""; asked == test.over || (result.Refused != nil) != test.over || result.Limits == nil {
			t.Errorf("used %+v: asked %t, %+v", test.used, asked, result)
		}
		if test.over && (result.Refused.Code != contract.CodeLimit || !strings.Contains(result.Refused.Message, "limits.thread.cost_usd of agent support: a thread may use $0.005000")) {
			t.Errorf("problem = %v", result.Refused)
		}
	}
}

// Rules of a backend that cannot be used end the turn, and no model is asked.
func TestRulesThatCannotBeUsed(t *testing.T) {
	w := newWorld()
	w.model.reply = activities.ModelResponse{Text: "hi", Stop: activities.StopEnd}
	w.thread.messages = []contract.Message{{Role: contract.RoleUser, Text: "Hi"}}
	for when, refused := range map[string]bool{"nonsense": true, "true": false} {
		w.model.asked = activities.ModelRequest{}
		bad := start
		bad.PromptPolicy = []contract.Rule{{Effect: "block", When: when}}
		result, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: bad, Turn: "t1", Step: 1, Upto: 1})
		if err != nil {
			t.Fatal(err)
		}
		if (result.Refused != nil) != refused || (w.model.asked.Model == "") != refused {
			t.Errorf("%s: %+v", when, result)
		}
		if refused && (result.Refused.Code != contract.ErrInvalid || !strings.Contains(result.Refused.Message, "policy rule 1 of the thread")) {
			t.Errorf("problem = %v", result.Refused)
		}
	}
}

// Those who read histories know the model's turn by its type.
func TestNameOfTheModelTurn(t *testing.T) {
	if _, ok := reflect.TypeFor[*activities.Activities]().MethodByName(contract.ModelActivity); !ok {
		t.Errorf("there is no activity %s", contract.ModelActivity)
	}
}
