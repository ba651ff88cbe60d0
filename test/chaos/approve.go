package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// approvePace is how often the person looks for what is to be decided.
const approvePace = 300 * time.Millisecond

// approve is the person who decides, until ctx ends. What the server or a thread
// does not take is decided at the next look.
func (s *stage) approve(ctx context.Context) {
	for ctx.Err() == nil {
		for thread, err := range s.threads.List(ctx, signals.Filter{Tenant: tenant, Pending: contract.KindApproval}) {
			if err != nil {
				break
			}
			s.decide(ctx, thread.ThreadRef)
		}
		select {
		case <-ctx.Done():
		case <-time.After(approvePace):
		}
	}
}

// decide decides all that waits in a thread.
func (s *stage) decide(ctx context.Context, thread contract.ThreadRef) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	state, err := s.threads.State(ctx, thread)
	if err != nil {
		return
	}
	for _, ap := range state.Pending {
		d := contract.Decision{Approval: ap.ID, Digest: ap.Digest, Verdict: verdictOn(s.seed, ap), By: "bob"}
		if dice(s.seed, "road", thread.Thread, ap.ID).IntN(2) == 0 {
			_, _ = s.threads.Decide(ctx, thread, d)
			continue
		}
		if d.Verdict == contract.Deny {
			_ = s.threads.Deny(ctx, thread, d)
			continue
		}
		_ = s.threads.Approve(ctx, thread, d)
	}
}

// verdictOn denies one in ten.
func verdictOn(seed uint64, ap contract.Approval) contract.Verdict {
	var in intentOf
	if err := json.Unmarshal(ap.Preview, &in); err != nil || dice(seed, "verdict", in.Thread, in.Intent).IntN(10) > 0 {
		return contract.Approve
	}
	return contract.Deny
}
