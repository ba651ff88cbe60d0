package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// Logger writes records of a level and above: debug, info, warn or error. The
// format is text or json.
func Logger(w io.Writer, level, format string) (*slog.Logger, error) {
	var options slog.HandlerOptions
	var minimum slog.Level
	switch level {
	case "debug", "info", "warn", "error":
		// Cannot fail: the names are slog's own.
		_ = minimum.UnmarshalText([]byte(level))
	default:
		return nil, fmt.Errorf("log level %q: want debug, info, warn or error", level)
	}
	options.Level = minimum
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, &options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, &options)), nil
	default:
		return nil, fmt.Errorf("log format %q: want text or json", format)
	}
}
