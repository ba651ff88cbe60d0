package engine

// PID is the process that runs an execution.
func (x *Execution) PID() int { return x.child.pid }

// Children are the processes of an engine.
func (e *Engine) Children() []int {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	var pids []int
	for c := range e.pool.all {
		pids = append(pids, c.pid)
	}
	return pids
}
