package durability

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/providers/local"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestMain(m *testing.M) {
	testkit.Main(m, func() {
		heddle.Main(
			heddle.Model("play", play{}),
			heddle.Model("coder", coder{}),
			heddle.Tool("test.read", "Reads.", read),
			heddle.Tool("test.gate", "Reads, after waiting at a gate.", readAtGate),
			heddle.Tool("test.big", "Reads a result of so many bytes.", readBig),
			heddle.Tool("test.write", describedBy("description"), write, heddle.Write()),
			heddle.Tool("test.pair", "Writes what two people agree to.", write, heddle.Write(), heddle.Approvers(2)),
			heddle.Tool("test.guarded", "Writes, after an approval and a gate.", writeLate, heddle.Write()),
			heddle.Tool("test.late", "Writes, after waiting at a gate.", writeLate, heddle.Write(), heddle.WithoutApproval()),
			heddle.Tool("test.early", "Writes, and then waits at a gate.", writeEarly, heddle.Write(), heddle.WithoutApproval(),
				heddle.Timeout(30*time.Second)),
			heddle.Tool("test.lasting", "Writes, and then waits at a gate for long.", writeEarly, heddle.Write(), heddle.WithoutApproval(),
				heddle.Timeout(patience)),
			heddle.Tool("test.keyed", "Writes to what honours keys, and then waits at a gate.", writeEarly,
				heddle.Write(), heddle.WithoutApproval(), heddle.HonoursKeys()),
			heddle.Tool("test.safe", "Writes to what honours keys.", write, heddle.Write(), heddle.HonoursKeys()),
			heddle.Tool("test.looked", "Writes, then waits at a gate; what became of it can be looked up.", writeEarly,
				heddle.Write(), heddle.WithoutApproval(), heddle.Timeout(3*time.Second), heddle.Reconcile(lookUp), heddle.ResourceKey("thing/{name}")),
			heddle.Tool("test.dark", "Waits at a gate and writes nothing; what became of it can be looked up.", writeNever,
				heddle.Write(), heddle.WithoutApproval(), heddle.Timeout(3*time.Second), heddle.Reconcile(lookUp)),
			heddle.Tool("test.thing", "Writes to a thing.", write, heddle.Write(), heddle.ResourceKey("thing/{name}")),
			heddle.Tool("test.cutread", "Reads; the first connection breaks.", readCut),
			heddle.Tool("test.cut", "Writes; the connection breaks.", writeCut, heddle.Write(), heddle.WithoutApproval(), heddle.Timeout(3*time.Second)),
			heddle.Tool("test.cutkeyed", "Writes to what honours keys; the first connection breaks.", writeCut,
				heddle.Write(), heddle.WithoutApproval(), heddle.HonoursKeys()),
			heddle.Tool("test.pay", "Pays.", pay, heddle.Write()),
			heddle.Tool("test.hasty", "Writes within three seconds.", write, heddle.Write(), heddle.Timeout(3*time.Second)),
			heddle.Tool("test.slow", "Reads for twelve seconds.", readSlow, heddle.Timeout(30*time.Second)),
			heddle.Tool("test.odd", "Answers what is no answer.", odd, heddle.Timeout(3*time.Second)),
			heddle.Tool("test.unreached", "Writes, at the third attempt.", writeUnreached, heddle.Write(), heddle.WithoutApproval()),
			heddle.Tool("test.order", "Writes what a person has answered.", order, heddle.Write(), heddle.WithoutApproval()),
			heddle.Tool("test.inquire", "Reads what a person has answered.", inquire),
			heddle.Tool("test.put", "Writes, and can be undone.", write, heddle.Write(), heddle.WithoutApproval(),
				heddle.Undo("test.take", func(in in, out out) any { return map[string]string{"name": "not-" + out.Done} })),
			heddle.Tool("test.take", "Undoes what put did.", write, heddle.Write()),
			heddle.Tool("test.lay", "Writes, and can be undone at a gate.", write, heddle.Write(), heddle.WithoutApproval(),
				heddle.Undo("test.late", func(in in, _ out) any { return map[string]string{"name": "not-" + in.Name} })),
			heddle.Source(held{}),
			heddle.Source(far{}),
			heddle.Tool("test.keep", "Writes to a target that others write to.", writeToTarget,
				heddle.Write(), heddle.WithoutApproval(), heddle.Resource(resourceOf)),
			heddle.Tool("test.occupy", "Writes to a target that others write to, for long.", writeToTarget,
				heddle.Write(), heddle.WithoutApproval(), heddle.Timeout(patience), heddle.Resource(resourceOf)),
			heddle.Tool("test.trace", "Writes to a target that others write to, and that can be asked.", writeToTarget,
				heddle.Write(), heddle.WithoutApproval(), heddle.Timeout(patience), heddle.Resource(resourceOf), heddle.Reconcile(askTarget)),
			heddle.Tool("test.free", "Writes without asking.", write, heddle.Write(), heddle.WithoutApproval()),
		)
	})
}

