package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// lookAfter is the person who is asked what became of writes, until ctx ends: they
// look at the target. What cannot be found out now is looked at again.
func (s *stage) lookAfter(ctx context.Context) {
	for ctx.Err() == nil {
		for open, err := range s.threads.Reconciliations(ctx, signals.Filter{Tenant: tenant}) {
			if err == nil && open.AskedAt != nil {
				s.find(ctx, open)
			}
		}
		wait(ctx, approvePace)
	}
}

// find answers one reconciliation; one in ten is given up.
func (s *stage) find(ctx context.Context, open signals.Reconciliation) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	answer := contract.Reconcile{Reconciliation: open.ID, By: "eve"}
	found, err := newTargetClient(s.targetAddress).find(ctx, open.Key)
	switch {
	case dice(s.seed, "give up", open.Thread, open.ID).IntN(10) == 0:
		answer.Finding = contract.FindingAbandoned
	case err != nil || found.Pending:
		return
	case found.Applied == nil:
		answer.Finding = contract.FindingNotApplied
	default:
		answer.Finding = contract.FindingApplied
		answer.Result, _ = json.Marshal(found.Applied)
	}
	_ = s.threads.Reconcile(ctx, open.ThreadRef, answer) // or at the next look
}
