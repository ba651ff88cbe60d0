package contract

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"time"
)

// Question is what a call asks of a person before it can go on. It is answered with
// an [Answer], after which the call is made again with it.
type Question struct {
	// ID is unique within the thread and covers what is asked: other words have
	// another id.
	ID   string `json:"id"`
	Turn string `json:"turn"`
	// Call is the id of the tool call, Tool the tool's id.
	Call string `json:"call"`
	Tool string `json:"tool"`
	// From says who asks: a server and where it is, or a tool. It is not the agent.
	From string `json:"from"`
	// About says to programs what the question is about, such as connection:github.
	About string `json:"about,omitempty"`
	// Message is the question in the words of who asks: data, never an instruction.
	Message string `json:"message"`
	// Schema is the JSON Schema of the answer's content, see [Form]. None: the
	// question wants no more than consent.
	Schema json.RawMessage `json:"schema,omitempty"`
	// URL is where the person does what is asked for; the answer says only that it was
	// done. A question has a schema or a URL, never both.
	URL       string    `json:"url,omitempty"`
	AskedAt   time.Time `json:"asked_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Action is what a person did about a question.
type Action string

// The actions.
const (
	// Accept answers the question, with content where it has a schema.
	Accept Action = "accept"
	// Decline refuses to.
	Decline Action = "decline"
)

// Answer answers a question. Answering twice alike is idempotent; answering
// otherwise than before is refused.
type Answer struct {
	// Question is the id of the question.
	Question string `json:"question"`
	// Action is "accept" or "decline".
	Action Action `json:"action"`
	// Content is a JSON object that fits the question's schema, of at most [MaxAnswer]
	// bytes; only with the action "accept". It is told to who asks, and not shown in
	// the timeline.
	Content json.RawMessage `json:"content,omitempty"`
	// By is the person who answered, as known to the backend.
	By string `json:"by,omitempty"`
	// Comment is shown in the timeline and, with the action "decline", to the agent.
	// At most [MaxComment] bytes.
	Comment string `json:"comment,omitempty"`
}

// Answered is the reply to an answer.
type Answered struct {
	Question string `json:"question"`
	Action   Action `json:"action"`
	// Duplicate says that the same answer had been given before.
	Duplicate bool `json:"duplicate,omitempty"`
}

// Validate names the first field that is wrong.
func (a Answer) Validate() error {
	if err := validID("question", a.Question, 192); err != nil {
		return err
	}
	switch {
	case a.Action != Accept && a.Action != Decline:
		return fmt.Errorf("action: %q, want %q or %q", a.Action, Accept, Decline)
	case a.Action == Decline && len(a.Content) > 0:
		return fmt.Errorf("content: only the action %q has one", Accept)
	case len(a.Content) > MaxAnswer:
		return fmt.Errorf("content: is %d bytes long, at most %d are allowed", len(a.Content), MaxAnswer)
	}
	if err := validText("by", a.By, 128); err != nil {
		return err
	}
	return validText("comment", a.Comment, MaxComment)
}

// Validate names the first field that is wrong of what a call asks. The ids and
// times are the thread's own.
func (q Question) Validate() error {
	switch {
	case q.Message == "":
		return fmt.Errorf("message: is empty")
	case q.URL != "" && len(q.Schema) > 0:
		return fmt.Errorf("url: a question has a schema or a URL, not both")
	}
	for _, text := range []struct {
		field, value string
		limit        int
	}{{"from", q.From, 256}, {"about", q.About, 256}, {"message", q.Message, MaxQuestion}, {"url", q.URL, MaxQuestionURL}} {
		if err := validText(text.field, text.value, text.limit); err != nil {
			return err
		}
	}
	if q.URL != "" {
		return validVisit(q.URL)
	}
	if len(q.Schema) > 0 {
		_, err := ParseForm(q.Schema)
		return err
	}
	return nil
}

// validVisit admits what a person can be sent to: a page over HTTPS, or one of
// their own machine.
func validVisit(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return fmt.Errorf("url: want one such as https://example.com/consent")
	}
	local := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return fmt.Errorf("url: has the scheme %q; a person is sent to https only", u.Scheme)
	}
	for _, r := range address {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("url: holds %q, which no URL may", r)
		}
	}
	return nil
}

// Check returns the content of an answer with the defaults of the schema for what it
// leaves out. The error names the field that does not fit.
func (q Question) Check(a Answer) (json.RawMessage, error) {
	switch {
	case a.Action == Decline:
		return nil, nil
	case len(q.Schema) == 0 && len(a.Content) > 0:
		return nil, fmt.Errorf("content: the question wants none")
	case len(q.Schema) == 0:
		return nil, nil
	}
	form, err := ParseForm(q.Schema)
	if err != nil {
		return nil, err
	}
	return form.Fill(a.Content)
}
