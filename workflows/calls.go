package workflows

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// call is one tool call of the model turn that is being carried out.
type call struct {
	planned activities.PlannedCall
	result  *activities.CallResult
	// approval is set while a person is asked, and after.
	approval *approval
	// attempts counts how often a write was scheduled.
	attempts int
	// reconciliation is set while it is not known whether the write was applied.
	reconciliation *reconciliation
	// doubts counts how often that was not known.
	doubts int
	// grant is by what a person agreed beforehand.
	grant *contract.Grant
	// question is what the call asked last, and questions counts what it has asked.
	question  *question
	questions int
	// edited says that a person gave the call another input.
	edited bool
	// execution is the snippet that made the call; nil: the model did.
	execution *execution
	// begun says that the call runs a script, and has begun to.
	begun bool
	// unknown is what the first attempt came to that may have been applied.
	unknown *activities.CallResult
	// undoes is the id of the call that this one undoes.
	undoes string
	// place is the effect's at the lock of its resource.
	place place
}

func (c *call) settled() bool { return c.result != nil }

// ready reports whether an effect may be carried out now.
func (c *call) ready() bool {
	return !c.settled() && !c.begun && !c.waits() && c.reconciliation == nil && (c.approval == nil || c.approval.agreed()) &&
		(c.question == nil || c.question.goesOn())
}

// left is the result of an effect that is left with a problem. Once an attempt may
// have been applied, only a result tells more.
func (c *call) left(problem *contract.Problem) activities.CallResult {
	if c.unknown != nil {
		return *c.unknown
	}
	return activities.CallResult{ID: c.planned.ID, Problem: problem}
}

func (c *call) ref() activities.CallRef {
	return activities.CallRef{
		ID: c.planned.ID, Tool: c.planned.Tool, Kind: c.planned.Kind,
		DescriptorDigest: c.planned.Plan.DescriptorDigest, InputDigest: c.planned.Plan.InputDigest,
		Approved: c.approval != nil || c.grant != nil, Granted: c.grant != nil, Approvers: c.planned.Plan.Approvers,
	}
}

// runCalls carries out the calls of one model turn and gives the agent one
// result for each, in the order of the calls. Reads that need no approval run
// together in one activity; everything else, the effects, one at a time, in
// order among those that may run. A problem returned ends the turn.
func (t *thread) runCalls(turn *turn, planned []activities.PlannedCall) *contract.Problem {
	calls := make([]*call, len(planned))
	for i, p := range planned {
		calls[i] = &call{planned: p}
		t.open = append(t.open, p.Call)
	}
	problem := t.overCalls(turn)
	if problem == nil {
		t.carryOut(turn, calls)
	}
	return t.conclude(turn, calls, problem)
}

// conclude gives the agent the results of calls. Those that rest have none yet.
func (t *thread) conclude(turn *turn, calls []*call, problem *contract.Problem) *contract.Problem {
	if len(turn.resting) > 0 {
		for _, c := range calls {
			if c.settled() {
				t.tell(turn, c)
			}
		}
		return nil
	}
	if problem == nil && turn.ctx.Err() != nil {
		problem = turn.problem(contract.CodeCancelled, turn.ctx.Err())
	}
	for _, c := range calls {
		if !c.settled() {
			t.settle(c, c.left(problem))
		}
		t.tell(turn, c)
	}
	t.open, t.executions, t.keyed = nil, nil, nil
	return problem
}

// round is what becomes of the calls of one model turn.
type round struct {
	batch      *readBatch
	effects    []*call
	executions []*execution
}

// over reports whether every call has its result.
func (r *round) over() bool {
	return r.batch.done() &&
		!slices.ContainsFunc(r.effects, func(c *call) bool { return !c.settled() }) &&
		!slices.ContainsFunc(r.executions, func(x *execution) bool { return !x.over })
}

func (t *thread) carryOut(turn *turn, calls []*call) {
	t.catchUp()
	reads, effects, executions := t.sort(turn, calls)
	t.executions = executions
	r := &round{batch: t.startReads(turn, reads), effects: effects, executions: executions}
	t.askFor(turn, effects)
	t.askFirst(turn, effects)
	t.carryOn(turn, r)
}

