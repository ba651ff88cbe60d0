package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

// Func makes a tool of a function. In must be a struct or a map with string
// keys; Out may be any type that encoding/json writes. The struct tags that shape
// the schemas are described at [heddle.Tool].
//
// The error names the id and the place of the definition.
//
// [heddle.Tool]: https://pkg.go.dev/github.com/heddle-dev/heddle#Tool
func Func[In, Out any](id, description string, fn func(context.Context, In) (Out, error), options ...Option) (catalog.Tool, error) {
	t := catalog.Tool{Descriptor: catalog.Descriptor{ID: id, Description: description, Operation: catalog.Read, Source: Caller(1)}}
	for _, option := range options {
		option(&t)
	}
	if err := build(&t, fn); err != nil {
		return catalog.Tool{}, fmt.Errorf("%s: tool %q: %w", t.Source, id, err)
	}
	return t, nil
}

// Caller is the file and line of a caller, as a person names it: skip 0 is the
// caller of Caller.
func Caller(skip int) string {
	_, file, line, ok := runtime.Caller(skip + 1)
	if !ok {
		return "unknown place"
	}
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

func build[In, Out any](t *catalog.Tool, fn func(context.Context, In) (Out, error)) error {
	if err := check(t, fn == nil); err != nil {
		return err
	}
	in, err := inputSchema(reflect.TypeFor[In]())
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	out, err := outputSchema(reflect.TypeFor[Out]())
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	t.Input, t.Output = in.text, out.text
	if err := checkAgainst(t.Descriptor); err != nil {
		return err
	}
	t.Prepare = func(input json.RawMessage) (json.RawMessage, error) {
		filled, err := in.fillDefaults(input)
		if err != nil {
			return nil, err
		}
		_, err = decode[In](filled)
		return filled, err
	}
	t.Call = func(ctx context.Context, call catalog.Call) (json.RawMessage, error) {
		input, err := decode[In](call.Input)
		if err != nil {
			return nil, err
		}
		output, err := fn(context.WithValue(ctx, callKey{}, call), input)
		if err != nil {
			return nil, err
		}
		return out.encode(output)
	}
	return nil
}

func check(t *catalog.Tool, noFunc bool) error {
	if err := catalog.CheckID(t.ID); err != nil {
		return err
	}
	switch {
	case noFunc:
		return errors.New("the function is nil")
	case strings.TrimSpace(t.Description) == "":
		return errors.New("the description is empty; say what the tool does, for the model and for people")
	case t.Approvers < 0 || t.Approvers > catalog.MaxApprovers:
		return fmt.Errorf("the approvers are %d, want 1 to %d", t.Approvers, catalog.MaxApprovers)
	case t.Reconcile != nil && t.Operation != catalog.Write:
		return errors.New("only a write can be reconciled")
	case t.Timeout < 0:
		return fmt.Errorf("the timeout is %s, want more than 0", t.Timeout)
	case t.Timeout > catalog.MaxTimeout:
		return fmt.Errorf("the timeout is %s, at most %s is allowed", t.Timeout, catalog.MaxTimeout)
	}
	return nil
}

// decode reads an input that fits the schema. Numbers in fields of type any
// become [json.Number], so that none loses digits.
func decode[In any](input json.RawMessage) (In, error) {
	var in In
	if err := unmarshal(input, &in); err != nil {
		return in, undecodable(err)
	}
	return in, nil
}

// undecodable words why a value that fits the schema does not fit the Go type,
// such as a number that overflows.
func undecodable(err error) error {
	e := &catalog.Error{Code: catalog.CodeInvalidInput, Message: "the input cannot be read: " + err.Error(), Effect: catalog.EffectNone}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		v := catalog.Violation{Message: fmt.Sprintf("is a %s, which does not fit into %s", mismatch.Value, mismatch.Type)}
		if mismatch.Field != "" {
			v.Pointer = "/" + strings.ReplaceAll(mismatch.Field, ".", "/")
		}
		e.Message = "the input cannot be read: " + v.Pointer + " " + v.Message
		e.Violations = []catalog.Violation{v}
	}
	return e
}

type callKey struct{}

// CallFrom returns the call that a function of [Func] is carrying out.
func CallFrom(ctx context.Context) (catalog.Call, bool) {
	call, ok := ctx.Value(callKey{}).(catalog.Call)
	return call, ok
}
