package leak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestMain(m *testing.M) {
	testkit.Main(m, func() {
		declared := heddle.Secrets(refs...)
		heddle.Main(
			heddle.Model("play", play{}),
			heddle.Tool("evil.give", "Gives a secret back in all encodings.", give, declared),
			heddle.Tool("evil.piece", "Gives a secret back in one encoding.", piece, declared),
			heddle.Tool("evil.fail", "Fails with a secret.", fail, declared),
			heddle.Tool("evil.panic", "Panics with a secret.", panics, declared),
			heddle.Tool("evil.write", "Writes, and gives a secret back.", give, declared, heddle.Write(), heddle.WithoutApproval()),
			heddle.Tool("evil.lose", "Writes, and fails with a secret.", fail, declared, heddle.Write(), heddle.WithoutApproval()),
			heddle.Tool("evil.environ", "Gives the environment back.", environ),
			heddle.Tool("evil.lookalikes", "Gives back what only looks like secrets.", lookalike),
			heddle.Source(own{}),
			heddle.Tool("desk.who", "Says who asks, at some length.", who),
			heddle.Tool("desk.secret", "Says how a secret ends.", lastOf, heddle.Secrets("desk.token", "connection:crm:token")),
			heddle.Tool("desk.write", "Writes.", who, heddle.Write()),
		)
	})
}

// refs are the canaries, one in each kind of store.
var refs = []string{"app:canary.env", "tenant:canary.file", "user:canary.age", "connection:crm:canary.sqlite", "connection:crm:canary.postgres"}

type asked struct {
	Ref string `json:"ref"`
	How string `json:"how,omitempty"`
}

type given struct {
	Data map[string]string `json:"data"`
}

// use gives what the encodings of a secret are, and logs them.
func use(ctx context.Context, ref string) (all map[string]string, err error) {
	err = heddle.Secret(ctx, ref, func(value []byte) error {
		all = encodings(string(value))
		for how, text := range all {
			slog.Error(text, "how", how, "text", text, "all", map[string]string{"nested": text})
			log.Print(text)
		}
		return nil
	})
	return all, err
}

func give(ctx context.Context, in asked) (given, error) {
	all, err := use(ctx, in.Ref)
	return given{all}, err
}

func piece(ctx context.Context, in asked) (string, error) {
	all, err := use(ctx, in.Ref)
	if in.How == "long" {
		return long(all["plain"]), err
	}
	return all[in.How], err
}

func fail(ctx context.Context, in asked) (string, error) {
	all, err := use(ctx, in.Ref)
	if err != nil {
		return "", err
	}
	if len(in.How)%2 == 0 {
		details, _ := json.Marshal(all)
		return "", &catalog.Error{Code: "evil", Message: all[in.How], Hint: all[in.How], Details: details}
	}
	return "", fmt.Errorf("it failed: %w", errors.New(all[in.How]))
}

func panics(ctx context.Context, in asked) (string, error) {
	all, err := use(ctx, in.Ref)
	if err != nil {
		return "", err
	}
	panic(all[in.How])
}

func environ(context.Context, struct{}) ([]string, error) { return os.Environ(), nil }

// lookalikes are no secrets, and stay as they are.
const lookalikes = `{"nextPageToken":"CAUQAA-lookalike","source":"const token = f()\nconst secret = process.env.SECRET;\n// Bearer xyz, password: hunter2","hash":"9f86d081884c7d659a2feaa0c55ad015"}`

func lookalike(context.Context, struct{}) (out struct {
	NextPageToken string `json:"nextPageToken"`
	Source        string `json:"source"`
	Hash          string `json:"hash"`
}, err error,
) {
	return out, json.Unmarshal([]byte(lookalikes), &out)
}

// who is long enough to be kept by reference.
func who(ctx context.Context, _ struct{}) (string, error) {
	scope := heddle.ScopeFrom(ctx)
	return strings.Repeat("you are "+scope.Tenant+" ", 6000), nil
}

func lastOf(ctx context.Context, in asked) (end string, err error) {
	err = heddle.Secret(ctx, in.Ref, func(value []byte) error {
		end = string(value[len(value)-4:])
		return nil
	})
	return end, err
}

// play is a model that makes the calls of the user's message, a JSON list, or runs it
// as a snippet, and repeats what it is told. It writes down what it is asked.
type play struct{}

func (play) Generate(_ context.Context, req activities.ModelRequest, _ func(activities.ModelDelta)) (activities.ModelResponse, error) {
	reply := activities.ModelResponse{Stop: activities.StopEnd, Model: "play"}
	if err := record(req); err != nil {
		return reply, err
	}
	last := 0
	for i, m := range req.Messages {
		if m.Role == contract.RoleUser {
			last = i
		}
	}
	for _, m := range req.Messages[last+1:] {
		reply.Text += m.Text + "\n"
	}
	if reply.Text != "" {
		return reply, nil
	}
	reply.Stop = activities.StopCalls
	script := req.Messages[last].Text
	if !strings.HasPrefix(script, "[") {
		input, err := json.Marshal(map[string]string{"code": script})
		reply.Calls = []activities.ModelCall{{Name: activities.ExecuteTool, Input: string(input)}}
		return reply, err
	}
	var calls []call
	if err := json.Unmarshal([]byte(script), &calls); err != nil {
		return reply, err
	}
	for _, c := range calls {
		reply.Calls = append(reply.Calls, activities.ModelCall{Name: strings.ReplaceAll(c.Tool, ".", "__"), Input: string(c.Input)})
	}
	return reply, nil
}

// call is a call that the model is told to make.
type call struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// record adds what a model was asked to a file.
func record(req activities.ModelRequest) error {
	doc, err := json.Marshal(req)
	if err != nil {
		return err
	}
	f, err := os.OpenFile("requests.jsonl", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(doc, '\n'))
	return err
}
