package activities

import "sync/atomic"

// progress counts what has arrived of a model's reply. It is what the server
// knows of a model turn that runs, and the Temporal UI shows it.
type progress struct{ bytes atomic.Int64 }

func (p *progress) add(d ModelDelta) { p.bytes.Add(int64(len(d.Text) + len(d.Reasoning))) }

func (p *progress) details() []any {
	return []any{map[string]int64{"received_bytes": p.bytes.Load()}}
}
