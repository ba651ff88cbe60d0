package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/signals/contract"
)

// checkMode says why a thread cannot be put into a mode.
func (w *Worker) checkMode(m contract.SetMode) error {
	if err := m.Validate(); err != nil {
		return refuse(contract.ErrInvalid, "%v", err)
	}
	if m.Mode != "" && !slices.Contains(w.Modes, m.Mode) {
		return refuse(contract.ErrUnknownMode, "mode: the worker has no mode %q", m.Mode)
	}
	return nil
}

// takeMode takes a signal. Whether the worker has the mode is recorded, so that a
// replay by a worker with other modes goes the same way.
func (t *thread) takeMode(m contract.SetMode) error {
	if err := m.Validate(); err != nil {
		return refuse(contract.ErrInvalid, "%v", err)
	}
	known := false
	summary := workflow.SideEffectOptions{Summary: "does the worker have the mode " + m.Mode + "?"}
	encoded := workflow.SideEffectWithOptions(t.ctx, summary, func(workflow.Context) any { return t.worker.checkMode(m) == nil })
	if err := encoded.Get(&known); err != nil {
		return err
	}
	if !known {
		return refuse(contract.ErrUnknownMode, "mode: the worker has no mode %q", m.Mode)
	}
	t.setMode(m)
	return nil
}

// setMode puts the thread into a mode. The mode goes with the thread's start to all
// activities from now on, so that what was planned in another is checked in this one
// before it is carried out.
func (t *thread) setMode(m contract.SetMode) contract.ModeSet {
	before := t.start.Mode
	t.start.Mode = m.Mode
	title := "Mode " + m.Mode
	if m.Mode == "" {
		title = "The agent's own mode"
	}
	t.put(part(fmt.Sprintf("mode-%d", t.seq+1), contract.KindMilestone, contract.PartDone, title).with(func(p *contract.Part) {
		p.Text = cut(byAndWhy(m.By, m.Reason), contract.MaxPartText)
	}))
	return contract.ModeSet{Mode: m.Mode, Before: before}
}

// governed is the thread as activities are told of it: with the rules of the message
// that the turn answers.
func (t *thread) governed() contract.Start {
	start := t.start
	if t.current != nil {
		start.PromptPolicy = t.current.policy
	}
	return start
}

// byAndWhy says who did something, and why.
func byAndWhy(by, why string) string {
	switch {
	case by == "":
		return why
	case why == "":
		return "by " + by
	}
	return "by " + by + ": " + why
}
