package workflows

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Applied is a write that was applied, or may have been, and what can be done about
// it. How it is undone the tool said when it was applied, so that neither its input
// nor its result need be remembered.
type Applied struct {
	Turn string `json:"turn"`
	Call string `json:"call"`
	Tool string `json:"tool"`
	// Undo is nil where the tool says nothing of it.
	Undo *catalog.Undo `json:"undo,omitempty"`
	// Unknown says that nobody knows whether the write was applied.
	Unknown bool `json:"unknown,omitempty"`
	// Status is empty until it was undone, or that is not known.
	Status contract.PartStatus `json:"status,omitempty"`
}

// undoing is what a thread remembers of the writes that it has applied.
type undoing struct {
	applied []Applied
	// forgotten is the number of the newest turn of which writes are not remembered.
	forgotten int
}

const (
	// maxApplied bounds the writes that a run remembers.
	maxApplied = 512
	// maxCarriedApplied bounds those that are carried on to the next run, in bytes.
	maxCarriedApplied = 12 << 10
)

// undoable reports whether the write is still to be undone, and can be.
func (a *Applied) undoable() bool {
	return a.Undo != nil && a.Undo.Reason == "" && !a.Unknown && a.Status == ""
}

// noteApplied remembers a write that was applied, or may have been. What an undo did
// is not undone.
func (t *thread) noteApplied(c *call) {
	unknown := c.result.Problem != nil && c.result.Problem.Code == contract.CodeOutcomeUnknown
	applied := c.result.Problem == nil || c.result.Undo != nil
	if t.current == nil || c.undoes != "" || c.planned.Plan.Operation != catalog.Write || !applied && !unknown {
		return
	}
	t.applied = append(t.applied, Applied{
		Turn: t.current.ID, Call: c.planned.ID, Tool: c.planned.Tool, Undo: c.result.Undo, Unknown: unknown,
	})
	if len(t.applied) > maxApplied {
		t.forget(len(t.applied) - maxApplied)
	}
}

// noteFound takes in what was found of a write that nobody knew of whether it was
// applied, if its call has ended meanwhile.
func (t *thread) noteFound(call string, found activities.ReconcileResult) {
	i := slices.IndexFunc(t.applied, func(a Applied) bool { return a.Call == call && a.Unknown })
	switch {
	case i < 0:
	case found.Found == catalog.FoundApplied:
		applied := t.applied[i]
		applied.Unknown, applied.Undo = false, found.Result.Undo
		t.applied[i] = applied
	case found.Found == catalog.FoundNotApplied:
		t.applied = slices.Delete(slices.Clone(t.applied), i, i+1)
	}
}

// forget drops the oldest writes.
func (t *thread) forget(n int) {
	if n > 0 {
		t.forgotten = max(t.forgotten, turnNumber(t.applied[n-1].Turn))
		t.applied = slices.Clone(t.applied[n:])
	}
}

func turnNumber(turn string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(turn, "t"))
	return n
}

// carryApplied returns the newest writes that fit, and what was forgotten.
func (t *thread) carryApplied() ([]Applied, int) {
	size, first := 0, len(t.applied)
	for first > 0 {
		encoded, _ := json.Marshal(t.applied[first-1]) // strings and JSON that was checked
		if size += len(encoded); size > maxCarriedApplied {
			break
		}
		first--
	}
	t.forget(first)
	return t.applied, t.forgotten
}

// undoNext has the next turn undo what a cancelled one did.
func (t *thread) undoNext(cancelled *turn) {
	id := contract.UndoID(cancelled.ID)
	known := slices.ContainsFunc(t.seen, func(s Seen) bool { return s.ID == id })
	did := slices.ContainsFunc(t.applied, func(a Applied) bool { return a.Turn == cancelled.ID })
	if t.closing != nil || known || !did || cancelled.run == contract.RunUndo {
		return
	}
	if _, err := t.submit(contract.Submission{ID: id, Text: cancelled.ID, Run: contract.RunUndo}); err != nil {
		t.refused(contract.SignalCancelTurn, err)
		return
	}
	last := len(t.queue) - 1
	t.queue = append([]queued{t.queue[last]}, t.queue[:last]...)
}

// runUndo undoes the writes of a turn, the last one first, each by a call that is
// planned, approved and carried out like any other. It stops at the first that fails;
// what can never be undone it leaves and goes on.
func (t *thread) runUndo(turn *turn) {
	problem := t.cannotUndo(turn.undoes)
	for problem == nil {
		t.catchUp()
		i := t.lastUndoable(turn.undoes)
		if i < 0 {
			break
		}
		if problem = t.undo(turn, &t.applied[i]); problem == nil && t.full() && t.lastUndoable(turn.undoes) >= 0 {
			return // the next run goes on
		}
	}
	text := t.undoReport(turn.undoes)
	if problem != nil {
		text += " Stopped: " + problem.Message
	}
	index := t.say(contract.Message{Role: contract.RoleAssistant, Turn: turn.ID, Text: text}, turn.Submission)
	turn.Answer, turn.AnswerIndex = cut(text, contract.MaxPartText), &index
	t.end(turn, problem)
}

