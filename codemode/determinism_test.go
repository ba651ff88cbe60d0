package codemode_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// writer writes snippets at random. What they come to follows from the outcomes of
// their calls, and not from which of several reads is the first.
type writer struct {
	*rand.Rand
	names int
}

func (g *writer) name(kind string) string {
	g.names++
	return fmt.Sprintf(`{ name: "%s%d" }`, kind, g.names)
}

func (g *writer) snippet() string {
	var body strings.Builder
	body.WriteString("const luck = Math.floor(Math.random() * 1e6), id = crypto.randomUUID();\n")
	n := 2 + g.IntN(4)
	results := make([]string, n)
	for i := range n {
		fmt.Fprintf(&body, "const r%d: any = await %s;\n", i, g.promise(3))
		results[i] = fmt.Sprintf("r%d", i)
	}
	fmt.Fprintf(&body, "return { luck, id, again: Math.random(), %s };", strings.Join(results, ", "))
	return body.String()
}

// promise is an expression that gives a promise which never fails.
func (g *writer) promise(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		if g.IntN(2) == 0 {
			return g.effect() + ".catch((e: any) => e.code)"
		}
		return []string{
			"test.get(" + g.name("r") + ")", "test.short(" + g.name("s") + ")",
			"test.fail(" + g.name("f") + ").catch((e: any) => e.code)", "tools.search({ query: 'get' }).then((f: any) => f.items.length)",
		}[g.IntN(4)]
	}
	switch g.IntN(6) {
	case 0:
		return "Promise.all([" + g.several(depth, g.promise) + "])"
	case 1:
		return "Promise.allSettled([" + g.several(depth, func(int) string { return g.effect() }) +
			"]).then((all: any[]) => all.map((s) => s.value ?? s.reason?.code))"
	case 2:
		return "Promise.race([" + g.several(depth, func(int) string { return g.effect() }) + "]).catch((e: any) => e.code)"
	case 3:
		return "Promise.any([" + g.several(depth, func(int) string { return g.effect() }) + "]).catch((e: any) => e.errors?.length)"
	case 4:
		return fmt.Sprintf(`(async () => { const out: any[] = []; for (let i = 0; i < %d; i++) out.push(await %s); return out })()`, 1+g.IntN(4), g.promise(depth-1))
	default:
		return fmt.Sprintf(`(async () => { const a: any = await %s; if (String(a).length %% 2) return [a, await %s]; return await %s })()`,
			g.promise(depth-1), g.promise(depth-1), g.promise(depth-1))
	}
}

func (g *writer) several(depth int, one func(int) string) string {
	members := make([]string, 1+g.IntN(4))
	for i := range members {
		members[i] = one(depth - 1)
	}
	return strings.Join(members, ", ")
}

func (g *writer) effect() string {
	switch g.IntN(4) {
	case 0:
		return "test.ask(" + g.name("a") + ")"
	case 1:
		return fmt.Sprintf("sleep(%d)", 1000+g.IntN(5000))
	default:
		return "test.write(" + g.name("w") + ")"
	}
}

// outcomeOf is what comes of an effect, the same each time.
func outcomeOf(e activities.PlannedEffect) snippet.Delivery {
	hash := fnv.New32()
	_, _ = hash.Write([]byte(e.Tool + string(e.Input)))
	if hash.Sum32()%4 == 0 {
		return problem(e.Number, "approval_denied")
	}
	return result(e.Number, string(e.Input))
}

// playedSnippet is how a snippet went.
type playedSnippet struct {
	result string
	// calls are those that it made, sorted: which of several branches makes its next
	// call first follows from which read is the first.
	calls []string
	runs  int
}

// playThrough takes a snippet to its end. Each stretch is given the outcomes of the
// oldest effects, as many as batch says, and is broken off where breaks says so:
// then it is run again.
func (w *world) playThrough(source string, batch func() int, breaks func() (after int, ok bool)) playedSnippet {
	w.t.Helper()
	in := stretch(source)
	var played playedSnippet
	waiting := map[int]snippet.Delivery{}
	for {
		if played.runs++; played.runs > 2000 {
			w.t.Fatalf("the snippet does not end:\n%s", source)
		}
		if after, ok := breaks(); ok {
			w.breakOff(in, after)
		}
		came := w.run(in)
		if came.End != nil {
			var calls []string
			for _, c := range came.Journal.Calls {
				calls = append(calls, fmt.Sprint(c.Kind, c.Tool, c.Digest))
			}
			slices.Sort(calls)
			r := w.end(came)
			if r.Error != nil {
				w.t.Errorf("the snippet fails: %v\n%s", r.Error, source)
			}
			played.result, played.calls = string(r.Result), calls
			return played
		}
		for _, e := range came.Effects {
			waiting[e.Number] = outcomeOf(e)
		}
		for _, s := range came.Sleeps {
			waiting[s.Number] = snippet.Delivery{Call: s.Number, At: result(1, "1").At}
		}
		for _, n := range came.Cancelled {
			delete(waiting, n)
		}
		var numbers []int
		for n := range waiting {
			numbers = append(numbers, n)
		}
		slices.Sort(numbers)
		in.Program.Journal, in.Effects, in.Outcomes = came.Journal, numbers, slices.Clone(came.Late)
		if came.Cut {
			continue
		}
		for _, n := range numbers[:min(batch(), len(numbers))] {
			in.Outcomes = append(in.Outcomes, waiting[n])
			delete(waiting, n)
		}
	}
}

// breakOff runs a stretch and ends it, as a worker that dies does, when the snippet
// has made so many calls.
func (w *world) breakOff(in activities.Stretch, after int) {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	in.Progress = func(made, _ int) {
		if made >= after {
			cancel()
		}
	}
	if _, err := w.Run(ctx, in); err != nil && !errors.Is(err, context.Canceled) {
		w.t.Fatalf("broken off: %v", err)
	}
}

func checkDeterminism(t *testing.T, w *world, seed uint64) {
	t.Helper()
	w.t = t
	g := &writer{Rand: rand.New(rand.NewPCG(seed, 7))} //nolint:gosec // a test's choice
	source := g.snippet()
	straight := w.playThrough(source, func() int { return 1 }, func() (int, bool) { return 0, false })
	broken := w.playThrough(source, func() int { return 1 + g.IntN(3) }, func() (int, bool) { return g.IntN(12), g.IntN(2) == 0 })
	if straight.result == "" || straight.result != broken.result {
		t.Errorf("broken off it came to\n%s\nand straight through to\n%s\n%s", broken.result, straight.result, source)
	}
	if !reflect.DeepEqual(straight.calls, broken.calls) {
		t.Errorf("broken off it made the calls\n%v\nand straight through\n%v\n%s", broken.calls, straight.calls, source)
	}
}

// FuzzDeterminism writes snippets at random, and runs each straight through and with
// stretches that are broken off: both make the same calls and come to the same.
func FuzzDeterminism(f *testing.F) {
	for seed := range uint64(25) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkDeterminism(t, newWorld(t), seed) })
}
