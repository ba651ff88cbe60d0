package scripted

import (
	"regexp"
	"time"

	"github.com/heddle-dev/heddle/activities"
)

// script is a script as it stands in the file.
type script struct {
	Turns []turn `yaml:"turns"`
}

// turn is what the model says after one message of the user.
type turn struct {
	// When says which message. Nil: the next one that no other turn is for.
	When  *words `yaml:"when"`
	Steps []step `yaml:"steps"`
	// line is where the turn stands in the file.
	line int
}

// step is one reply of the model.
type step struct {
	When      *condition `yaml:"when"`
	Expect    *condition `yaml:"expect"`
	Text      string     `yaml:"text"`
	Reasoning string     `yaml:"reasoning"`
	Calls     []call     `yaml:"calls"`
	Usage     usage      `yaml:"usage"`
	Delay     string     `yaml:"delay"`
	Error     *failure   `yaml:"error"`
	delay     time.Duration
	line      int
}

type call struct {
	Tool  string         `yaml:"tool"`
	Input map[string]any `yaml:"input"`
}

type usage struct {
	Input  int64 `yaml:"input"`
	Output int64 `yaml:"output"`
}

type failure struct {
	Kind       activities.ModelErrorKind `yaml:"kind"`
	Status     int                       `yaml:"status"`
	RetryAfter string                    `yaml:"retry_after"`
	Message    string                    `yaml:"message"`
	retryAfter time.Duration
}

// condition is what a step looks for in a request. All of it must hold.
type condition struct {
	User    *words   `yaml:"user"`
	Results []result `yaml:"results"`
	Tools   []string `yaml:"tools"`
	// Messages is how many messages there are. 0: any number.
	Messages int `yaml:"messages"`
}

// result is what a condition looks for in the newest result of a tool.
type result struct {
	// Tool names the tool. Empty: whichever answered last.
	Tool  string `yaml:"tool"`
	Words words  `yaml:",inline"`
	// Failed says whether the call failed. Nil: either way.
	Failed *bool `yaml:"failed"`
}

// words is what a condition looks for in a text.
type words struct {
	Contains string `yaml:"contains"`
	Regex    string `yaml:"regex"`
	re       *regexp.Regexp
}
