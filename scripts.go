package heddle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode"
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/providers/local"
)

// saveScripts makes tools of the scripts of the configuration: whoever may call
// tools can call them, under the same policy. A script is a write that nobody is
// asked about, since each call that it makes is planned for itself.
func (p *parts) saveScripts(c *config.Config) map[string]string {
	sources := map[string]string{}
	var tools []catalog.Tool
	for _, script := range c.Scripts {
		id := activities.ScriptTool(script.Name)
		sources[id] = script.Code
		tools = append(tools, catalog.Tool{
			Descriptor: catalog.Descriptor{
				ID: id, Title: "Script " + script.Name, Description: script.Description, Input: script.Input, Operation: catalog.Write,
				Approval: catalog.ApprovalNever, Source: "script " + script.Name, Tags: []string{"script"},
			},
			Call: func(context.Context, catalog.Call) (json.RawMessage, error) {
				return nil, errors.New("a script is run by a thread")
			},
		})
	}
	if len(tools) > 0 {
		p.sources = append(p.sources, local.New(tools...))
	}
	return sources
}

// checkScripts finds what is wrong with scripts before the first is run: what is no
// snippet, and calls that cannot succeed. Of tools elsewhere nothing is known yet.
func (a *App) checkScripts(ctx context.Context, runner *codemode.Runner) error {
	var problems []error
	elsewhere := a.broker.Elsewhere(catalog.Scope{Tools: []string{"*"}})
	for _, script := range a.config.Scripts {
		findings, err := runner.Check(ctx, a.broker.Here(), script.Code)
		if err != nil {
			return fmt.Errorf("check script %s: %w", script.Name, err)
		}
		for _, f := range findings {
			namespace, _, _ := strings.Cut(f.Tool, ".")
			if f.Tool != "" && slices.Contains(elsewhere, namespace) {
				continue
			}
			message := strings.Join(strings.Fields(f.Tool+" "+f.Pointer+" "+f.Message), " ")
			problems = append(problems, a.config.ScriptProblem(script, f.Position.Line, f.Position.Column, message))
		}
	}
	return errors.Join(problems...)
}
