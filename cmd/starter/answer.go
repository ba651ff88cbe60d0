package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) answerCommand() *cobra.Command {
	var answer contract.Answer
	var content string
	var set []string
	var decline bool
	cmd := &cobra.Command{
		Use:   "answer <tenant>/<thread> [question]",
		Short: "Answer a question that a call asks",
		Long: `Answer a question that a call asks, or decline to. Without a question's id it is the
one that waits, if there is one only. Without an answer the command shows what is asked.

The content is given as a JSON object, or field by field with --set; a content that
does not fit is refused and the question waits on. A question that sends a person to a
page, or only wants consent, is answered with --done.`,
		Example: `  starter answer acme/t1
  starter answer acme/t1 --set email=ann@example.com --set copies=2
  starter answer acme/t1 t1-s1-c1-q1-3f9a01bc --content '{"email": "ann@example.com"}'
  starter answer acme/t1 --done
  starter answer acme/t1 --decline --comment "I would rather not say"`,
		Args: arguments(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			done, _ := cmd.Flags().GetBool("done")
			given := 0
			for _, one := range []bool{content != "", len(set) > 0, done, decline} {
				if one {
					given++
				}
			}
			if given > 1 {
				return misused("--content, --set, --done and --decline go one without the other")
			}
			if content != "" {
				if answer.Content, err = c.jsonObject("--content", content); err != nil {
					return err
				}
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			question, err := c.asked(cmd.Context(), thread, args)
			if err != nil {
				return err
			}
			if given == 0 {
				return c.print(question, func(w io.Writer) { newTimeline(w, c.screen(), "").question(question) })
			}
			answer.Question = question.ID
			if len(set) > 0 {
				if answer.Content, err = filled(question, set); err != nil {
					return err
				}
			}
			return c.sendAnswer(cmd.Context(), thread, answer, decline)
		},
	}
	cmd.Flags().StringVar(&content, "content", "", "the answer as a JSON object; @FILE reads a file, - standard input")
	cmd.Flags().StringArrayVar(&set, "set", nil, "a field of the answer as name=value; may be repeated, a list takes its items so")
	cmd.Flags().Bool("done", false, "what is asked for is done, or agreed to")
	cmd.Flags().BoolVar(&decline, "decline", false, "refuse to answer")
	cmd.Flags().StringVar(&answer.By, "by", c.person(), "who answers, for the record")
	cmd.Flags().StringVar(&answer.Comment, "comment", "", "comment, which the agent reads with --decline")
	return cmd
}

func (c *cli) sendAnswer(ctx context.Context, thread contract.ThreadRef, answer contract.Answer, decline bool) error {
	send, past := c.threads.Answer, "answered"
	if decline {
		send, past = c.threads.Decline, "declined"
	}
	var answered contract.Answered
	if err := c.ask(ctx, func(ctx context.Context) (err error) {
		answered, err = send(ctx, thread, answer)
		return err
	}); err != nil {
		return err
	}
	return c.print(answered, func(w io.Writer) { fmt.Fprintf(w, "%s: %s %s\n", thread, past, answered.Question) })
}

// asked finds the question that is meant.
func (c *cli) asked(ctx context.Context, thread contract.ThreadRef, args []string) (contract.Question, error) {
	state, err := c.state(ctx, thread)
	if err != nil {
		return contract.Question{}, err
	}
	ids := make([]string, len(state.Questions))
	for i, q := range state.Questions {
		ids[i] = q.ID + " (" + q.Tool + ")"
	}
	all := cmp.Or(strings.Join(ids, ", "), "none")
	switch {
	case len(args) > 1:
		i := slices.IndexFunc(state.Questions, func(q contract.Question) bool { return q.ID == args[1] })
		if i < 0 {
			return contract.Question{}, fmt.Errorf("%s waits for no answer to %s; it waits for: %s", thread, args[1], all)
		}
		return state.Questions[i], nil
	case len(state.Questions) == 0:
		return contract.Question{}, fmt.Errorf("%s asks no question", thread)
	case len(state.Questions) > 1:
		return contract.Question{}, misused("%s asks several questions, name one: %s", thread, all)
	}
	return state.Questions[0], nil
}

// filled makes the content of an answer from name=value pairs.
func filled(q contract.Question, set []string) (json.RawMessage, error) {
	if len(q.Schema) == 0 {
		return nil, misused("--set: the question wants no content; answer it with --done or --decline")
	}
	form, err := contract.ParseForm(q.Schema)
	if err != nil {
		return nil, err
	}
	content := map[string]any{}
	for _, pair := range set {
		name, value, ok := strings.Cut(pair, "=")
		i := slices.IndexFunc(form.Fields, func(f contract.Field) bool { return f.Name == name })
		if !ok || i < 0 {
			return nil, misused("--set %q: want name=value, with a name of %s", pair, strings.Join(fieldNames(form), ", "))
		}
		switch form.Fields[i].Type {
		case "array":
			items, _ := content[name].([]string)
			content[name] = append(items, value)
		case "number", "integer":
			if !json.Valid([]byte(value)) {
				return nil, misused("--set %s: %q is no number", name, value)
			}
			content[name] = json.RawMessage(value)
		case "boolean":
			yes, err := strconv.ParseBool(value)
			if err != nil {
				return nil, misused("--set %s: %q, want true or false", name, value)
			}
			content[name] = yes
		default:
			content[name] = value
		}
	}
	return json.Marshal(content)
}

func fieldNames(form contract.Form) []string {
	names := make([]string, len(form.Fields))
	for i, field := range form.Fields {
		names[i] = field.Name
	}
	return names
}

// question shows what is asked, by whom, and what the answer has.
func (t *timeline) question(q contract.Question) {
	t.lines([]string{clean(q.From) + " asks:"}, dim)
	t.block(clean(q.Message), bold)
	if q.URL != "" { // on a line of its own, so that it can be copied whole
		t.lines([]string{clean(q.URL)}, plain)
	}
	form, err := contract.ParseForm(q.Schema)
	if len(q.Schema) > 0 && err == nil {
		for _, field := range form.Fields {
			t.block("  "+clean(fieldLine(field)), plain)
		}
	}
	t.lines([]string{"question: " + clean(q.ID)}, plain)
}

// fieldLine says what goes into a field.
func fieldLine(f contract.Field) string {
	kind := cmp.Or(f.Format, f.Type)
	if len(f.Choices) > 0 {
		values := make([]string, len(f.Choices))
		for i, choice := range f.Choices {
			values[i] = choice.Value
		}
		kind = "one of " + strings.Join(values, ", ")
		if f.Type == "array" {
			kind = "any of " + strings.Join(values, ", ")
		}
	}
	line := f.Name + ": " + kind
	if f.Required {
		line += ", required"
	}
	if len(f.Default) > 0 {
		line += ", else " + string(f.Default)
	}
	if about := cmp.Or(f.Description, f.Title); about != "" {
		line += " (" + about + ")"
	}
	return line
}

// questioning says what a part of kind question waits for, or how it was answered.
func (t *timeline) questioning(p contract.Part) (text, body string) {
	by := ""
	if a := p.Answer; a != nil {
		body = a.Comment
		if a.By != "" {
			by = " by " + a.By
		}
	}
	switch p.Status {
	case contract.PartWaiting:
		if p.Question != nil {
			return p.Tool + " asks a person, " + t.until(p.Question.ExpiresAt), ""
		}
		return p.Tool + " asks a person", ""
	case contract.PartDone:
		return p.Tool + " answered" + by, body
	case contract.PartDenied:
		return p.Tool + " declined" + by, body
	case contract.PartExpired:
		return p.Tool + " expired without an answer", ""
	default:
		return p.Tool + " withdrawn", ""
	}
}
