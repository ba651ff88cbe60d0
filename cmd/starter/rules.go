package main

import (
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/signals/contract"
)

// rulesOf reads a file of rules for a thread or a message. No file has none.
func rulesOf(path string) ([]contract.Rule, error) {
	if path == "" {
		return nil, nil
	}
	read, err := config.LoadRules(path)
	if err != nil {
		return nil, usageError{err}
	}
	rules := make([]contract.Rule, 0, len(read))
	for _, r := range read {
		rules = append(rules, contract.Rule{
			Name: r.Name, Effect: string(r.Effect), Tools: r.Tools, Namespaces: r.Namespaces, Operation: string(r.Operation),
			Capabilities: r.Capabilities, Tags: r.Tags, Modes: r.Modes, When: r.When, Reason: r.Reason, Approvers: r.Approvers,
		})
	}
	return rules, nil
}
