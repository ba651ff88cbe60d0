package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// turn is the state of the turn that runs.
type turn struct {
	contract.Turn
	limits activities.Limits
	// policy are the rules that came with the message.
	policy []contract.Rule
	// user is who wrote the message, where that is not the thread's user.
	user string
	// waited is how long the turn has waited for people, which its time limit
	// does not count.
	waited time.Duration

	// message is a digest of the user's message, until the first step has used it.
	message string
	// run is set for a turn that runs a snippet, and script where that is a saved one;
	// or for one that undoes what another turn did, which undoes then names.
	run    contract.Run
	script string
	// tool is the one that is called, in a turn that makes a call.
	tool   string
	undoes string

	ctx    workflow.Context
	cancel workflow.CancelFunc
	// resting are the snippets that go on in the next run.
	resting []*execution
	// cancelled is why someone ended the turn.
	cancelled *contract.CancelTurn
}

// begin makes a queued submission the running turn.
func (t *thread) begin(q queued) *turn {
	now := workflow.Now(t.ctx)
	t.current = &turn{
		Turn: contract.Turn{
			ID: q.Turn, Submission: q.ID, Status: contract.StatusRunning, StartedAt: &now,
		},
		limits:  activities.DefaultLimits,
		user:    q.User,
		policy:  q.Policy,
		message: digest(q.Submission),
		run:     q.Run,
		script:  q.Script,
		tool:    q.Tool,
	}
	if q.Run == contract.RunUndo {
		t.current.undoes = q.Text
		q.Text = "Undo what you did in turn " + q.Text + "."
	}
	t.put(part(q.Turn, contract.KindMilestone, contract.PartRunning, "Turn "+q.Turn).with(func(p *contract.Part) {
		p.Turn, p.Submission = q.Turn, q.ID
	}))
	message := contract.Message{Role: contract.RoleUser, Turn: q.Turn, Text: q.Text, Body: q.Body, User: q.User}
	t.say(message, q.ID)
	return t.current
}

// runTurn takes a turn to its end, or to a point where the run gives way to the
// next and the turn goes on there.
func (t *thread) runTurn(turn *turn) {
	turn.ctx, turn.cancel = workflow.WithCancel(t.ctx)
	if turn.cancelled != nil {
		turn.cancel()
	}
	defer turn.cancel()
	if turn.run == contract.RunUndo {
		t.runUndo(turn)
		return
	}
	for {
		t.catchUp()
		var reply activities.ModelTurnResult
		var problem *contract.Problem
		goesOn := len(turn.resting) > 0
		if !goesOn {
			reply, problem = t.step(turn)
		}
		switch {
		case problem != nil:
		case goesOn:
			problem = t.goOn(turn)
		case len(reply.Calls) > 0:
			problem = t.runCalls(turn, reply.Calls)
		default:
			problem = incomplete(reply.Stop)
		}
		switch {
		case len(turn.resting) > 0:
			return
		case problem != nil || !goesOn && len(reply.Calls) == 0:
			t.end(turn, problem)
			return
		case t.full():
			return
		}
	}
}

// step asks the agent for its next message.
func (t *thread) step(turn *turn) (activities.ModelTurnResult, *contract.Problem) {
	var reply activities.ModelTurnResult
	if problem := t.overLimit(turn); problem != nil {
		return reply, problem
	}
	turn.Steps++
	t.show()
	id := fmt.Sprintf("%s-s%d", turn.ID, turn.Steps)
	t.put(part(id, contract.KindModel, contract.PartRunning, "Model turn "+fmt.Sprint(turn.Steps)).in(turn))

	summary := fmt.Sprintf("%s, turn %s, step %d", t.start.Agent, turn.ID, turn.Steps)
	ctx := workflow.WithActivityOptions(turn.ctx, modelTurnOptions(summary))
	err := workflow.ExecuteActivity(ctx, a.ModelTurn, activities.ModelTurnInput{
		Thread: t.governed(), Turn: turn.ID, Step: turn.Steps, Upto: t.length(), Message: turn.message, Run: turn.run, Script: turn.script, Tool: turn.tool,
		Used: t.usedBefore(turn), Told: t.told, Near: t.near(),
	}).Get(turn.ctx, &reply)
	turn.message = ""
	if err != nil {
		problem := turn.problem(contract.CodeModel, err)
		t.finish(id, ended(problem), func(p *contract.Part) { p.Problem = problem })
		return reply, problem
	}
	if reply.Refused != nil {
		turn.limits = reply.Limits.WithDefaults()
		t.audited = reply.Audited
		t.finish(id, ended(reply.Refused), func(p *contract.Part) { p.Problem = brief(reply.Refused) })
		return reply, reply.Refused
	}
	t.heard(turn, id, reply)
	return reply, nil
}

