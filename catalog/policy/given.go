package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/heddle-dev/heddle/catalog"
)

// maxGiven bounds the sets of rules of threads and messages that are kept compiled.
const maxGiven = 256

// given keeps rules that came with threads and messages.
type given struct {
	mu sync.Mutex
	// recent has the set that was used last at its end.
	recent []*givenRules
}

type givenRules struct {
	scope Scope
	text  string
	rules func() ([]compiled, error)
}

// wireRule is a rule as a backend writes it.
type wireRule struct {
	Name         string            `json:"name"`
	Effect       Effect            `json:"effect"`
	Tools        []string          `json:"tools"`
	Namespaces   []string          `json:"namespaces"`
	Operation    catalog.Operation `json:"operation"`
	Capabilities []string          `json:"capabilities"`
	Tags         []string          `json:"tags"`
	Modes        []string          `json:"modes"`
	When         string            `json:"when"`
	Reason       string            `json:"reason"`
	Approvers    int               `json:"approvers"`
}

// get compiles rules, or finds them compiled.
func (g *given) get(set Set, scope Scope, text json.RawMessage) ([]compiled, error) {
	g.mu.Lock()
	i := slices.IndexFunc(g.recent, func(k *givenRules) bool { return k.scope == scope && k.text == string(text) })
	var found *givenRules
	if i >= 0 {
		found = g.recent[i]
		g.recent = slices.Delete(g.recent, i, i+1)
	} else {
		found = &givenRules{scope: scope, text: string(text)}
		found.rules = sync.OnceValues(func() ([]compiled, error) { return readGiven(set, scope, text) })
		if len(g.recent) == maxGiven {
			g.recent = slices.Delete(g.recent, 0, 1)
		}
	}
	g.recent = append(g.recent, found)
	g.mu.Unlock()
	return found.rules()
}

func readGiven(set Set, scope Scope, text json.RawMessage) ([]compiled, error) {
	var wired []wireRule
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&wired); err != nil {
		return nil, fmt.Errorf("policy of the %s: %w", scope, err)
	}
	rules := make([]Rule, len(wired))
	for i, w := range wired {
		rules[i] = Rule{
			Name: w.Name, Effect: w.Effect, Tools: w.Tools, Namespaces: w.Namespaces, Operation: w.Operation, Capabilities: w.Capabilities,
			Tags: w.Tags, Modes: w.Modes, When: w.When, Reason: w.Reason, Approvers: w.Approvers, Place: "the rules of the " + string(scope),
		}
	}
	made, faults := compileScope(scope, "", rules, set)
	errs := make([]error, len(faults))
	for i, fault := range faults {
		fault.Place = "" // the scope says it
		errs[i] = fault
	}
	return made, errors.Join(errs...)
}

// CheckRules says what is wrong with the rules of a thread and of its message. The
// error joins a *[Fault] for each thing.
func (p *Policy) CheckRules(scope catalog.Scope) error {
	var errs []error
	if len(scope.ThreadRules) > 0 {
		_, err := p.given.get(p.set, Thread, scope.ThreadRules)
		errs = append(errs, err)
	}
	if len(scope.PromptRules) > 0 {
		_, err := p.given.get(p.set, Prompt, scope.PromptRules)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
