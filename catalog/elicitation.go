package catalog

import (
	"bytes"
	"encoding/json"
	"time"
)

const (
	// MaxElicitation bounds the words of a question, in bytes.
	MaxElicitation = 2 << 10
	// MaxElicitationState bounds what a question keeps for the call with its answer.
	MaxElicitationState = 256 << 10
)

// CodeInputRequired: the call asks a person, and was made where none can be asked.
const CodeInputRequired = "input_required"

// Elicitation is what a call has to ask a person before it can go on. A tool asks by
// returning it as its error, or an error that wraps it, where nothing has been
// applied yet. Where a person can be asked ([Call].CanAsk: in a thread) the question
// waits there, durably; once it is answered the call is made again, from its start
// and with [Call].Answer. It may ask again then.
//
// A call that lacks a person's consent asks so too. A source whose connection is
// missing or was revoked returns, from [Tool].Call or from where it gets its
// credentials, a question with the URL of the consent and About, by which a callback
// finds the threads that wait (search attribute HeddlePending = "question", then the
// questions of the thread's state) and answers them with the action accept: the call
// is then made again and finds the credential. A person who declines ends the call
// with question_declined, and nobody who answers in time with question_expired.
type Elicitation struct {
	// From says who asks, for people: a server and where it is.
	From string `json:"from"`
	// About says to programs what the question is about, such as connection:github.
	About string `json:"about,omitempty"`
	// Message is the question, at most [MaxElicitation] bytes.
	Message string `json:"message"`
	// Schema is the JSON Schema of the answer: an object of plain fields, as the Model
	// Context Protocol has it for elicitation. None: the person only agrees.
	Schema json.RawMessage `json:"schema,omitempty"`
	// URL is where the person does what is asked for, instead of a schema.
	URL string `json:"url,omitempty"`
	// Expires is how long an answer is worth having. 0, or more than an approval may
	// wait: as long as that.
	Expires time.Duration `json:"expires,omitempty"`
	// TellDecline has the call made again also when the person declines, since who
	// asks wants to know. Without it the call then fails.
	TellDecline bool `json:"tell_decline,omitempty"`
	// State comes back with the answer, and is seen by nobody in between; at most
	// [MaxElicitationState] bytes. It holds no secrets.
	State json.RawMessage `json:"-"`
}

// Error makes an Elicitation an error.
func (q *Elicitation) Error() string { return CodeInputRequired + ": " + q.Message }

// Answer is a person's answer to an [Elicitation].
type Answer struct {
	// Declined says that the person refuses to answer.
	Declined bool
	// Content is an object that fits the question's schema, with its defaults; none
	// where the question had no schema.
	Content json.RawMessage
	// State is the question's.
	State json.RawMessage
}

// ask is the outcome of a call that asks.
func (c *call) ask(q *Elicitation) Outcome {
	refuse := func(code, message, hint string) Outcome {
		return Outcome{Error: &Error{Code: code, Message: message, Hint: hint, Tool: c.tool.ID, Effect: EffectNone}}
	}
	asked := *q
	asked.Message = plain(c.secrets.text(q.Message), MaxElicitation)
	asked.From = plain(c.secrets.text(q.From), maxTitle)
	switch {
	case !c.canAsk:
		return refuse(CodeInputRequired, "the call asks a person, and there is nobody to ask here: "+asked.Message,
			"make the call from a thread")
	case len(q.State) > MaxElicitationState:
		return refuse(CodeTooLarge, "the call asks a person, and keeps too much for when there is an answer", "")
	case c.secrets.text(q.URL) != q.URL, c.secrets.text(q.About) != q.About, len(q.State) > 0 && !bytes.Equal(c.secrets.json(q.State), q.State),
		len(q.Schema) > 0 && !bytes.Equal(c.secrets.json(q.Schema), q.Schema):
		return refuse(CodeToolFailed, "the call asks a person, and its question holds a secret: it is not asked", "")
	}
	return Outcome{Asks: &asked, Error: refuse(CodeInputRequired, asked.Message, "").Error}
}
