package workflows

// maxDepth bounds how deep scripts call one another.
const maxDepth = 4

// depth counts the snippets that a call is within, and itself.
func (c *call) depth() int {
	depth := 1
	for x := c.execution; x != nil; x = x.call.execution {
		depth++
	}
	return depth
}

// runScript begins the execution that a call of a saved script stands for.
func (t *thread) runScript(r *round, c *call) {
	c.begun = true
	r.executions = append(r.executions, &execution{call: c})
	t.executions = r.executions
}

// executionOf is the execution that a call has begun.
func (t *thread) executionOf(c *call) *execution {
	for _, x := range t.executions {
		if x.call == c {
			return x
		}
	}
	return nil // never: it has begun
}