// cannotUndo says why a turn cannot be undone at all.
func (t *thread) cannotUndo(turn string) *contract.Problem {
	number := turnNumber(turn)
	switch {
	case turn != fmt.Sprintf("t%d", number) || number < 1 || number > t.turns || turn == t.current.ID ||
		slices.ContainsFunc(t.queue, func(q queued) bool { return q.Turn == turn }):
		return &contract.Problem{Code: contract.ErrUnknownTurn, Message: fmt.Sprintf("the thread has no turn %q that has ended", turn)}
	case number <= t.forgotten:
		return &contract.Problem{Code: contract.ErrForgotten, Message: "turn " + turn + " is too long ago: not all that it did is remembered; nothing was undone"}
	}
	return nil
}

func (t *thread) lastUndoable(turn string) int {
	for i := len(t.applied) - 1; i >= 0; i-- {
		if t.applied[i].Turn == turn && t.applied[i].undoable() {
			return i
		}
	}
	return -1
}

// undo undoes one write.
func (t *thread) undo(turn *turn, a *Applied) *contract.Problem {
	turn.Steps++
	id := fmt.Sprintf("%s-u%d", turn.ID, turn.Steps)
	planned, problem := t.planUndo(turn, id, a.Undo)
	if reason := unfit(planned, problem); reason != "" && workflow.GetVersion(t.ctx, changeUnfitUndo, workflow.DefaultVersion, 1) >= 1 {
		a.Undo = &catalog.Undo{Reason: cut(a.Undo.Tool+" cannot undo it: "+reason, activities.MaxCarriedText)}
		return nil
	}
	if problem == nil {
		c := &call{planned: planned, undoes: a.Call}
		t.open = []contract.Call{planned.Call}
		t.carryOut(turn, []*call{c})
		if !c.settled() {
			t.settle(c, c.left(turn.problem(contract.CodeCancelled, turn.ctx.Err())))
		}
		t.open, t.executions, t.keyed = nil, nil, nil
		problem = c.result.Problem
		switch {
		case problem == nil || c.result.Undo != nil: // it was applied, with a result or without
			a.Status, problem = contract.PartDone, nil
		case problem.Code == contract.CodeOutcomeUnknown: // once more could be twice
			a.Status = contract.PartFailed
		}
	}
	if problem != nil {
		problem = &contract.Problem{Code: problem.Code, Message: cut(fmt.Sprintf("the undo of %s (call %s) by %s: %s",
			a.Tool, a.Call, a.Undo.Tool, problem.Message), contract.MaxPartText)}
	}
	return problem
}

// planUndo plans the call that undoes a write.
func (t *thread) planUndo(turn *turn, id string, undo *catalog.Undo) (activities.PlannedCall, *contract.Problem) {
	var result activities.ReplanResult
	ctx := workflow.WithActivityOptions(turn.ctx, replanOptions("plan the undo "+id))
	in := activities.ReplanInput{Thread: t.governed(), Call: id, Tool: undo.Tool, Input: undo.Input, Limits: turn.Steps == 1}
	err := workflow.ExecuteActivity(ctx, a.Replan, in).Get(t.ctx, &result)
	planned := result.PlannedCall
	if result.Limits != nil {
		turn.limits = result.Limits.WithDefaults()
	}
	switch {
	case err != nil:
		return planned, turn.problem(contract.CodeInternal, err)
	case planned.Problem == nil && (planned.Plan.Operation != catalog.Write || planned.Kind != ""):
		return planned, &contract.Problem{Code: contract.ErrInvalid, Message: "it is no tool that writes"}
	}
	return planned, nil
}

// changeUnfitUndo is the change by which a write whose undo can never be made is left,
// and does not keep those before it from being undone.
const changeUnfitUndo = "unfit-undo"

// unfit says why the undo of a write can never be made, whoever asks for it when: what
// the write said does not fit the tool that undoes. Empty: it may be made.
func unfit(planned activities.PlannedCall, problem *contract.Problem) string {
	switch {
	case problem != nil && problem.Code == contract.ErrInvalid:
		return problem.Message
	case problem == nil && planned.Problem != nil && planned.Problem.Code == catalog.CodeInvalidInput:
		return planned.Problem.Message
	}
	return ""
}

// undoReport says what was undone of a turn, and what was not.
func (t *thread) undoReport(turn string) string {
	var undone, left []string
	for i := len(t.applied) - 1; i >= 0; i-- {
		a := t.applied[i]
		name := a.Tool + " (" + a.Call + ")"
		switch {
		case a.Turn != turn:
		case a.Status == contract.PartDone:
			undone = append(undone, name)
		case a.Status == contract.PartFailed:
			left = append(left, name+": its undo may or may not have been applied")
		case a.Unknown:
			left = append(left, name+": it may or may not have been applied")
		case a.Undo == nil:
			left = append(left, name+": its tool does not say how")
		case a.Undo.Reason != "":
			left = append(left, name+": "+a.Undo.Reason)
		default:
			left = append(left, name)
		}
	}
	text := "Nothing was undone."
	if len(undone) > 0 {
		text = "Undone: " + strings.Join(undone, ", ") + "."
	}
	if len(left) > 0 {
		text += " Not undone: " + strings.Join(left, "; ") + "."
	}
	return text
}
