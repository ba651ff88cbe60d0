package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

const (
	// questionsKept is how many past questions a thread remembers, to answer a second
	// answer to one of them.
	questionsKept = 64
	// maxQuestions bounds what one call may ask, one after the other.
	maxQuestions = 10
)

// question is what a call asks of a person. The call is made again with the answer.
type question struct {
	contract.Question
	// asked is what the activity said, with the state that comes back with the answer.
	asked *activities.Asked
	// answer is the person's, content what it comes to with its defaults.
	answer  *contract.Answer
	content []byte
	// withdrawn says that the turn ended first.
	withdrawn bool
	expiry    workflow.Future
	stopTimer workflow.CancelFunc
}

func (q *question) over() bool { return q.answer != nil || q.withdrawn || q.expiry.IsReady() }

// goesOn reports whether the call is to be made with the answer.
func (q *question) goesOn() bool {
	return q.answer != nil && (q.answer.Action == contract.Accept || q.asked.TellDecline)
}

// input is the answer for the call that is made with it.
func (q *question) input() *activities.AnswerInput {
	if q == nil {
		return nil
	}
	return &activities.AnswerInput{
		Question: q.ID, Declined: q.answer.Action == contract.Decline, Content: q.content, State: q.asked.State,
	}
}

// EndedQuestion is how a past question ended.
type EndedQuestion struct {
	Question string              `json:"question"`
	Status   contract.PartStatus `json:"status"`
	// Answer is a digest of the answer; empty: there was none.
	Answer string `json:"answer,omitempty"`
}

// asking holds the questions that wait for an answer, and those that have.
type asking struct {
	questions      []*question
	endedQuestions []EndedQuestion
}

// askPerson opens the question of a call.
func (t *thread) askPerson(turn *turn, c *call, asked *activities.Asked) {
	c.questions++
	if c.questions > maxQuestions {
		t.settle(c, refusedCall(c, contract.CodeLimit, fmt.Sprintf("the call asked a person %d times and went on to ask; it was not made", maxQuestions)))
		return
	}
	now := workflow.Now(t.ctx)
	wait := turn.limits.ApprovalExpiry
	if asked.Expires > 0 {
		wait = min(wait, asked.Expires)
	}
	q := &question{asked: asked, Question: contract.Question{
		ID:   fmt.Sprintf("%s-q%d-%s", c.planned.ID, c.questions, digestOfQuestion(asked)),
		Turn: turn.ID, Call: c.planned.ID, Tool: c.planned.Tool, From: asked.From, About: asked.About,
		Message: asked.Message, Schema: asked.Schema, URL: asked.URL, AskedAt: now, ExpiresAt: now.Add(wait),
	}}
	var ctx workflow.Context
	ctx, q.stopTimer = workflow.WithCancel(t.ctx)
	q.expiry = workflow.NewTimerWithOptions(ctx, wait, workflow.TimerOptions{Summary: "question of " + c.planned.Tool + " expires"})
	c.question = q
	t.questions = append(t.questions, q)
	t.update(c.planned.ID, func(p *contract.Part) { p.Status = contract.PartWaiting })
	t.put(part(q.ID, contract.KindQuestion, contract.PartWaiting, "Question of "+c.planned.Tool).in(turn).with(func(p *contract.Part) {
		p.Parent, p.Tool, p.Question = c.planned.ID, c.planned.Tool, &q.Question
	}))
}

// digestOfQuestion makes an answer fit what was asked and nothing else.
func digestOfQuestion(asked *activities.Asked) string {
	sum := sha256.Sum256([]byte(asked.From + "\n" + asked.Message + "\n" + asked.URL + "\n" + string(asked.Schema)))
	return hex.EncodeToString(sum[:4])
}

// checkReply says why an answer cannot be taken, or that it was given before. It
// returns the content with its defaults.
func (t *thread) checkReply(a contract.Answer) (content []byte, duplicate bool, refusal error) {
	if err := a.Validate(); err != nil {
		return nil, false, refuse(contract.ErrInvalid, "%v", err)
	}
	if q := t.question(a.Question); q != nil && !q.over() {
		content, err := q.Check(a)
		if err != nil {
			return nil, false, refuse(contract.ErrInvalid, "%v", err)
		}
		return content, false, nil
	} else if q != nil {
		duplicate, err := repliedAlike(a, q.ended())
		return nil, duplicate, err
	}
	for _, past := range t.endedQuestions {
		if past.Question == a.Question {
			duplicate, err := repliedAlike(a, past)
			return nil, duplicate, err
		}
	}
	return nil, false, refuse(contract.ErrUnknownQuestion, "question: the thread has no question %q", a.Question)
}

