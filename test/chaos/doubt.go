package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/signals/contract"
)

// doubt is a reconciliation of a thread: what was found out about a write that may
// or may not have been applied.
type doubt struct {
	turn, intent string
	// finding is empty where the reconciliation was still open.
	finding contract.Finding
	at      time.Time
	title   string
}

// doubts reads the reconciliations in the timeline of a thread that has ended.
func (s *stage) doubts(ctx context.Context, of story) ([]doubt, error) {
	intents := map[string]string{}
	for _, chapter := range of.Turns {
		for _, intent := range chapter.Writes {
			intents[inputDigest(chapter.inputs[intent])] = intent
		}
	}
	last := map[string]contract.Part{}
	for part, err := range s.threads.Watch(ctx, of.ref(), 0) {
		if err != nil {
			return nil, err
		}
		if part.Kind == contract.KindReconciliation {
			last[part.ID] = part
		}
	}
	var doubts []doubt
	for id, part := range last {
		d := doubt{turn: part.Turn, finding: findingOf(part.Title), title: part.Title}
		if part.EndedAt != nil {
			d.at = *part.EndedAt
		}
		if part.Reconciliation != nil {
			d.intent = intents[part.Reconciliation.InputDigest]
		}
		if d.intent == "" {
			return nil, fmt.Errorf("reconciliation %s is of no write of the story", id)
		}
		doubts = append(doubts, d)
	}
	return doubts, nil
}

// findingOf reads what was found off a part's title, since a tool's own answer
// stands nowhere else.
func findingOf(title string) contract.Finding {
	switch first, _, _ := strings.Cut(title, ":"); first {
	case "Applied":
		return contract.FindingApplied
	case "Not applied":
		return contract.FindingNotApplied
	case "Abandoned":
		return contract.FindingAbandoned
	}
	return ""
}

// inputDigest is that of a call's exact input.
func inputDigest(in map[string]any) string {
	canonical, _ := json.Marshal(in) // of texts, its keys in order
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// tellsTruth reports whether what was found out is so.
func (d doubt) tellsTruth(record *intentRecord) bool {
	switch d.finding {
	case contract.FindingApplied:
		return record.Effects > 0
	case contract.FindingNotApplied: // it is then made again
		return record.Effects == 0 || record.AppliedAt.After(d.at)
	case contract.FindingAbandoned:
		return true
	}
	return false
}
