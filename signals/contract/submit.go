package contract

// Submission is a message to the agent.
type Submission struct {
	// ID makes the submission idempotent: the same id with the same content
	// returns the turn that it began; with other content it is refused with
	// [ErrSubmissionConflict]. 1 to 64 characters of A-Z a-z 0-9 . _ -
	ID string `json:"id"`
	// Text is the message, at most [MaxText] bytes of UTF-8.
	Text string `json:"text"`
	// User is who wrote it, where that is not the thread's user.
	User string `json:"user,omitempty"`
	// Policy are rules for the calls of the turn that answers the message. They tighten
	// what else is said and loosen nothing. At most [MaxPromptPolicy] bytes as JSON.
	Policy []Rule `json:"policy,omitempty"`
	// Run says how Text is taken. Empty: it is a message, which the agent answers.
	Run Run `json:"run,omitempty"`
	// Script names a saved script to run in place of a snippet; Text is then its
	// input, as JSON. Only with Run.
	Script string `json:"script,omitempty"`
	// Tool is the id of a tool to call; Text is then its input, a JSON object. Only
	// with [RunCall].
	Tool string `json:"tool,omitempty"`
}

// Run says what comes in place of a message. No model is asked. A snippet is run
// with the agent's tools, under its policy and with its approvals, and the turn's
// answer is the report of the run.
type Run string

// What may come in place of a message.
const (
	// RunSnippet runs it as if the agent's model had written it.
	RunSnippet Run = "snippet"
	// RunDry runs it without its writes: each gives undefined at once, and the report
	// has them as planned. Reads that need no approval are made.
	RunDry Run = "dry_run"
	// RunCall makes one call of a tool, as if the agent's model had asked for it. The
	// turn's answer is what the agent would be told: the result as JSON, or
	// {"error": {...}}.
	RunCall Run = "call"
	// RunUndo undoes what another turn did: Text is the id of a turn that has ended.
	// The writes that it applied are undone, the last one first; the answer says what
	// was undone and what cannot be.
	RunUndo Run = "undo"
)

// Submitted is the answer to a submission.
type Submitted struct {
	// Turn is the id of the turn that answers the message.
	Turn string `json:"turn"`
	// Duplicate says that the submission had been taken before. It is not set where
	// the server itself recognised a repeated update and gave the first answer again.
	Duplicate bool `json:"duplicate,omitempty"`
}
