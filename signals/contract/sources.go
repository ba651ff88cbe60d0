package contract

// Bounds of what is told of sources of tools.
const (
	// MaxSources bounds the sources that one part of kind sources tells of.
	MaxSources = 20
	// MaxLeftOut bounds the reasons of a [SourceState].
	MaxLeftOut = 3
)

// SourceState says how a source of tools is now that was otherwise before.
type SourceState struct {
	// Source is its name, which is the namespace of its tools if they lie elsewhere.
	Source string `json:"source"`
	// Unread says why the source, or a part of it, cannot be read: its tools may be
	// missing, or be those that it had before. Empty: it can be read.
	Unread string `json:"unread,omitempty"`
	// Recovered says that it could not be read before, and now can be.
	Recovered bool `json:"recovered,omitempty"`
	// LeftOut is how many of the tools that it lists cannot be used, such as one whose
	// id another tool has already, and Reasons says why, of at most [MaxLeftOut].
	LeftOut int      `json:"left_out,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
}
