package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/scripted"
	"github.com/heddle-dev/heddle/signals/contract"
)

const (
	// toolTimeout bounds one call of most tools.
	toolTimeout = 5 * time.Second
	// patience bounds one of a tool that is still under way when its worker has been
	// paused for so long that the server has given it up.
	patience = 25 * time.Second
)

// The environment of a worker.
const (
	envTarget  = "CHAOS_TARGET"  // the target's address
	envScripts = "CHAOS_SCRIPTS" // the folder of the scripts
)

// runWorker is a worker as an application has one: its tools, and its agents in a
// file.
func runWorker() {
	t := newTargetClient(os.Getenv(envTarget))
	limited := heddle.Timeout(toolTimeout)
	heddle.Main(
		heddle.Model("scripts", &scripts{folder: os.Getenv(envScripts), loaded: map[string]*scripted.Model{}}),
		heddle.Tool("chaos.look", "Reads.", t.call(http.MethodGet, "things"), limited),
		heddle.Tool("chaos.ask", "Writes what a person agrees to.", t.call(http.MethodPost, "plain"), heddle.Timeout(patience), heddle.Write()),
		heddle.Tool("chaos.free", "Writes.", t.call(http.MethodPost, "plain"), limited, heddle.Write(), heddle.WithoutApproval(),
			heddle.Reconcile(t.reconcile)),
		heddle.Tool("chaos.keyed", "Writes to what honours keys.", t.call(http.MethodPost, "keyed"), limited, heddle.Write(),
			heddle.WithoutApproval(), heddle.HonoursKeys(), heddle.Reconcile(t.reconcile)),
		heddle.Tool(accountTool, "Writes to an account.", t.call(http.MethodPost, "plain"), limited, heddle.Write(),
			heddle.WithoutApproval(), heddle.ResourceKey("account/{account}"), heddle.Reconcile(t.reconcile)),
	)
}

// workerConfig is the file of all workers.
const workerConfig = `
task_queue: chaos
sandbox: ` + sandboxMode + `
blobs: ${CHAOS_BLOBS}
agents:
  direct: {instructions: Play the script., model: scripts, web: false, tools: [chaos.*, target.*], limits: {steps: 100}}
  coder: {instructions: Play the script., model: scripts, web: false, exposure: code, tools: [chaos.*, target.*], limits: {steps: 100}}
openapi:
  target: {spec: target.yaml, server: "http://${CHAOS_TARGET}", allow: ["${CHAOS_TARGET}"], timeout: 5s, reconcile: {target.apply: {
    read: target.find, input: {key: key}, applied: has(output.applied), not_applied: "!has(output.applied) && !output.pending", result: output.applied}}}
`

// targetSpec describes the target to workers as any service would.
const targetSpec = `
openapi: 3.1.0
info: {title: target, version: "1"}
paths:
  /things/{thread}/{intent}:
    parameters: &place
      - {name: thread, in: path, required: true, schema: {type: string}}
      - {name: intent, in: path, required: true, schema: {type: string}}
    get:
      operationId: look
      responses: &answers
        "200":
          description: done
          content:
            application/json:
              schema: {$ref: "#/components/schemas/answer"}
  /plain/{thread}/{intent}:
    parameters: *place
    post:
      operationId: apply
      responses: *answers
  /effects/{key}:
    get:
      operationId: find
      parameters:
        - {name: key, in: path, required: true, schema: {type: string}}
      responses:
        "200":
          description: what was done under the key
          content:
            application/json:
              schema:
                type: object
                required: [pending]
                properties: {pending: {type: boolean}, applied: {$ref: "#/components/schemas/answer"}}
components:
  schemas:
    answer:
      type: object
      required: [thread, intent]
      properties: {thread: {type: string}, intent: {type: string}, effect: {type: integer}}
`

// intentOf is what every tool is called with.
type intentOf struct {
	Thread string `json:"thread"`
	Intent string `json:"intent"`
	// Account is what a write works on, where no other may be at it meanwhile.
	Account string `json:"account,omitempty"`
}

// targetClient is how the tools in Go reach the target.
type targetClient struct {
	base string
	http *http.Client
}

func newTargetClient(address string) *targetClient {
	return &targetClient{base: "http://" + address, http: &http.Client{Timeout: patience + time.Second, Transport: &http.Transport{
		// On a connection that is used again, net/http repeats a request by itself
		// where the Idempotency-Key says that it may, and this target does not honour it.
		DisableKeepAlives: true,
	}}}
}

// call returns a tool's function. What it does not know of a write it says.
func (t *targetClient) call(method, path string) func(context.Context, intentOf) (answer, error) {
	return func(ctx context.Context, in intentOf) (answer, error) {
		r, err := http.NewRequestWithContext(ctx, method, strings.Join([]string{t.base, path, in.Thread, in.Intent}, "/"), nil)
		if err != nil {
			return answer{}, err
		}
		if in.Account != "" {
			r.URL.RawQuery = url.Values{"account": {in.Account}}.Encode()
		}
		if key := heddle.IdempotencyKey(ctx); key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		response, err := t.http.Do(r)
		if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
			return answer{}, heddle.NotApplied(err)
		}
		if err != nil {
			return answer{}, heddle.Unknown(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		switch status := response.StatusCode; {
		case err == nil && status >= 400 && status < 500:
			return answer{}, fmt.Errorf("the target refused: %d %s", status, text)
		case err != nil || status != http.StatusOK:
			return answer{}, heddle.Unknown(fmt.Errorf("the target answered %d %s: %w", status, text, err))
		}
		var a answer
		if err := json.Unmarshal(text, &a); err != nil || a.Intent != in.Intent || a.Thread != in.Thread {
			return answer{}, heddle.Unknown(fmt.Errorf("the target answered something else: %s", text))
		}
		return a, nil
	}
}

// reconcile asks the target what became of a write.
func (t *targetClient) reconcile(ctx context.Context, key string, _ intentOf) (heddle.Reconciled, error) {
	found, err := t.find(ctx, key)
	switch {
	case err != nil:
		return heddle.Reconciled{}, err
	case found.Pending:
		return heddle.Reconciled{}, errors.New("the target is at it")
	case found.Applied == nil:
		return heddle.NeverApplied(), nil
	}
	return heddle.Applied(found.Applied), nil
}

// find asks the target what it has done under a key.
func (t *targetClient) find(ctx context.Context, key string) (status, error) {
	var found status
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.base+"/effects/"+url.PathEscape(key), nil)
	if err != nil {
		return found, err
	}
	response, err := t.http.Do(r)
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return found, fmt.Errorf("the target answered %s", response.Status)
	}
	return found, json.NewDecoder(response.Body).Decode(&found)
}

// scripts is a model that plays a script of each thread's own.
type scripts struct {
	folder string
	mu     sync.Mutex
	loaded map[string]*scripted.Model
}

// Generate plays the script that the first message names.
func (s *scripts) Generate(ctx context.Context, req activities.ModelRequest, stream func(activities.ModelDelta)) (activities.ModelResponse, error) {
	var name string
	for _, m := range req.Messages {
		if m.Role == contract.RoleUser {
			name, _, _ = strings.Cut(m.Text, " ")
			break
		}
	}
	script, err := s.script(name)
	if err != nil {
		return activities.ModelResponse{}, err
	}
	return script.Generate(ctx, req, stream)
}

func (s *scripts) script(name string) (*scripted.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if script, ok := s.loaded[name]; ok {
		return script, nil
	}
	script, err := scripted.Load(filepath.Join(s.folder, filepath.Base(name)+".yaml"))
	if err == nil {
		s.loaded[name] = script
	}
	return script, err
}