// config is the worker's configuration.
const config = `
task_queue: ${HEDDLE_TASK_QUEUE}
sandbox: ` + sandboxMode + `
scripts:
  both:
    description: Reads and writes a name.
    input: {type: object, properties: {name: {type: string}}, required: [name], additionalProperties: false}
    code: |
      const r: any = await test.read({ name: input.name });
      await test.write({ name: r.done });
      return { done: input.name, list: input.name.split("") }
  twice:
    description: Does it twice, and catches a failure.
    input: {type: object, properties: {name: {type: string}}}
    code: |
      const once = scripts.both({ name: input.name + "1" });
      const failed = await scripts.both({ name: input.name + "2" }).catch((e: any) => e.code);
      return [(await once).done, failed, await scripts.both(JSON.parse("{}")).catch((e: any) => e.code)]
  deep:
    description: Calls itself.
    input: {type: object}
    code: await scripts.deep({})
agents:
  tester:
    instructions: Do what the user says.
    model: play
    tools: [test.*, scripts.*]
    limits:
      steps: 1000
      calls: 10000
  coder:
    instructions: Run what the user says.
    model: coder
    exposure: code
    tools: [test.*]
    limits:
      steps: 1000
  distant:
    instructions: Do what the user says.
    model: play
    tools: [test, far]
  broker:
    instructions: Do what the user says.
    model: play
    exposure: gateway
    tools: [test.*]
  hasty:
    instructions: Do what the user says.
    model: play
    tools: [test.*]
    limits:
      approval_expiry: 2s
  reminded:
    instructions: Do what the user says.
    model: play
    tools: [test.*]
    limits:
      approval_reminder: 1s
  impatient:
    instructions: Do what the user says.
    model: play
    tools: [test.*]
    limits:
      reconcile_expiry: 2s
`

// play is a model that does what the user's last message says. The message is a
// list of steps, separated by "|"; a step is a list of words:
//
//	read:N write:N free:N big:BYTES gate:NAME   calls
//	put:N lay:N                                 calls that can be undone
//	keep:RESOURCE.N occupy:RESOURCE.N trace:RESOURCE.N  calls, for a resource that others work on
//	write:@FILE                                 calls with what stands in a file
//	search:JSON describe:JSON call:JSON batch:JSON  calls functions
//	think:NAME                                  waits at a gate
//	say:TEXT                                    answers
type play struct{}

