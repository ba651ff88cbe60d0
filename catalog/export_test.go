package catalog

// Gates counts what is kept to bound calls.
func (b *Broker) Gates() int {
	b.gates.mu.Lock()
	defer b.gates.mu.Unlock()
	return len(b.gates.open)
}
