package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// story is what one thread does. It follows from the seed.
type story struct {
	Thread string
	// Agent is direct or coder: how its model makes calls.
	Agent string
	Turns []chapter
}

// chapter is a turn of a story.
type chapter struct {
	// Text is the message that begins it.
	Text string
	// Writes are the intents of its writes.
	Writes []string
	// Cancel is after how long the turn is cancelled. 0: it is let to its end.
	Cancel time.Duration
	// inputs are those of its calls, by intent.
	inputs map[string]map[string]any
	// steps are those of the scripted model, before it answers.
	steps []step
}

// step is a reply of the scripted model.
type step struct {
	Text  string `json:"text,omitempty"`
	Calls []call `json:"calls,omitempty"`
}

// call is a call as a script has it.
type call struct {
	Tool  string         `json:"tool"`
	Input map[string]any `json:"input"`
}

var (
	readTools  = []string{"chaos.look", "target.look"}
	writeTools = []string{"chaos.ask", "chaos.free", "chaos.free", "chaos.keyed", "target.apply", accountTool}
)

// accountTool writes to one of so few accounts that threads come into each other's
// way; its resource key is the account.
const (
	accountTool = "chaos.book"
	accounts    = 5
)

// writeStories makes the stories of a seed and their scripts. The answer of each turn
// says no more than that it is over: what a thread was told stands in its transcript.
func writeStories(seed uint64, threads int, folder string) ([]story, error) {
	stories := make([]story, threads)
	for i := range stories {
		random := dice(seed, "story", fmt.Sprint(i))
		s := story{Thread: fmt.Sprintf("th%04d", i), Agent: "direct"}
		if i%2 == 1 {
			s.Agent = "coder"
		}
		for n := range 2 + random.IntN(3) {
			s.Turns = append(s.Turns, newChapter(random, s, n+1))
		}
		stories[i] = s
		if err := s.write(folder); err != nil {
			return nil, err
		}
	}
	return stories, nil
}

func newChapter(random *rand.Rand, s story, n int) chapter {
	c := chapter{Text: fmt.Sprintf("%s turn %d.", s.Thread, n), inputs: map[string]map[string]any{}}
	if random.IntN(10) == 0 {
		c.Cancel = time.Duration(100+random.IntN(5000)) * time.Millisecond
	}
	intent := 0
	next := func() call {
		intent++
		name := fmt.Sprintf("t%d-i%d", n, intent)
		in := map[string]any{"thread": s.Thread, "intent": name}
		c.inputs[name] = in
		if random.IntN(100) < 40 {
			return call{readTools[random.IntN(len(readTools))], in}
		}
		c.Writes = append(c.Writes, name)
		tool := writeTools[random.IntN(len(writeTools))]
		if tool == accountTool {
			in["account"] = fmt.Sprintf("a%d", random.IntN(accounts))
		}
		return call{tool, in}
	}
	if s.Agent == "coder" {
		c.steps = []step{{Calls: []call{{"execute", map[string]any{"code": newSnippet(random, next)}}}}}
		return c
	}
	for range 2 + random.IntN(3) {
		var one step
		for range 1 + random.IntN(3) {
			one.Calls = append(one.Calls, next())
		}
		c.steps = append(c.steps, one)
	}
	return c
}

// newSnippet writes a snippet whose result is what each of its calls came to, by
// intent.
func newSnippet(random *rand.Rand, next func() call) string {
	var b strings.Builder
	b.WriteString("const told: Record<string, string> = {};\n" +
		"const go = async (tool: string, input: any) => {\n" +
		"  try { await tools.call({ id: tool, input }); told[input.intent] = \"applied\"; }\n" +
		"  catch (e: any) { told[input.intent] = e.effect === \"applied\" ? \"applied\" : e.code; }\n" +
		"};\n" +
		"const later: Promise<void>[] = [];\n")
	goes := func() string {
		c := next()
		input, _ := json.Marshal(c.Input) // of texts
		return fmt.Sprintf("go(%q, %s)", c.Tool, input)
	}
	for range 2 + random.IntN(3) {
		switch random.IntN(5) {
		case 0:
			fmt.Fprintf(&b, "await %s;\n", goes())
		case 1:
			fmt.Fprintf(&b, "await Promise.all([%s, %s, %s]);\n", goes(), goes(), goes())
		case 2:
			fmt.Fprintf(&b, "later.push(%s, %s);\n", goes(), goes())
		case 3:
			fmt.Fprintf(&b, "await Promise.race([%s, sleep(%d)]);\n", laterOf(goes()), 20+random.IntN(500))
		case 4:
			fmt.Fprintf(&b, "await sleep(%d);\nfor (let i = 0; i < 2; i++) await %s;\n", random.IntN(300), goesOnce(goes(), goes()))
		}
	}
	b.WriteString("await Promise.all(later);\ntold")
	return b.String()
}

// laterOf has a call whose race may be lost be awaited at the end.
func laterOf(call string) string {
	return "((p: Promise<void>) => { later.push(p); return p; })(" + call + ")"
}

// goesOnce makes one call in each round of a loop.
func goesOnce(first, second string) string { return "(i === 0 ? " + first + " : " + second + ")" }

// write writes the script of a story. JSON is YAML.
func (s story) write(folder string) error {
	var turns []any
	for _, c := range s.Turns {
		turns = append(turns, map[string]any{
			"when":  map[string]any{"contains": c.Text},
			"steps": append(c.steps, step{Text: "over"}),
		})
	}
	text, err := json.MarshalIndent(map[string]any{"turns": turns}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, s.Thread+".yaml"), text, 0o600)
}
