package scripted

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/heddle-dev/heddle/activities"
)

func (p *parsing) turn(path string, t *turn) error {
	t.line, _ = p.position(path)
	if t.When != nil {
		if err := p.words(path+".when", t.When); err != nil {
			return err
		}
	}
	if len(t.Steps) == 0 {
		return p.wrong(path, "has no steps")
	}
	for i := range t.Steps {
		if err := p.step(fmt.Sprintf("%s.steps[%d]", path, i), &t.Steps[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *parsing) step(path string, s *step) error {
	s.line, _ = p.position(path)
	switch says := s.Text != "" || len(s.Calls) > 0; {
	case s.Error != nil && (says || s.Reasoning != ""):
		return p.wrong(path+".error", "a step with an error says nothing else")
	case s.Error == nil && !says:
		return p.wrong(path, "has neither text, calls nor error")
	case s.Usage.Input < 0 || s.Usage.Output < 0:
		return p.wrong(path+".usage", "is negative")
	}
	return errors.Join(
		p.condition(path+".when", s.When),
		p.condition(path+".expect", s.Expect),
		p.reply(path, s),
		p.duration(path+".delay", s.Delay, &s.delay),
		p.failure(path+".error", s.Error),
	)
}

// reply checks what a step says.
func (p *parsing) reply(path string, s *step) error {
	if _, err := parseTemplate(s.Text); err != nil {
		return p.wrong(path+".text", "%v", err)
	}
	if _, err := parseTemplate(s.Reasoning); err != nil {
		return p.wrong(path+".reasoning", "%v", err)
	}
	for i, c := range s.Calls {
		at := fmt.Sprintf("%s.calls[%d]", path, i)
		if c.Tool == "" {
			return p.wrong(at, "names no tool")
		}
		// Without a conversation every reference is empty, but none may be wrong.
		if _, err := encode(c.Input, func(segment) (any, error) { return nil, nil }); err != nil {
			return p.wrong(at+".input", "%v", err)
		}
	}
	return nil
}

func (p *parsing) failure(path string, f *failure) error {
	if f == nil {
		return nil
	}
	switch f.Kind {
	case activities.ModelRateLimited, activities.ModelUnavailable, activities.ModelUnauthorized, activities.ModelInvalid:
	default:
		return p.wrong(path+".kind", "%q is no kind; want %s, %s, %s or %s", f.Kind,
			activities.ModelRateLimited, activities.ModelUnavailable, activities.ModelUnauthorized, activities.ModelInvalid)
	}
	if f.Status != 0 && (f.Status < 400 || f.Status > 599) {
		return p.wrong(path+".status", "%d is no HTTP status of an error", f.Status)
	}
	return p.duration(path+".retry_after", f.RetryAfter, &f.retryAfter)
}

func (p *parsing) duration(path, text string, into *time.Duration) error {
	if text == "" {
		return nil
	}
	var err error
	if *into, err = time.ParseDuration(text); err != nil {
		return p.wrong(path, "%q is no duration such as 1.5s or 2m", text)
	}
	if *into < 0 {
		return p.wrong(path, "is negative")
	}
	return nil
}

func (p *parsing) condition(path string, c *condition) error {
	if c == nil {
		return nil
	}
	if c.User == nil && len(c.Results) == 0 && len(c.Tools) == 0 && c.Messages == 0 {
		return p.wrong(path, "asks for nothing")
	}
	if c.Messages < 0 {
		return p.wrong(path+".messages", "is negative")
	}
	if c.User != nil {
		if err := p.words(path+".user", c.User); err != nil {
			return err
		}
	}
	for i := range c.Results {
		if err := p.regex(fmt.Sprintf("%s.results[%d]", path, i), &c.Results[i].Words); err != nil {
			return err
		}
	}
	return nil
}

func (p *parsing) words(path string, w *words) error {
	if w.Contains == "" && w.Regex == "" {
		return p.wrong(path, "asks for nothing; want contains or regex")
	}
	return p.regex(path, w)
}

func (p *parsing) regex(path string, w *words) error {
	var err error
	if w.re, err = regexp.Compile(w.Regex); err != nil {
		return p.wrong(path+".regex", "%v", err)
	}
	return nil
}
