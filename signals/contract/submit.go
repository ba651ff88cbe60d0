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
}

// Submitted is the answer to a submission.
type Submitted struct {
	// Turn is the id of the turn that answers the message.
	Turn string `json:"turn"`
	// Duplicate says that the submission had been taken before. It is not set where
	// the server itself recognised a repeated update and gave the first answer again.
	Duplicate bool `json:"duplicate,omitempty"`
}
