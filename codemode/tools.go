package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/check"
	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/codemode/typescript"
)

// tools are the tools as one snippet sees them.
type tools struct {
	broker Broker
	scope  catalog.Scope
	// api is what the snippet's namespaces hold: those whose name occurs in the
	// source, so that a large catalog costs a snippet nothing.
	api json.RawMessage
	// paths are the ids by the path that a snippet writes, joined by dots.
	paths map[string]string
}

// tools finds what a snippet can call by name. A snippet that goes on finds what it
// has called too, even if the scope may not use that any more: it has to come to the
// same calls again, and what becomes of them is for the thread to say.
func (r *Runner) tools(ctx context.Context, scope catalog.Scope, program snippet.Program) (*tools, error) {
	snapshot, err := r.Broker.Snapshot(ctx, scope)
	if err != nil {
		return nil, fmt.Errorf("list the tools: %w", err)
	}
	t := &tools{broker: r.Broker, scope: scope, paths: map[string]string{}}
	namespaces := map[string]map[string]string{}
	named := slices.DeleteFunc(slices.Clone(snapshot.Namespaces()), func(namespace string) bool {
		return !strings.Contains(program.Source, typescript.Global(namespace))
	})
	var ids []string
	for _, tool := range snapshot.Of(named) {
		ids = append(ids, tool.ID)
	}
	for _, part := range snapshot.Unavailable() {
		if part.Cause != nil {
			ids = append(ids, mentioned(program.Source, part.Source)...)
		}
	}
	for _, call := range program.Journal.Calls {
		if call.Kind == snippet.KindCall && catalog.CheckID(call.Tool) == nil && !slices.Contains(ids, call.Tool) {
			ids = append(ids, call.Tool)
		}
	}
	for _, id := range ids {
		first, rest, _ := strings.Cut(id, ".")
		path := typescript.Global(first) + "." + rest
		dot := strings.LastIndexByte(path, '.')
		namespace, method := path[:dot], path[dot+1:]
		if namespaces[namespace] == nil {
			namespaces[namespace] = map[string]string{}
		}
		if _, taken := t.paths[path]; !taken {
			namespaces[namespace][method], t.paths[path] = id, id
		}
	}
	if len(namespaces) == 0 {
		return t, nil
	}
	t.api, err = json.Marshal(namespaces)
	return t, err
}

// maxMentioned bounds the tools of one namespace that a snippet is taken to name.
const maxMentioned = 100

// mentioned are the tools of a namespace that a source seems to call, where it cannot be
// known which there are: those of a server that nobody has connected. That they are
// called is what has a person asked.
func mentioned(source, namespace string) []string {
	global := regexp.QuoteMeta(typescript.Global(namespace))
	calls := regexp.MustCompile(`(?:^|[^\w$.])` + global + `((?:\s*\.\s*[A-Za-z_]\w*){1,8})\s*\(`)
	var ids []string
	for _, found := range calls.FindAllStringSubmatch(source, maxMentioned) {
		id := namespace + strings.Join(strings.Fields(found[1]), "")
		if catalog.CheckID(id) == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// check finds what is wrong with the calls that stand in a snippet.
func (t *tools) check(ctx context.Context, sites json.RawMessage) []check.Finding {
	var calls []check.Call
	if len(sites) == 0 || json.Unmarshal(sites, &calls) != nil {
		return nil // what cannot be read off the source is found when it is called
	}
	return check.Check(calls, known{t, ctx})
}

// known is what the checker asks about tools.
type known struct {
	*tools
	ctx context.Context
}

// Lookup finds the input's schema of a tool. Of one that cannot be described now it
// says nothing, so that nothing is found wrong with its calls.
func (k known) Lookup(id string) (json.RawMessage, bool) {
	if resolved, ok := k.paths[id]; ok {
		id = resolved
	}
	tool, err := k.broker.Lookup(k.ctx, k.scope, id)
	var fault *catalog.Error
	if errors.As(err, &fault) && fault.Code == catalog.CodeToolNotFound {
		return nil, false
	}
	return tool.Input, true
}

// Nearest are ids that may be meant by one that there is not.
func (k known) Nearest(id string) []string { return k.broker.Nearest(k.ctx, k.scope, id) }
