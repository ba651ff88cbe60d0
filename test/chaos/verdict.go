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
	// UnknownTrue are reconciliations that found what is so, or were given up;
	// UnknownFalse those that did not, and writes whose outcome a thread was told is
	// unknown though nobody had given up.
	UnknownTrue  int `json:"unknown_true"`
	UnknownFalse int `json:"unknown_false"`
	// Stuck are threads that did not come to their end, or a turn of which failed.
	Stuck int `json:"stuck"`
	// ReplayFailures are threads of which a history does not replay.
	ReplayFailures int `json:"replay_failures"`
	// Denied are writes that a thread was told are not applied, and are.
	Denied int `json:"denied_falsely"`
	// FoundApplied, FoundNotApplied, GivenUp and LeftOpen, at the end of a thread, are
	// those of UnknownTrue by what was found.
	FoundApplied    int `json:"found_applied"`
	FoundNotApplied int `json:"found_not_applied"`
	GivenUp         int `json:"given_up"`
	LeftOpen        int `json:"left_open"`
	// Overlaps are writes that met another at the resource that both have as their key.
	Overlaps int `json:"overlaps"`
	// Untold are writes that a thread was told nothing of.
	Untold      int `json:"untold"`
	ServerKills int `json:"server_kills"`
	TargetKills int `json:"target_kills"`
	Pauses      int `json:"pauses"`
	// Stops is how many workers were asked to stop, as when a new version is rolled out.
	Stops int `json:"stops"`
}

// fails reports whether something is not as it must be.
func (v verdict) fails() bool {
	return v.Doubled+v.Lost+v.UnknownFalse+v.Stuck+v.ReplayFailures+v.Denied+v.Overlaps+v.Untold > 0
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
		TargetKills: done.kills["target"], Pauses: done.kills["pause"], Stops: done.kills["stop"],
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
	if v.Overlaps, err = records.overlaps(ctx); err != nil {
		return v, err
	}
	for _, record := range found {
		v.Writes += min(record.Effects, 1)
	}
	for _, end := range ends {
		j := judgement{&v, out, end, found}
		j.thread(ctx, s)
	}
	return v, nil
}

// judgement judges one thread.
type judgement struct {
	*verdict
	out   io.Writer
	end   ended
	found map[[2]string]*intentRecord
}

func (j judgement) say(count *int, format string, args ...any) {
	*count++
	fmt.Fprintf(j.out, "%s (%s): %s\n", j.end.story.Thread, j.end.story.Agent, fmt.Sprintf(format, args...))
}

// judgeWithin bounds the judging of one thread: one that has not come to its end may
// not answer.
const judgeWithin = 3 * time.Minute

func (j judgement) thread(ctx context.Context, s *stage) {
	ctx, cancel := context.WithTimeout(ctx, judgeWithin)
	defer cancel()
	if err := s.replay(ctx, j.end.story); err != nil {
		j.say(&j.ReplayFailures, "does not replay: %v", err)
	}
	cancelled := j.cancelled()
	told, err := s.told(ctx, j.end.story, cancelled)
	switch failed := j.failedTurn(); {
	case j.end.err != nil:
		j.say(&j.Stuck, "is stuck: %v", j.end.err)
	case failed != nil:
		j.say(&j.Stuck, "turn %s is %s: %v", failed.ID, failed.Status, failed.Problem)
	case err != nil:
		j.say(&j.Stuck, "tells nothing: %v", err)
	}
	var doubts []doubt
	if j.end.err == nil { // the timeline of one that has not ended does not end
		if doubts, err = s.doubts(ctx, j.end.story); err != nil {
			j.say(&j.Stuck, "the timeline cannot be read: %v", err)
		}
	}
	// A call of a turn that was cancelled does not wait until it is known what became
	// of it, and one that nobody finds out about cannot.
	left := map[string]bool{}
	for _, d := range doubts {
		j.doubt(d, cancelled[d.turn])
		left[d.intent] = left[d.intent] || cancelled[d.turn] || d.finding == contract.FindingAbandoned
	}
	for n, chapter := range j.end.story.Turns {
		for _, intent := range chapter.Writes {
			j.write(intent, told[intent], left[intent], cancelled[turnID(n)])
		}
	}
}

// cancelled are the turns that were cancelled, as they were meant to be.
func (j judgement) cancelled() map[string]bool {
	cancelled := map[string]bool{}
	for n, turn := range j.end.turns {
		if turn.Status == contract.StatusCancelled && j.end.story.Turns[n].Cancel > 0 {
			cancelled[turn.ID] = true
		}
	}
	return cancelled
}

// turnID is the id of a thread's turn, from 0.
func turnID(n int) string { return fmt.Sprintf("t%d", n+1) }

// record is what the target has of an intent.
func (j judgement) record(intent string) *intentRecord {
	if record := j.found[[2]string{j.end.story.Thread, intent}]; record != nil {
		return record
	}
	return &intentRecord{}
}

// doubt judges what was found out about a write. That of a turn which was cancelled may
// still be open when the thread is closed.
func (j judgement) doubt(d doubt, cancelled bool) {
	record := j.record(d.intent)
	if open := d.finding == ""; !d.tellsTruth(record) && !(open && cancelled) {
		j.say(&j.UnknownFalse, "%s: %q is not so: applied %d times, first at %s; found at %s; faults %q",
			d.intent, d.title, record.Effects, record.AppliedAt, d.at, record.Faults)
		return
	}
	j.UnknownTrue++
	switch d.finding {
	case contract.FindingApplied:
		j.FoundApplied++
	case contract.FindingNotApplied:
		j.FoundNotApplied++
	case contract.FindingAbandoned:
		j.GivenUp++
	default:
		j.LeftOpen++
	}
}

func (j judgement) failedTurn() *contract.Turn {
	cancelled := j.cancelled()
	for i, turn := range j.end.turns {
		if turn.Status != contract.StatusCompleted && !cancelled[turn.ID] {
			return &j.end.turns[i]
		}
	}
	return nil
}

// write judges one write.
func (j judgement) write(intent, told string, left, cancelled bool) {
	record := j.record(intent)
	if record.Effects > 1 {
		j.say(&j.Doubled, "%s was applied %d times, under %d keys, with faults %q", intent, record.Effects, len(record.Keys), record.Faults)
	}
	applied := record.Effects > 0
	switch {
	case told == toldApplied && !applied:
		j.say(&j.Lost, "%s is lost: the thread was told that it is applied; faults %q", intent, record.Faults)
	case told == toldUnknown && !left && j.end.err == nil:
		j.say(&j.UnknownFalse, "%s is said to be unknown, and nobody had given up finding out; applied %t", intent, applied)
	case told == toldUnknown:
	case told == toldNothing && j.end.err == nil && !cancelled:
		j.say(&j.Untold, "%s: the thread was told nothing; applied %t", intent, applied)
	case told != toldApplied && told != toldNothing && applied:
		j.say(&j.Denied, "%s is applied, and the thread was told %s; faults %q", intent, told, record.Faults)
	}
}

// sum says in a line what happened, for people.
func (v verdict) sum(took time.Duration) string {
	return strings.TrimSpace(fmt.Sprintf("%d threads made %d writes in %s, while workers were killed %d and stopped %d times, the server was killed %d, the target %d times, and %d were paused",
		v.Threads, v.Writes, took.Round(time.Second), v.Kills, v.Stops, v.ServerKills, v.TargetKills, v.Pauses))
}
