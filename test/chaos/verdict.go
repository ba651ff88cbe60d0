package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/signals/contract"
)

// verdict is what a run of the bench came to.
type verdict struct {
	Seed    uint64 `json:"seed"`
	Threads int    `json:"threads"`
	// Writes is how many writes the target has been brought to apply.
	Writes int `json:"writes"`
	// Kills is how many workers were killed.
	Kills int `json:"kills"`
	// Doubled are writes that were applied twice, be it under two keys.
	Doubled int `json:"doubled"`
	// Lost are writes that a thread was told are applied, and are not.
	Lost int `json:"lost"`
	// UnknownTrue are writes of which a thread was told that their outcome is not
	// known, where it could not be known; UnknownFalse those where it could.
	UnknownTrue  int `json:"unknown_true"`
	UnknownFalse int `json:"unknown_false"`
	// Stuck are threads that did not come to their end, or a turn of which failed.
	Stuck int `json:"stuck"`
	// ReplayFailures are threads of which a history does not replay.
	ReplayFailures int `json:"replay_failures"`
	// Denied are writes that a thread was told are not applied, and are.
	Denied int `json:"denied_falsely"`
	// UnknownApplied are those of UnknownTrue that the target has applied.
	UnknownApplied int `json:"unknown_applied"`
	// Untold are writes that a thread was told nothing of.
	Untold      int `json:"untold"`
	ServerKills int `json:"server_kills"`
	TargetKills int `json:"target_kills"`
	Pauses      int `json:"pauses"`
}

// fails reports whether something is not as it must be.
func (v verdict) fails() bool {
	return v.Doubled+v.Lost+v.UnknownFalse+v.Stuck+v.ReplayFailures+v.Denied+v.Untold > 0
}

// ended is how a thread's story ended.
type ended struct {
	story story
	turns []contract.Turn
	err   error
}

// judge compares what the threads were told with what the target has.
func (s *stage) judge(ctx context.Context, out io.Writer, ends []ended, done *strikes) (verdict, error) {
	v := verdict{
		Seed: s.seed, Threads: len(ends), Kills: done.kills["worker"], ServerKills: done.kills["temporal"],
		TargetKills: done.kills["target"], Pauses: done.kills["pause"],
	}
	records, err := openRecords(ctx, s.path("target.db"))
	if err != nil {
		return v, err
	}
	defer records.Close()
	found, err := records.all(ctx)
	if err != nil {
		return v, err
	}
	for _, record := range found {
		v.Writes += min(record.Effects, 1)
	}
	for _, end := range ends {
		j := judgement{&v, out, end, found, done}
		j.thread(ctx, s)
	}
	return v, nil
}

// judgement judges one thread.
type judgement struct {
	*verdict
	out    io.Writer
	end    ended
	found  map[[2]string]*intentRecord
	struck *strikes
}

func (j judgement) say(count *int, format string, args ...any) {
	*count++
	fmt.Fprintf(j.out, "%s (%s): %s\n", j.end.story.Thread, j.end.story.Agent, fmt.Sprintf(format, args...))
}

func (j judgement) thread(ctx context.Context, s *stage) {
	if err := s.replay(ctx, j.end.story); err != nil {
		j.say(&j.ReplayFailures, "does not replay: %v", err)
	}
	told, err := s.told(ctx, j.end.story)
	switch failed := j.failedTurn(); {
	case j.end.err != nil:
		j.say(&j.Stuck, "is stuck: %v", j.end.err)
	case failed != nil:
		j.say(&j.Stuck, "turn %s is %s: %v", failed.ID, failed.Status, failed.Problem)
	case err != nil:
		j.say(&j.Stuck, "tells nothing: %v", err)
	}
	for n, chapter := range j.end.story.Turns {
		for _, intent := range chapter.Writes {
			j.write(n, intent, told[intent])
		}
	}
}

func (j judgement) failedTurn() *contract.Turn {
	for i, turn := range j.end.turns {
		if turn.Status != contract.StatusCompleted {
			return &j.end.turns[i]
		}
	}
	return nil
}

// write judges one write.
func (j judgement) write(turn int, intent, told string) {
	record := j.found[[2]string{j.end.story.Thread, intent}]
	if record == nil {
		record = &intentRecord{}
	}
	if record.Effects > 1 {
		j.say(&j.Doubled, "%s was applied %d times, under %d keys, with faults %q", intent, record.Effects, len(record.Keys), record.Faults)
	}
	applied := record.Effects > 0
	switch {
	case told == toldApplied && !applied:
		j.say(&j.Lost, "%s is lost: the thread was told that it is applied; faults %q", intent, record.Faults)
	case told == toldUnknown && !j.unknowable(turn, record):
		j.say(&j.UnknownFalse, "%s is said to be unknown, and nothing kept it from being known; applied %t", intent, applied)
	case told == toldUnknown:
		j.UnknownTrue++
		if applied {
			j.UnknownApplied++
		}
	case told == toldNothing && j.end.err == nil:
		j.say(&j.Untold, "%s: the thread was told nothing; applied %t", intent, applied)
	case told != toldApplied && told != toldNothing && applied:
		j.say(&j.Denied, "%s is applied, and the thread was told %s; faults %q", intent, told, record.Faults)
	}
}

// unknowable reports whether something kept the outcome of a write from being known:
// the target's answer, or someone who was away during the turn.
func (j judgement) unknowable(turn int, record *intentRecord) bool {
	for _, f := range record.Faults {
		if f.hides() {
			return true
		}
	}
	if turn >= len(j.end.turns) {
		return true
	}
	t := j.end.turns[turn]
	from, to := t.StartedAt, t.EndedAt
	return from == nil || to == nil || j.struck.during(*from, *to)
}

// sum says in a line what happened, for people.
func (v verdict) sum(took time.Duration) string {
	return strings.TrimSpace(fmt.Sprintf("%d threads made %d writes in %s, while workers were killed %d and paused %d times, the server %d and the target %d times",
		v.Threads, v.Writes, took.Round(time.Second), v.Kills, v.Pauses, v.ServerKills, v.TargetKills))
}