// heard takes in what the agent said.
func (t *thread) heard(turn *turn, id string, reply activities.ModelTurnResult) {
	if reply.Limits != nil {
		turn.limits = reply.Limits.WithDefaults()
		t.audited = reply.Audited
	}
	used := reply.Usage
	used.Calls, used.InputBytes = len(reply.Calls), inputBytes(reply.Calls)
	t.count(used)
	t.finish(id, contract.PartDone, func(p *contract.Part) {
		p.Usage = &reply.Usage
		p.Text = cut(reply.Reasoning, contract.MaxPartText)
		if reply.Model != "" {
			p.Title = "Model turn " + fmt.Sprint(turn.Steps) + ": " + reply.Model
		}
	})
	t.tellSources(turn, id, reply.Sources)
	message := contract.Message{Role: contract.RoleAssistant, Turn: turn.ID, Text: reply.Text, Body: reply.Body, Sources: reply.Sources}
	for _, c := range reply.Calls {
		message.Calls = append(message.Calls, c.Call)
	}
	index := t.say(message, turn.Submission)
	if len(reply.Calls) == 0 {
		turn.Answer, turn.AnswerIndex = cut(reply.Text, contract.MaxPartText), &index
	}
}

// incomplete says why an answer is not all that the agent had to say.
func incomplete(stop activities.StopReason) *contract.Problem {
	switch stop {
	case activities.StopLength:
		return &contract.Problem{Code: contract.CodeLimit, Message: "max_output_tokens: the answer was cut at the model's output limit"}
	case activities.StopFilter:
		return &contract.Problem{Code: contract.CodeModel, Message: "the model's vendor withheld the rest of the answer"}
	}
	return nil
}

// end records how a turn ended.
func (t *thread) end(turn *turn, problem *contract.Problem) {
	now := workflow.Now(t.ctx)
	turn.EndedAt = &now
	t.steps, t.spent = t.steps+turn.Steps, t.spent+t.active(turn)
	turn.Problem = problem
	status, title := contract.PartDone, "completed"
	switch {
	case problem == nil:
		turn.Status = contract.StatusCompleted
	case problem.Code == contract.CodeCancelled:
		turn.Status, status, title = contract.StatusCancelled, contract.PartCancelled, "cancelled"
	default:
		turn.Status, status, title = contract.StatusFailed, contract.PartFailed, "failed"
	}
	t.finish(turn.ID, status, func(p *contract.Part) {
		p.Title = "Turn " + turn.ID + " " + title
		p.Problem = problem
		p.Usage = &turn.Usage
	})
	t.remember(turn.Turn)
	t.current = nil
	if turn.cancelled != nil && turn.cancelled.Undo {
		t.undoNext(turn)
	}
}

// remember keeps an ended turn for those who ask after it.
func (t *thread) remember(turn contract.Turn) {
	t.recent = append(t.recent, turn)
	if len(t.recent) > contract.RecentTurns {
		t.recent = t.recent[len(t.recent)-contract.RecentTurns:]
	}
}

// problem says why a turn ended. A cancellation speaks for itself, whatever
// error it surfaced as.
func (turn *turn) problem(code string, err error) *contract.Problem {
	if turn.cancelled != nil {
		message := "the turn was cancelled"
		if turn.cancelled.Reason != "" {
			message += ": " + turn.cancelled.Reason
		}
		return &contract.Problem{Code: contract.CodeCancelled, Message: message}
	}
	return &contract.Problem{Code: code, Message: cut(cause(err), contract.MaxPartText)}
}

// cause is what went wrong, without Temporal's account of where.
func cause(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return "no answer in time (" + timeout.TimeoutType().String() + ")"
	}
	return err.Error()
}

// ended is the state of a part that ended with a problem.
func ended(problem *contract.Problem) contract.PartStatus {
	if problem.Code == contract.CodeCancelled {
		return contract.PartCancelled
	}
	return contract.PartFailed
}