// carryOn goes on with a round until it is over, or rests.
func (t *thread) carryOn(turn *turn, r *round) {
	for {
		t.catchUp()
		t.settleDecided(r.effects)
		t.settleReconciled(r.effects)
		t.settleAnswered(r.effects)
		t.settleRefused(r.effects)
		r.effects = append(r.effects, r.batch.settleIfDone(t, turn)...)
		for _, x := range r.executions {
			r.effects = append(r.effects, t.advance(turn, x)...)
		}
		if turn.ctx.Err() != nil {
			t.abandon(turn, r)
			return
		}
		t.refuseBlocked(r.effects)
		if i := slices.IndexFunc(r.effects, t.mayBegin); i >= 0 {
			t.show()
			switch c := r.effects[i]; {
			case c.planned.Kind == activities.CallConnect:
				t.settle(c, activities.CallResult{ID: c.planned.ID, Result: connected})
			case c.unplanned():
				t.planAnew(turn, c)
			case c.planned.Kind == activities.CallExecute:
				t.runScript(r, c)
			default:
				t.runEffect(turn, c)
			}
			continue
		}
		if r.over() {
			return
		}
		if t.mayRest() {
			if r.rests() {
				t.rest(turn, r)
				return
			}
			for _, x := range r.executions {
				if x.due() {
					t.startSegment(turn, x)
				}
			}
		}
		t.awaitProgress(turn, r)
	}
}

// abandon leaves what is under way when the turn ends.
func (t *thread) abandon(turn *turn, r *round) {
	t.withdraw(r.effects)
	t.leaveInDoubt(r.effects)
	r.batch.abandon(t)
	for _, x := range r.executions {
		t.abandonExecution(x, turn.problem(contract.CodeCancelled, turn.ctx.Err()))
	}
}

// sort opens a timeline part for each call, settles those that cannot be made at
// all, and tells reads from effects and snippets.
func (t *thread) sort(turn *turn, calls []*call) (reads, effects []*call, executions []*execution) {
	for _, c := range calls {
		if c.planned.Kind == activities.CallExecute && c.planned.Source == nil && c.planned.Problem == nil {
			x := &execution{call: c}
			executions = append(executions, x)
			t.showExecution(turn, x)
			continue
		}
		t.showCall(turn, c)
		switch {
		case c.planned.Problem != nil:
			t.settle(c, activities.CallResult{ID: c.planned.ID, Problem: c.planned.Problem})
		case c.planned.Plan.Operation == catalog.Read && !c.planned.Plan.NeedsApproval:
			reads = append(reads, c)
		default:
			effects = append(effects, c)
		}
	}
	return reads, effects, executions
}

// readBatch is the activity that carries out the reads of a model turn.
type readBatch struct {
	id     string
	reads  []*call
	future workflow.Future
	taken  bool
}

func (b *readBatch) done() bool { return len(b.reads) == 0 || b.taken }

func (t *thread) startReads(turn *turn, reads []*call) *readBatch {
	b := &readBatch{id: fmt.Sprintf("%s-s%d-reads", turn.ID, turn.Steps), reads: reads}
	if len(reads) == 0 {
		return b
	}
	in := activities.BatchReadInput{Thread: t.governed(), Near: t.near()}
	t.put(part(b.id, contract.KindBatch, contract.PartRunning, plural(len(reads), "read")).in(turn).with(func(p *contract.Part) {
		p.Progress = &contract.Progress{Total: len(reads)}
	}))
	for _, c := range reads {
		in.Calls = append(in.Calls, c.ref())
		t.update(c.planned.ID, func(p *contract.Part) { p.Parent = b.id })
	}
	ctx := workflow.WithActivityOptions(turn.ctx, batchReadOptions(readsSummary(reads), reads))
	b.future = workflow.ExecuteActivity(ctx, a.BatchRead, in)
	return b
}

// settleIfDone takes in the results of the reads, once they are there. Those that ask
// a person something go on as effects do, each by itself.
func (b *readBatch) settleIfDone(t *thread, turn *turn) (asking []*call) {
	if b.done() || !b.future.IsReady() {
		return nil
	}
	b.taken = true
	var result activities.BatchReadResult
	err := b.future.Get(t.ctx, &result)
	failed := 0
	var used contract.Usage
	for i, c := range b.reads {
		r := activities.CallResult{ID: c.planned.ID}
		switch {
		case err != nil:
			r.Problem = failure(c, err)
		case i < len(result.Results):
			r = result.Results[i]
		}
		if r.Problem != nil {
			failed++
		}
		if r.Asks != nil {
			asking = append(asking, c)
			t.askPerson(turn, c, r.Asks)
			continue
		}
		t.settle(c, r)
		used = used.Add(c.usage())
	}
	t.finish(b.id, contract.PartDone, func(p *contract.Part) {
		p.Usage = &used
		p.Progress = &contract.Progress{Done: len(b.reads) - failed, Total: len(b.reads)}
		if err != nil {
			p.Status = ended(failure(b.reads[0], err))
		}
	})
	return asking
}

