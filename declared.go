package heddle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/expression"
	"github.com/heddle-dev/heddle/catalog/lookup"
	"github.com/heddle-dev/heddle/catalog/undo"
	"github.com/heddle-dev/heddle/codemode/check"
	"github.com/heddle-dev/heddle/internal/config"
)

// place makes an error of a field of a declaration, empty for the whole.
type place func(field, message string) error

// inProgram is the place of what an option declares of a tool.
func inProgram(what, write string) place {
	return func(field, message string) error {
		if field != "" {
			message = field + ": " + message
		}
		return fmt.Errorf("%s of tool %q: %s", what, write, message)
	}
}

// inFile is the place of what the configuration file declares.
func inFile(c *config.Config, path string) place {
	return func(field, message string) error {
		if field != "" {
			field = "." + field
		}
		return c.Problem(path+field, message)
	}
}

// declareOf takes what the configuration file declares of the tools of a source.
func (p *parts) declareOf(c *config.Config, source string, lookups []lookup.Declaration, undos []undo.Declaration) {
	for _, d := range lookups {
		p.declareLookup(d, inFile(c, source+".reconcile."+d.Write))
	}
	for _, d := range undos {
		p.declareUndo(d, inFile(c, source+".undo."+d.Write))
	}
}

// declaration is what can be held against the catalog of a way of finding out what
// became of a write, or of undoing it.
type declaration struct {
	write string
	// tool is what is called for it, which the declaration has in a field and which must
	// have an operation; input is what is known of what it is called with.
	tool, field string
	operation   catalog.Operation
	input       expression.Shape
	at          place
}

// declare takes a declaration that was compiled, or the error, and reports whether it can
// be used. Of each tool there is one, as twice says.
func (p *parts) declare(d declaration, compiled interface{ Shape() expression.Shape }, err error, twice bool) bool {
	switch {
	case err != nil:
		p.problem(d.at("", err.Error()))
	case twice:
		p.problem(d.at("", "there are two"))
	default:
		d.input = compiled.Shape()
		p.declared = append(p.declared, d)
		return true
	}
	return false
}

// check says what is wrong with a declaration. Nothing is said of a tool that cannot be
// looked up now: unread says why that is.
func (d declaration) check(ctx context.Context, broker *catalog.Broker) (faults []error, unread error) {
	_, fault, unread := d.find(ctx, broker, "", d.write, catalog.Write)
	if unread != nil {
		return nil, unread
	}
	tool, wrong, unread := d.find(ctx, broker, d.field, d.tool, d.operation)
	if unread != nil {
		return nil, unread
	}
	for _, err := range []error{fault, wrong} {
		if err != nil {
			faults = append(faults, err)
		}
	}
	if wrong == nil {
		for _, f := range check.Input(tool.Input, nodeOf(d.input)) {
			faults = append(faults, d.misfit(f))
		}
	}
	return faults, nil
}

// find finds a tool, which must have an operation.
func (d declaration) find(
	ctx context.Context, broker *catalog.Broker, field, id string, operation catalog.Operation,
) (tool catalog.Descriptor, fault, unread error) {
	namespace, _, _ := strings.Cut(id, ".")
	tool, err := broker.Lookup(ctx, catalog.Scope{Tools: []string{namespace + ".*"}}, id)
	var told *catalog.Error
	switch {
	case err == nil && tool.Operation != operation:
		return tool, d.at(field, fmt.Sprintf("%s is a %s, want a %s", id, tool.Operation, operation)), nil
	case err == nil:
		return tool, nil, nil
	case errors.As(err, &told) && told.Code == catalog.CodeToolNotFound:
		message := fmt.Sprintf("there is no tool %s", id)
		if told.Hint != "" {
			message += "; " + told.Hint
		}
		return tool, d.at(field, message), nil
	}
	return tool, nil, err
}

// misfit is the error of a part of the input that cannot fit the tool.
func (d declaration) misfit(f check.Finding) error {
	message := f.Message
	if f.Hint != "" {
		message += "; " + f.Hint
	}
	member, inside, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/"), "/")
	if inside != "" {
		message = "/" + inside + " " + message
	}
	field := "input"
	for _, m := range d.input.Members { // one that is missing has no place of its own
		if m.Name == member {
			return d.at(field+"."+member, message)
		}
	}
	if member != "" {
		message = member + " " + message
	}
	return d.at(field, message)
}

// nodeOf is what is known of an input as the checker of calls takes it.
func nodeOf(s expression.Shape) check.Node {
	switch {
	case s.Optional:
		return check.Node{}
	case s.Constant != nil:
		return check.Node{Kind: check.Literal, Value: s.Constant}
	case s.Members != nil:
		n := check.Node{Kind: check.Object}
		for _, m := range s.Members {
			n.Members = append(n.Members, check.Member{Name: m.Name, Value: nodeOf(m.Shape)})
		}
		return n
	case s.Items != nil:
		n := check.Node{Kind: check.Array}
		for _, item := range s.Items {
			n.Items = append(n.Items, nodeOf(item))
		}
		return n
	}
	return check.Node{Type: s.Type, Present: true}
}

// checkDeclared says what is wrong with the declarations about tools that are at hand,
// and returns those about tools that have to be asked for elsewhere. Those that differ
// by on whose behalf they are listed are found out about when they are called.
func (p *parts) checkDeclared(broker *catalog.Broker) (elsewhere []declaration) {
	for _, d := range p.declared {
		remote, scoped := broker.Whereabouts(d.write)
		other, differs := broker.Whereabouts(d.tool)
		switch {
		case scoped || differs:
		case remote || other:
			elsewhere = append(elsewhere, d)
		default:
			faults, unread := d.check(context.Background(), broker)
			p.problems = append(p.problems, faults...)
			if unread != nil { // it may be there when the worker runs
				elsewhere = append(elsewhere, d)
			}
		}
	}
	return elsewhere
}

// checkElsewhere holds declarations against the tools that have to be asked for. A
// source that does not answer is no error: its tools are called when it does.
func (a *App) checkElsewhere(ctx context.Context) error {
	var wrong []error
	for _, d := range a.elsewhere {
		faults, unread := d.check(ctx, a.broker)
		wrong = append(wrong, faults...)
		if unread != nil {
			a.logger.Warn("what is declared of a tool cannot be checked now", "tool", d.write, "error", unread)
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("the configuration is not right:\n%w", err)
	}
	return nil
}