func (play) Generate(ctx context.Context, req activities.ModelRequest, _ func(activities.ModelDelta)) (activities.ModelResponse, error) {
	script, done := "", 0
	for i, m := range req.Messages {
		switch m.Role {
		case contract.RoleUser:
			var note string
			script, note, _ = strings.Cut(m.Text, "\n\n[Note ")
			if done = 0; note != "" && i == len(req.Messages)-1 {
				if err := record("notes", strings.ReplaceAll(note, "\n", " ")); err != nil {
					return activities.ModelResponse{}, err
				}
			}
		case contract.RoleAssistant:
			done++
		}
	}
	steps := strings.Split(script, "|")
	if done >= len(steps) {
		return activities.ModelResponse{}, &activities.ModelError{Kind: activities.ModelInvalid, Message: "the script is over: " + script}
	}
	reply := activities.ModelResponse{Stop: activities.StopEnd, Model: "play", Usage: contract.Usage{InputTokens: 10, OutputTokens: 2}}
	for _, word := range strings.Fields(steps[done]) {
		kind, value, _ := strings.Cut(word, ":")
		if file, ok := strings.CutPrefix(value, "@"); ok {
			text, err := os.ReadFile(file)
			if err != nil {
				return reply, err
			}
			value = string(text)
		}
		switch kind {
		case "say":
			reply.Text = value
		case "think":
			if err := gate(ctx, value); err != nil {
				return reply, err
			}
		default:
			call := activities.ModelCall{Name: "test__" + kind, Input: fmt.Sprintf(`{"name":%q}`, value)}
			if strings.HasPrefix(value, "{") {
				call.Input = value
			}
			gateway := []string{activities.SearchTool, activities.DescribeTool, activities.CallTool, activities.BatchTool}
			if slices.Contains(gateway, kind) || strings.Contains(kind, "__") {
				call.Name = kind
			}
			if strings.Contains(kind, ".") {
				call.Name = strings.ReplaceAll(kind, ".", "__")
			}
			reply.Calls = append(reply.Calls, call)
			reply.Stop = activities.StopCalls
		}
	}
	return reply, nil
}

type in struct {
	Name string `json:"name"`
}

type out struct {
	Done string `json:"done"`
}

func read(_ context.Context, in in) (out, error) {
	return out{in.Name}, record("reads", in.Name)
}

func readAtGate(ctx context.Context, in in) (out, error) {
	if err := gate(ctx, in.Name); err != nil {
		_ = record("stopped", in.Name)
		return out{}, err
	}
	return out{in.Name}, record("reads", in.Name)
}

func readBig(_ context.Context, in in) (out, error) {
	size, err := strconv.Atoi(in.Name)
	return out{strings.Repeat("x", size)}, err
}

func write(ctx context.Context, in in) (out, error) {
	return out{in.Name}, record("writes", in.Name+" "+heddle.IdempotencyKey(ctx))
}

func writeLate(ctx context.Context, in in) (out, error) {
	if err := gate(ctx, in.Name); err != nil {
		return out{}, err
	}
	return write(ctx, in)
}

func writeEarly(ctx context.Context, in in) (out, error) {
	if _, err := write(ctx, in); err != nil {
		return out{}, err
	}
	return out{in.Name}, gate(ctx, in.Name)
}

// writeUnreached fails twice in a way that shows that nothing was applied.
func writeUnreached(ctx context.Context, in in) (out, error) {
	if err := record("tries", in.Name); err != nil {
		return out{}, err
	}
	if tries, err := os.ReadFile("tries"); err != nil || bytes.Count(tries, []byte("\n")) < 3 {
		return out{}, heddle.NotApplied(errors.New("the target cannot be reached"))
	}
	return write(ctx, in)
}

// writeNever waits at a gate before it writes, once; later it writes.
func writeNever(ctx context.Context, in in) (out, error) {
	if _, err := os.Stat(in.Name + ".reached"); err == nil {
		return write(ctx, in)
	}
	return out{}, gate(ctx, in.Name)
}