// abandon leaves reads that are still under way when the turn ends.
func (b *readBatch) abandon(t *thread) {
	if !b.done() {
		t.finish(b.id, contract.PartCancelled, func(*contract.Part) {})
	}
}

// awaitProgress waits until there is something to do. Time in which only people
// are waited for does not count against the turn.
func (t *thread) awaitProgress(turn *turn, r *round) {
	t.show()
	began := workflow.Now(t.ctx)
	onlyPeople := r.batch.done() && !slices.ContainsFunc(r.executions, (*execution).busy) &&
		!slices.ContainsFunc(r.effects, (*call).lookedInto) && !slices.ContainsFunc(r.effects, (*call).waits)
	_ = workflow.Await(t.ctx, func() bool { // ends by the turn's context: t.ctx is never cancelled
		return turn.ctx.Err() != nil ||
			(!r.batch.done() && r.batch.future.IsReady()) ||
			slices.ContainsFunc(r.executions, (*execution).stirs) ||
			slices.ContainsFunc(r.effects, t.stirs)
	})
	if onlyPeople {
		turn.waited += workflow.Now(t.ctx).Sub(began)
	}
}

// stirs reports whether there is something to do about a call.
func (t *thread) stirs(c *call) bool {
	switch {
	case c.settled():
		return false
	case c.reconciliation != nil:
		return c.reconciliation.stirs()
	case c.question != nil && c.question.over() && !c.question.goesOn():
		return true
	case c.approval != nil && c.approval.decided() && !c.approval.agreed():
		return true
	}
	return t.mayBegin(c) || t.blocked(c) || c.moved() && c.place.refused != nil
}

// settle records how a call ended.
func (t *thread) settle(c *call, result activities.CallResult) {
	t.withdrawQuestion(c)
	c.result = &result
	t.count(contract.Usage{OutputBytes: bytesOf(result.Result, result.Body)})
	t.noteApplied(c)
	t.giveUpPlace(c)
	if c.execution != nil {
		c.execution.gave(c, workflow.Now(t.ctx))
	}
	status := contract.PartDone
	if p := result.Problem; p != nil {
		switch p.Code {
		case contract.CodeApprovalDenied:
			status = contract.PartDenied
		case contract.CodeApprovalExpired:
			status = contract.PartExpired
		case contract.CodeQuestionDeclined:
			status = contract.PartDenied
		case contract.CodeQuestionExpired:
			status = contract.PartExpired
		default:
			status = ended(p)
		}
	}
	used := c.usage()
	t.finish(c.planned.ID, status, func(p *contract.Part) {
		p.Usage = &used
		p.Problem, p.Lock = brief(result.Problem), nil
		p.Text = cut(result.Warning, contract.MaxPartText)
		if result.DurationMS > 0 {
			p.DurationMS = result.DurationMS
		}
	})
}

// tell gives the agent the result of a call.
func (t *thread) tell(turn *turn, c *call) {
	message := contract.Message{
		Role: contract.RoleTool, Turn: turn.ID, Call: c.planned.ID, Tool: c.planned.Tool,
		Text: string(c.result.Result), Body: c.result.Body, Problem: c.result.Problem,
	}
	if c.edited {
		message.Text += "\n[a person changed the input before the call was made: " + string(c.planned.Plan.Preview) + "]"
	}
	if c.result.Warning != "" {
		message.Text += "\n[warning: " + c.result.Warning + "]"
	}
	t.append(message)
}

// brief is a problem without its details, which only the agent needs.
func brief(p *contract.Problem) *contract.Problem {
	if p == nil {
		return nil
	}
	return &contract.Problem{Code: p.Code, Message: cut(p.Message, contract.MaxPartText)}
}

// readsSummary names the tools of a batch, such as "3 reads: orders.get ×2, orders.find".
func readsSummary(reads []*call) string {
	var tools []string
	counts := map[string]int{}
	for _, c := range reads {
		if counts[c.planned.Tool] == 0 {
			tools = append(tools, c.planned.Tool)
		}
		counts[c.planned.Tool]++
	}
	for i, tool := range tools {
		if counts[tool] > 1 {
			tools[i] = fmt.Sprintf("%s ×%d", tool, counts[tool])
		}
	}
	return cut(plural(len(reads), "read")+": "+strings.Join(tools, ", "), 180)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
