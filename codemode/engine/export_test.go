package engine

// PID is the process that runs an execution.
func (x *Execution) PID() int { return x.child.pid }

// Kill ends the process as one that is over a limit.
func (x *Execution) Kill(code string) { x.child.kill(code) }

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

// MemoryOf is the memory that a process is measured to use, in bytes.
func MemoryOf(pid int) int64 {
	used, _ := usageOf(pid)
	return used.memory
}