// lookUp finds out what became of a write. It is told a target that cannot be asked
// by a file away.
func lookUp(_ context.Context, key string, in in) (heddle.Reconciled, error) {
	if err := record("looks", in.Name); err != nil {
		return heddle.Reconciled{}, err
	}
	if _, err := os.Stat("away"); err == nil {
		return heddle.Reconciled{}, errors.New("the target is away")
	}
	if _, err := os.Stat("dumb"); err == nil {
		return heddle.CannotTell("the target keeps no books"), nil
	}
	writes, err := os.ReadFile("writes")
	if err != nil && !os.IsNotExist(err) {
		return heddle.Reconciled{}, err
	}
	if strings.Contains(string(writes), in.Name+" "+key+"\n") {
		return heddle.Applied(out{in.Name + " (looked up)"}), nil
	}
	return heddle.NeverApplied(), nil
}

// ask asks a person for a place.
func ask(ctx context.Context, in in) (string, error) {
	content, err := heddle.Elicit(ctx, heddle.Elicitation{
		From: "the shop", Message: "Where shall " + in.Name + " be sent to?",
		Schema: json.RawMessage(`{"type":"object","properties":{"place":{"type":"string","minLength":2}},"required":["place"]}`),
	})
	if err != nil {
		return "", err
	}
	var answer struct {
		Place string `json:"place"`
	}
	return answer.Place, json.Unmarshal(content, &answer)
}

func order(ctx context.Context, in in) (out, error) {
	place, err := ask(ctx, in)
	if err != nil {
		return out{}, err
	}
	return out{in.Name + " to " + place}, record("writes", in.Name+" "+heddle.IdempotencyKey(ctx))
}

func inquire(ctx context.Context, in in) (out, error) {
	place, err := ask(ctx, in)
	if err != nil {
		return out{}, err
	}
	return out{in.Name + " at " + place}, record("reads", in.Name)
}

// held is a source that, once there is a file hold, waits at a gate whenever it
// is asked whether its tools have changed: an activity is then under way that has sent
// nothing. A listing that takes long would not do, since one that is old serves too.
type held struct{}

func (held) Name() string { return "held" }

func (held) Version() string {
	if _, err := os.Stat("hold"); err != nil {
		return ""
	}
	if err := gate(context.Background(), "listing"); err != nil {
		return err.Error()
	}
	return ""
}

func (held) Tools(context.Context) ([]catalog.Tool, error) {
	tool, err := local.Func("test.held", "Writes.", write, local.Write())
	return []catalog.Tool{tool}, err
}

// far is a source elsewhere that cannot be read while there is a file down, and lists
// its tool twice while there is a file twin.
type far struct{}

func (far) Name() string      { return "far" }
func (far) Namespace() string { return "far" }

func (far) Tools(context.Context) ([]catalog.Tool, error) {
	if _, err := os.Stat("down"); err == nil {
		return nil, errors.New("connection refused")
	}
	tool, err := local.Func("far.read", "Reads.", read)
	tools := []catalog.Tool{tool}
	if _, twin := os.Stat("twin"); twin == nil {
		tools = append(tools, tool)
	}
	return tools, err
}

// record adds a line to a file in the worker's folder. A line this short is
// written as a whole.
func record(file, line string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line + "\n")
	return err
}

// gate tells the test that the worker has come this far, and waits until the
// test opens the gate.
func gate(ctx context.Context, name string) error {
	if err := os.WriteFile(name+".reached", nil, 0o600); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(name + ".open"); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), os.WriteFile(name+".left", nil, 0o600))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// awaitGate waits until the worker stands at a gate.
func awaitGate(t *testing.T, w *testkit.WorkerProcess, name string) {
	t.Helper()
	awaitFile(t, w, name+".reached")
}

func awaitFile(t *testing.T, w *testkit.WorkerProcess, name string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		if _, err := os.Stat(filepath.Join(w.Dir, name)); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the worker never came to write %s", name)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func openGate(t *testing.T, w *testkit.WorkerProcess, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.Dir, name+".open"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// lines returns what the worker recorded in a file.
func lines(t *testing.T, w *testkit.WorkerProcess, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Dir, file))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(strings.TrimSpace(strings.ReplaceAll(string(text), " ", "=")))
}

func asJSON(v any) string {
	text, _ := json.MarshalIndent(v, "", " ")
	return string(text)
}
