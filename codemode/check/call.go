package check

import (
	"encoding/json"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

// The bounds on what is checked. Calls beyond them are not, and nodes beyond them
// are taken for unknown.
const (
	// MaxCalls bounds the calls of a snippet.
	MaxCalls = 1_000
	// MaxNodes bounds the nodes of all calls.
	MaxNodes = 50_000
	// MaxDepth bounds how deep nodes are nested.
	MaxDepth = 64
)

// Call is a call as it stands in a snippet's source.
type Call struct {
	// Path is the callee, such as ["orders", "refund"] or ["tools", "call"].
	Path []string `json:"path"`
	// Args are the arguments.
	Args []Node `json:"args,omitempty"`
	// Dropped says that nothing can notice what becomes of the call.
	Dropped bool `json:"dropped,omitempty"`
	// Position is where the call begins.
	Position snippet.Position `json:"position"`
}

// Kind is what is known of a node. The zero value is Unknown.
type Kind string

// The kinds of nodes.
const (
	Unknown   Kind = ""
	Literal   Kind = "literal"
	Undefined Kind = "undefined"
	Object    Kind = "object"
	Array     Kind = "array"
	Spread    Kind = "spread"
)

// Node is an argument or a part of one.
type Node struct {
	Kind Kind `json:"kind,omitempty"`
	// Value is a Literal's, as JSON.
	Value json.RawMessage `json:"value,omitempty"`
	// Members are an Object's.
	Members []Member `json:"members,omitempty"`
	// Items are an Array's.
	Items []Node `json:"items,omitempty"`
	// Type is the JSON type that an Unknown has, if that is certain: string, number,
	// boolean, object, array or null.
	Type string `json:"type,omitempty"`
	// Present says that an Unknown is there for certain: it is not undefined.
	Present  bool             `json:"present,omitempty"`
	Position snippet.Position `json:"position"`
}

// Member is a property of an object literal, or a Spread without a name.
type Member struct {
	Name  string `json:"name,omitempty"`
	Value Node   `json:"value"`
}

// Catalog is what is known of the tools that a snippet can call.
type Catalog interface {
	// Lookup is the JSON Schema of the input of a tool, given its id, or the path of
	// its method joined by dots, which it resolves as the snippet's namespaces do.
	Lookup(id string) (schema json.RawMessage, ok bool)
	// Nearest are ids that may be meant by one that Lookup does not know, best first.
	Nearest(id string) []string
}

// Finding is something that is wrong with a call.
type Finding struct {
	// Position is the place in the source that is wrong.
	Position snippet.Position `json:"position"`
	// Tool is the tool as the call names it.
	Tool string `json:"tool,omitempty"`
	// Pointer is the place in the tool's input, a JSON pointer; empty: the call or
	// the input as a whole.
	Pointer string `json:"pointer,omitempty"`
	// Message says what is wrong, Hint what to do.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}
