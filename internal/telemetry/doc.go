// Package telemetry holds how programs of this module speak to their operators.
//
// [Logger] logs with log/slog. Attributes are what an operator searches for: ids,
// names, counts and durations. Message texts, tool inputs and results, and
// credentials are never logged. [Version] names the program's source.
package telemetry
