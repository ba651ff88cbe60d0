package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml/parser"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/policy"
)

// LoadRules reads a file that is a list of rules, for a thread or a message. It
// compiles them, so that what is wrong is a [Problems] or joins a [Problem] each;
// the modes that they name are not looked at, since only the workers know which there
// are.
func LoadRules(path string) ([]policy.Rule, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return ParseRules(path, data)
}

// ParseRules reads the content of a file of rules.
func ParseRules(path string, data []byte) ([]policy.Rule, error) {
	document, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, Problems{syntaxProblem(path, err)}
	}
	if len(document.Docs) != 1 || document.Docs[0].Body == nil {
		return nil, Problems{{File: path, Message: "want one YAML document that is a list of rules"}}
	}
	r := &reader{file: path, at: map[string]position{}, text: map[string]textStart{}}
	root := value{reader: r, node: document.Docs[0].Body, path: "policy"}
	r.at[root.path] = positionOf(root.node.GetToken())
	rules := readRules(root)
	modes := catalog.Modes{}
	for i, rule := range rules {
		if at := fmt.Sprintf("policy[%d].without_approval", i); rule.WithoutApproval {
			value{reader: r, path: at}.problem("only a rule of the application can waive an approval")
		}
		for _, mode := range rule.Modes {
			modes[mode] = catalog.Mode{}
		}
	}
	if len(r.problems) > 0 {
		return nil, r.problems.sorted()
	}
	file := &Config{file: path, at: r.at, text: r.text, Policy: slices.Clone(rules)}
	for i := range file.Policy { // what is wrong is told by name
		file.Policy[i].Name = cmp.Or(rules[i].Name, fmt.Sprint(i+1))
	}
	if _, err := file.CompilePolicy(policy.Set{Modes: modes.Names()}); err != nil {
		return nil, asProblems(err)
	}
	return rules, nil
}

// asProblems are the joined problems of a file, in its order.
func asProblems(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var problems Problems
	for _, one := range joined.Unwrap() {
		var problem Problem
		if !errors.As(one, &problem) {
			return err
		}
		problems = append(problems, problem)
	}
	return problems.sorted()
}
