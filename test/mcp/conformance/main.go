package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// timeout bounds one scenario.
const timeout = 25 * time.Second

// setting is what the suite says of a scenario besides its name.
type setting struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	ToolCalls    []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: %s URL", os.Args[0])
	}
	server, err := url.Parse(os.Args[1])
	if err != nil {
		return err
	}
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	var given setting
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return fmt.Errorf("context of the scenario: %w", err)
		}
	}
	options := mcp.Options{Namespace: "suite", URL: server.String(), Allow: []string{server.Host}, Timeout: timeout}
	if strings.HasPrefix(scenario, "auth/") {
		if options.Credentials, err = credentials(server, given); err != nil {
			return err
		}
	}
	switch scenario {
	case "elicitation-sep1034-client-defaults":
		options.Answer = accept(`{}`)
	case "sep-2322-client-request-state":
		options.Answer = accept(`{"confirmed":true}`)
	}
	source, err := mcp.New(options)
	if err != nil {
		return err
	}
	defer source.Close()
	ctx, stop := context.WithTimeout(context.Background(), timeout)
	defer stop()
	return play(ctx, source, given)
}

// accept answers each question of a server with the same content.
func accept(content string) mcp.Answer {
	return func(context.Context, mcp.Question) (mcp.Reply, error) {
		return mcp.Reply{Action: "accept", Content: json.RawMessage(content)}, nil
	}
}

// play lists the tools and calls what the scenario names, or else each once, the
// tools for resources and prompts among them. A call that fails is part of some
// scenarios; the suite judges by what its server was sent.
func play(ctx context.Context, source *mcp.Source, given setting) error {
	broker, err := catalog.New(source)
	if err != nil {
		return err
	}
	p := player{broker, catalog.Scope{Tenant: "suite", Thread: "suite", Tools: []string{"*"}}}
	// Asked for itself first: the broker leaves a source out that cannot be read.
	if _, err := source.Tools(ctx); err != nil {
		return err
	}
	if len(given.ToolCalls) > 0 {
		for _, c := range given.ToolCalls {
			p.call(ctx, mcp.ToolID("suite", c.Name), withoutNulls(c.Arguments))
		}
		return nil
	}
	tools, err := broker.Tools(ctx, p.scope)
	if err != nil {
		return err
	}
	for _, t := range tools {
		switch t.ID {
		case "suite.read_resource":
			p.callFirst(ctx, t.ID, "suite.list_resources", "resources", "uri")
		case "suite.get_prompt":
			p.callFirst(ctx, t.ID, "suite.list_prompts", "prompts", "name")
		case "suite.json_schema_echo":
			p.echoSchema(ctx, t.ID, tools)
		default:
			p.call(ctx, t.ID, sample(t.Input))
		}
	}
	return nil
}

// withoutNulls leaves out what is null: the broker refuses a null that a schema does
// not have, and whoever has made the call then leaves it out.
func withoutNulls(arguments json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(arguments, &members) != nil {
		return arguments
	}
	maps.DeleteFunc(members, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	text, err := json.Marshal(members)
	if err != nil {
		return arguments
	}
	return text
}

// player calls tools as a thread does.
type player struct {
	broker *catalog.Broker
	scope  catalog.Scope
}

func (p player) call(ctx context.Context, tool string, input json.RawMessage) json.RawMessage {
	request := catalog.Request{Tool: tool, Input: input}
	plan := p.broker.Plan(ctx, p.scope, request)
	out := catalog.Outcome{Error: plan.Error}
	if plan.Error == nil {
		out = p.broker.Dispatch(ctx, p.scope, request, plan)
	}
	if out.Error != nil {
		slog.Warn("a call failed", "tool", tool, "error", out.Error)
	}
	return out.Result
}

// callFirst calls a tool with a member of the first entry of a listing.
func (p player) callFirst(ctx context.Context, tool, listing, list, member string) {
	var lists map[string][]map[string]json.RawMessage
	if json.Unmarshal(p.call(ctx, listing, json.RawMessage(`{}`)), &lists) != nil || len(lists[list]) == 0 {
		return
	}
	input, err := json.Marshal(map[string]json.RawMessage{member: lists[list][0][member]})
	if err == nil {
		p.call(ctx, tool, input)
	}
}

// echoSchema sends a schema back as it has arrived, for the suite to compare.
func (p player) echoSchema(ctx context.Context, tool string, all []catalog.Descriptor) {
	for _, t := range all {
		if t.ID != "suite.json_schema_2020_12_tool" {
			continue
		}
		if input, err := json.Marshal(map[string]json.RawMessage{"schema": t.Input}); err == nil {
			p.call(ctx, tool, input)
		}
	}
}

// sample is an input with a plain value for each property that wants one.
func sample(schema json.RawMessage) json.RawMessage {
	var s struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // of a schema that is none, the input is empty
	input := map[string]any{}
	for name, property := range s.Properties {
		switch property.Type {
		case "string":
			input[name] = "us-west1"
		case "number", "integer":
			input[name] = 5
		case "boolean":
			input[name] = true
		}
	}
	text, err := json.Marshal(input)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return text
}
