package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/signals/contract"
)

// conversation follows one turn to its end, and decides on the way what it is
// told to decide.
type conversation struct {
	*cli
	thread contract.ThreadRef
	turn   string
	view   *timeline
	// decide says what to do with an approval.
	decide decider
	by     string
	// failed is why the turn's own call failed, in a turn that makes one.
	failed *contract.Problem

	// waiting are the approvals that a person is to decide, the asked one first.
	waiting []contract.Approval
	// denying says that the question now is for the reason of a denial.
	denying bool
	keys    keyboard
}

// decider is who decides approvals.
type decider int

const (
	byOthers decider = iota // somebody elsewhere: go on waiting
	byNobody                // nobody: stop, and say how
	byPerson                // the person at the terminal
	byItself                // approve everything
)

// event is a part of the timeline, or the error that ends it.
type event struct {
	part contract.Part
	err  error
}

// follow shows the turn from a cursor on until it ends.
func (v *conversation) follow(ctx context.Context, after int64) (contract.Turn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan event)
	go func() {
		defer close(events)
		for part, err := range v.threads.Watch(ctx, v.thread, after) {
			select {
			case events <- event{part, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case e, ok := <-events:
			if !ok { // the thread was closed, and the turn with it
				return v.ended(ctx)
			}
			if e.err != nil {
				return contract.Turn{}, e.err
			}
			end, err := v.take(ctx, e.part)
			if err != nil {
				return contract.Turn{}, err
			}
			if end {
				return v.ended(ctx)
			}
			if len(v.waiting) > 0 && !v.view.asking {
				v.prompt() // a line has come between
			}
		case line, ok := <-v.keys.lines:
			if !ok { // nobody types any more
				v.keys.lines, v.decide, v.view.quoting = nil, byNobody, true
				if len(v.waiting) > 0 {
					return contract.Turn{}, waitingError{v.thread, v.turn, v.waiting[0]}
				}
				continue
			}
			if !v.keys.answers(line) {
				continue // typed before there was a question
			}
			if err := v.answer(ctx, line.text); err != nil {
				return contract.Turn{}, err
			}
		}
	}
}

// take shows a part, and asks what it asks. It reports whether the turn has ended.
func (v *conversation) take(ctx context.Context, p contract.Part) (end bool, err error) {
	if p.Turn != v.turn {
		return false, nil
	}
	if v.json {
		if err := v.printJSON(map[string]contract.Part{"part": p}); err != nil {
			return false, err
		}
	} else {
		v.view.show(p)
	}
	if p.Kind == contract.KindCall && p.EndedAt != nil {
		v.failed = p.Problem
	}
	if p.Kind == contract.KindApproval && p.Approval != nil {
		if err := v.approval(ctx, p); err != nil {
			return false, err
		}
	}
	if p.Kind == contract.KindQuestion && p.Status == contract.PartWaiting && p.Question != nil && v.decide != byOthers {
		// Questions are answered by a command of their own.
		return false, askingError{v.thread, v.turn, *p.Question}
	}
	return p.Kind == contract.KindMilestone && p.ID == v.turn && p.EndedAt != nil, nil
}

// approval deals with an approval that waits, or waits no more.
func (v *conversation) approval(ctx context.Context, p contract.Part) error {
	if p.Status != contract.PartWaiting {
		return v.forget(p.ID)
	}
	switch v.decide {
	case byItself:
		return v.threads.Approve(ctx, v.thread, v.decision(*p.Approval, ""))
	case byNobody:
		return waitingError{v.thread, v.turn, *p.Approval}
	case byPerson:
		if slices.ContainsFunc(v.waiting, func(a contract.Approval) bool { return a.ID == p.ID }) {
			return nil
		}
		if v.waiting = append(v.waiting, *p.Approval); len(v.waiting) == 1 {
			return v.ask()
		}
	case byOthers:
	}
	return nil
}

// forget drops an approval that is decided, and asks for the next if it was the
// one that is being asked.
func (v *conversation) forget(id string) error {
	i := slices.IndexFunc(v.waiting, func(a contract.Approval) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	v.waiting = slices.Delete(v.waiting, i, i+1)
	if i == 0 {
		v.denying = false
		if len(v.waiting) > 0 {
			return v.ask()
		}
	}
	return nil
}

// ask shows the first approval that waits and what can be answered.
func (v *conversation) ask() error {
	v.view.details(v.waiting[0])
	v.view.block(preview(v.waiting[0], maxPreviewLines), bold)
	if err := v.keys.ask(); err != nil {
		return err
	}
	v.prompt()
	return nil
}

func (v *conversation) prompt() {
	question := "Approve? [y]es, [n]o, [d]etails: "
	if v.denying {
		question = "Why not? (the agent reads it; may be empty): "
	}
	v.view.ask(question)
}

// answer takes a line that the person has typed.
func (v *conversation) answer(ctx context.Context, line string) error {
	v.view.asking = false // the line break was typed
	if len(v.waiting) == 0 {
		return nil // the question is withdrawn
	}
	asked := v.waiting[0]
	if v.denying {
		v.denying = false
		return v.settle(ctx, asked, v.threads.Deny, strings.TrimSpace(line))
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return v.settle(ctx, asked, v.threads.Approve, "")
	case "n", "no":
		v.denying = true
	case "d", "details":
		v.details(asked)
	}
	v.prompt()
	return nil
}

// settle sends a decision. The approval's part says how it went.
func (v *conversation) settle(
	ctx context.Context, a contract.Approval,
	send func(context.Context, contract.ThreadRef, contract.Decision) error, comment string,
) error {
	err := send(ctx, v.thread, v.decision(a, comment))
	if refused(err, contract.ErrAlreadyDecided) {
		v.view.block("it has been decided meanwhile", dim)
		err = nil
	}
	if err != nil {
		return err
	}
	return v.forget(a.ID)
}

func (v *conversation) decision(a contract.Approval, comment string) contract.Decision {
	return contract.Decision{Approval: a.ID, Digest: a.Digest, By: v.by, Comment: comment}
}

func (v *conversation) details(a contract.Approval) {
	v.view.block(preview(a, 0), plain)
	v.view.block(strings.Join([]string{
		"tool: " + a.Tool,
		"reason: " + a.Reason,
		"call: " + a.Call,
		"approval: " + a.ID,
		"requested: " + a.RequestedAt.Local().Format("2006-01-02 15:04:05"),
		"expires: " + a.ExpiresAt.Local().Format("2006-01-02 15:04:05"),
		"digest: " + a.Digest,
	}, "\n"), dim)
}

// ended reads how the turn ended and says so.
func (v *conversation) ended(ctx context.Context) (contract.Turn, error) {
	turn, err := v.threads.Wait(ctx, v.thread, v.turn)
	if err != nil {
		return turn, err
	}
	if turn.AnswerIndex != nil {
		// The turn holds the beginning of a long answer, the transcript the whole.
		messages, err := v.threads.Transcript(ctx, v.thread, *turn.AnswerIndex, *turn.AnswerIndex+1)
		if err == nil && len(messages) == 1 {
			turn.Answer = messages[0].Text
		}
	}
	if v.json {
		err = v.printJSON(map[string]contract.Turn{"turn": turn})
	} else {
		v.finish(turn)
	}
	if err == nil && turn.Status != contract.StatusCompleted {
		err = turnError{turn}
	}
	return turn, err
}

func (v *conversation) finish(turn contract.Turn) {
	v.view.wipe()
	if turn.Status == contract.StatusCompleted {
		v.view.held = nil
		v.view.say(turn.Answer)
	}
	v.view.release()
}

// maxPreviewLines bounds the input that is shown with a question.
const maxPreviewLines = 20

// preview writes the input of a call for people; most is the number of lines, 0
// for all.
func preview(a contract.Approval, most int) string {
	var text string
	var indented bytes.Buffer
	switch {
	case json.Unmarshal(a.Preview, &text) == nil: // the beginning of a long input
		text += "\n… (the input is longer than what is kept for a preview)"
	case json.Indent(&indented, a.Preview, "", "  ") == nil:
		text = indented.String()
	default:
		text = string(a.Preview)
	}
	lines := strings.Split(text, "\n")
	if most > 0 && len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("… %d more lines: see details", len(lines)-most))
	}
	return title(a) + "\n" + strings.Join(lines, "\n")
}

func title(a contract.Approval) string {
	if a.Title != "" && a.Title != a.Tool {
		return a.Tool + ": " + a.Title
	}
	return a.Tool
}