func repliedAlike(a contract.Answer, past EndedQuestion) (bool, error) {
	if past.Answer == digestOfAnswer(a) {
		return true, nil
	}
	return false, refuse(contract.ErrAlreadyAnswered, "question: %s is over: %s", a.Question, past.Status)
}

// digestOfAnswer tells two answers to one question apart.
func digestOfAnswer(a contract.Answer) string {
	sum := sha256.Sum256([]byte(string(a.Action) + "\n" + string(a.Content)))
	return hex.EncodeToString(sum[:8])
}

// takeAnswer takes an answer. What it is shows at once; the turn acts on it as soon
// as it can.
func (t *thread) takeAnswer(a contract.Answer) (contract.Answered, error) {
	content, duplicate, err := t.checkReply(a)
	if err != nil {
		return contract.Answered{}, err
	}
	answered := contract.Answered{Question: a.Question, Action: a.Action, Duplicate: duplicate}
	if duplicate {
		return answered, nil
	}
	q := t.question(a.Question)
	q.answer, q.content = &a, content
	q.stopTimer()
	status, title := contract.PartDone, "Answered: question of "
	if a.Action == contract.Decline {
		status, title = contract.PartDenied, "Declined: question of "
	}
	shown := a
	shown.Content = nil // it is for who asked
	t.endQuestion(q, status, title, func(p *contract.Part) { p.Answer = &shown })
	if q.goesOn() {
		t.update(q.Call, func(p *contract.Part) { p.Status = contract.PartRunning })
	}
	return answered, nil
}

// endQuestion moves a question from those that wait to those that have.
func (t *thread) endQuestion(q *question, status contract.PartStatus, title string, change func(*contract.Part)) {
	t.finish(q.ID, status, func(p *contract.Part) {
		p.Title = title + q.Tool
		change(p)
	})
	t.endedQuestions = append(t.endedQuestions, q.ended())
	if len(t.endedQuestions) > questionsKept {
		t.endedQuestions = t.endedQuestions[len(t.endedQuestions)-questionsKept:]
	}
	t.questions = slices.DeleteFunc(t.questions, func(other *question) bool { return other == q })
}

func (q *question) ended() EndedQuestion {
	past := EndedQuestion{Question: q.ID, Status: contract.PartExpired}
	switch {
	case q.withdrawn:
		past.Status = contract.PartCancelled
	case q.answer == nil:
	case q.answer.Action == contract.Accept:
		past.Status = contract.PartDone
	default:
		past.Status = contract.PartDenied
	}
	if q.answer != nil {
		past.Answer = digestOfAnswer(*q.answer)
	}
	return past
}

// settleAnswered gives the calls whose question was declined, or not answered in
// time, their end.
func (t *thread) settleAnswered(effects []*call) {
	for _, c := range effects {
		q := c.question
		switch {
		case q == nil || c.settled() || !q.over() || q.goesOn():
		case q.answer != nil:
			message := "a person declined to answer what the call asks; it was not made"
			if q.answer.Comment != "" {
				message += ": " + q.answer.Comment
			}
			t.settle(c, refusedCall(c, contract.CodeQuestionDeclined, message))
		default:
			q.stopTimer()
			t.endQuestion(q, contract.PartExpired, "Expired: question of ", func(*contract.Part) {})
			t.settle(c, refusedCall(c, contract.CodeQuestionExpired, fmt.Sprintf(
				"nobody answered what the call asks; it was not made, and it was asked until %s", q.ExpiresAt.UTC().Format("2006-01-02 15:04 MST"))))
		}
	}
}

// withdrawQuestion takes back what a call asks, since it is not to be made any more.
func (t *thread) withdrawQuestion(c *call) {
	q := c.question
	if q == nil || q.over() {
		return
	}
	q.withdrawn = true
	q.stopTimer()
	t.endQuestion(q, contract.PartCancelled, "Withdrawn: question of ", func(*contract.Part) {})
}

func (t *thread) question(id string) *question {
	i := slices.IndexFunc(t.questions, func(q *question) bool { return q.ID == id })
	if i < 0 {
		return nil
	}
	return t.questions[i]
}
