package main

import (
	"io"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// The values of --log-level and --log-format. "pretty" is the name that the
// official CLI once had for text, and that SDKs still pass.
var (
	logLevels  = []string{"debug", "info", "warn", "error", "never"}
	logFormats = []string{"text", "json", "pretty"}
)

// newLogger returns the server's logger. It leaves out the stack traces that the
// server's own logger adds to every error: what a user can act on is in the
// message, and a page of frames hides the next one.
//
// The level is left in the caller's hands for the time of the stop; see quiet.
func newLogger(w io.Writer, level, format string) (log.Logger, zap.AtomicLevel) {
	enabled := zap.NewAtomicLevelAt(log.ParseZapLevel(level))
	if level == "never" {
		quiet(enabled)
	}
	encoderConfig := log.DefaultZapEncoderConfig
	encoderConfig.StacktraceKey = zapcore.OmitKey
	var encoder zapcore.Encoder
	if format == "json" {
		encoder = zapcore.NewJSONEncoder(encoderConfig)
	} else {
		encoderConfig.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(encoderConfig)
	}
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), enabled)
	return log.NewZapLogger(zap.New(core)), enabled
}

// quiet leaves only what the server logs right before it ends the process: even
// who wants no log wants to know why the server is gone. It is also the level for
// the stop, during which the services complain about each other's absence.
func quiet(level zap.AtomicLevel) {
	level.SetLevel(zapcore.FatalLevel)
}
