package catalog

import (
	"encoding/json"
	"sync"
)

// maxMade bounds the tools of a listing that are kept as made.
const maxMade = maxSchemas

// made is a tool with all that calls of it need and that is the same for each of them.
// It never changes once it is made.
type made struct {
	Tool
	// title is for people.
	title string

	compile sync.Once
	// accepts is the schema of the input, output that of the output, nil for anything.
	accepts, output *compiledSchema
	// digest is what an approval binds to.
	digest string
	// unusable says which schema cannot be used, and why.
	unusable string

	describe sync.Once
	shown    json.RawMessage
}

// makings keeps the tools of a listing as they were made for a call. A listing never
// changes, so that they hold for as long as it does.
type makings struct {
	mu    sync.Mutex
	tools map[*Tool]*made
}

// of is a tool of the listing as made. The error says why the tool cannot be used; it
// is not kept.
func (m *makings) of(tool *Tool) (*made, error) {
	m.mu.Lock()
	known := m.tools[tool]
	m.mu.Unlock()
	if known != nil {
		return known, nil
	}
	completed, err := complete(*tool)
	if err != nil {
		return nil, err
	}
	fresh := &made{Tool: completed, title: cut(completed.title(), maxTitle)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if known = m.tools[tool]; known != nil {
		return known, nil
	}
	if len(m.tools) >= maxMade {
		for other := range m.tools { // any one will do
			delete(m.tools, other)
			break
		}
	}
	if m.tools == nil {
		m.tools = map[*Tool]*made{}
	}
	m.tools[tool] = fresh
	return fresh, nil
}

// compiled finds the compiled schemas of the tool.
func (m *made) compiled(schemas *schemas) *Error {
	m.compile.Do(func() {
		var err error
		if m.accepts, err = schemas.get(m.Input); err != nil {
			m.unusable = "the input schema " + err.Error()
			return
		}
		output := ""
		if len(m.Output) > 0 {
			if m.output, err = schemas.get(m.Output); err != nil {
				m.unusable = "the output schema " + err.Error()
				return
			}
			output = m.output.digest
		}
		m.digest = descriptorDigest(m.Descriptor, m.accepts.digest, output)
	})
	if m.unusable != "" {
		return invalidTool("%s", m.unusable)
	}
	return nil
}

// described is a tool's descriptor as what a person agrees to is held against it: all
// that the digest of an approval covers.
func (m *made) described() json.RawMessage {
	m.describe.Do(func() {
		d := m.Descriptor
		d.Timeout, d.Source, d.Examples = 0, "", nil
		text, err := encode(d)
		if err != nil {
			return // what cannot be shown is still not the same digest
		}
		m.shown = text
	})
	return m.shown
}
