package lookup

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/catalog"
)

// Lookup finds and describes the tools of a broker. It is safe for concurrent use.
type Lookup struct {
	broker    *catalog.Broker
	indexes   indexes
	reranking *reranking
}

// New returns a Lookup of the broker's tools. It asks no source yet.
func New(broker *catalog.Broker) *Lookup { return &Lookup{broker: broker} }

// ended words the end of a context.
func ended(ctx context.Context, what string) *catalog.Error {
	e := &catalog.Error{Code: catalog.CodeCancelled, Message: "the " + what + " was cancelled", Effect: catalog.EffectNone}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Code, e.Message, e.Retryable = catalog.CodeTimeout, "the time for the "+what+" ran out", true
	}
	return e
}

func answer(value any) (json.RawMessage, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, &catalog.Error{Code: catalog.CodeInvalidTool, Message: "the answer cannot be written: " + err.Error(), Effect: catalog.EffectNone}
	}
	return text, nil
}

// beginning is the first paragraph of a text on one line, of at most limit bytes.
func beginning(text string, limit int) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) <= limit {
		return text
	}
	const ellipsis = "…"
	cut := limit - len(ellipsis)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}
