package contract

// ListToolsType is the Temporal workflow type that asks a worker what an agent
// may use. It takes a [ListTools] and returns a [Tools].
const ListToolsType = "ListTools"

// ListTools asks what an agent may use.
type ListTools struct {
	// Tenant is on whose behalf the agent would act.
	Tenant string `json:"tenant"`
	Agent  string `json:"agent"`
}

// Tools lists what an agent may use, ordered by id; at most [MaxTools].
type Tools struct {
	Tools []Tool `json:"tools"`
}

// Tool is a tool as a list shows it.
type Tool struct {
	ID          string `json:"id"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Operation is "read" or "write".
	Operation string `json:"operation"`
	// NeedsApproval says that a person must agree to each call.
	NeedsApproval bool `json:"needs_approval,omitempty"`
}
