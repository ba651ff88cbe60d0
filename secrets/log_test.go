package secrets_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/secrets"
)

type late struct{ text string }

func (l late) LogValue() slog.Value { return slog.StringValue(l.text) }

func TestNoValueIsLogged(t *testing.T) {
	const value = "sk-live-1234567890abcdef"
	for name, write := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			logger := slog.New(secrets.NewHandler(write(&out), knowing(value)))
			logger.With("with", "Bearer "+value).WithGroup("g").With("in group", value).Error("message "+value,
				"error", errors.New("refused: "+value), "any", map[string][]byte{"b": []byte(value)},
				"struct", struct{ Token string }{value}, "late", late{value},
				slog.Group("inner", "v", value), value, "as key", "number", 7, "kept", "as it is", "err", errors.New("plain"))
			for _, form := range encodings(t, value) {
				if strings.Contains(out.String(), form) {
					t.Errorf("%q is in the log: %s", form, out.String())
				}
			}
			if got := strings.Count(out.String(), secrets.Mask); got != 9 {
				t.Errorf("%d values are masked, want 9: %s", got, out.String())
			}
			for _, want := range []string{"as it is", "plain", "7"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing: %s", want, out.String())
				}
			}
		})
	}
}
