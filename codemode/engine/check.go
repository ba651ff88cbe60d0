package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

// check refuses a program that cannot be run, and completes one that can.
func (e *Engine) check(program snippet.Program) (snippet.Program, error) {
	switch {
	case program.Tenant == "":
		return program, errors.New("tenant: missing; a process serves one tenant only")
	case len(program.Source) > snippet.MaxSource:
		return program, fmt.Errorf("source: %d bytes, at most %d", len(program.Source), snippet.MaxSource)
	case program.Now.IsZero():
		return program, errors.New("now: the execution's time is missing")
	case len(program.API) > 0 && !json.Valid(program.API):
		return program, errors.New("api: not valid JSON")
	case len(program.Input) > 0 && !json.Valid(program.Input):
		return program, errors.New("input: not valid JSON")
	}
	for i, record := range program.Journal.Calls {
		if record.Number != i+1 {
			return program, fmt.Errorf("journal: call %d stands where call %d should", record.Number, i+1)
		}
	}
	for i := range program.Journal.Deliveries {
		if err := checkDelivery(&program.Journal.Deliveries[i]); err != nil {
			return program, fmt.Errorf("journal: delivery %d: %w", i+1, err)
		}
	}
	limits, err := within(program.Limits, e.options.Limits, true)
	if err != nil {
		return program, fmt.Errorf("program %w", err)
	}
	program.Limits = limits
	program.Now = program.Now.UTC().Truncate(time.Millisecond)
	return program, nil
}

// checkDelivery refuses an outcome that says nothing, or two things.
func checkDelivery(d *snippet.Delivery) error {
	switch {
	case d.Error != nil && len(d.Result) > 0:
		return fmt.Errorf("call %d: both a result and an error", d.Call)
	case d.Error != nil && d.Error.Code == "":
		return fmt.Errorf("call %d: the error has no code", d.Call)
	case len(d.Result) > 0 && !json.Valid(d.Result):
		return fmt.Errorf("call %d: the result is not valid JSON", d.Call)
	}
	d.At = d.At.UTC().Truncate(time.Millisecond)
	return nil
}

// within fills the limits that are zero from others, and with capped refuses
// those that are looser.
func within(limits, others snippet.Limits, capped bool) (snippet.Limits, error) {
	var err error
	limit := func(name string, value, other int64) int64 {
		switch {
		case value == 0:
			return other
		case value < 0:
			err = fmt.Errorf("limits.%s is %d: it must not be negative", name, value)
		case capped && value > other:
			err = fmt.Errorf("limits.%s is %d: the engine allows at most %d", name, value, other)
		}
		return value
	}
	whole := snippet.Limits{
		CPU:          time.Duration(limit("cpu", int64(limits.CPU), int64(others.CPU))),
		Wall:         time.Duration(limit("wall", int64(limits.Wall), int64(others.Wall))),
		Memory:       limit("memory", limits.Memory, others.Memory),
		Calls:        int(limit("calls", int64(limits.Calls), int64(others.Calls))),
		OutputBytes:  int(limit("outputBytes", int64(limits.OutputBytes), int64(others.OutputBytes))),
		ConsoleBytes: int(limit("consoleBytes", int64(limits.ConsoleBytes), int64(others.ConsoleBytes))),
	}
	return whole, err
}

func orDefault(value, fallback int) int {
	if value == 0 {
		return fallback
	}
	return value
}
