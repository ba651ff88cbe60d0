package openai

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// readEvents reads an event stream to its end. Whether the reply is whole is
// known by then: it had a finish reason, or the stream its [DONE].
func (r *reply) readEvents(res *http.Response) error {
	events := ssestream.NewDecoder(res)
	for events.Next() {
		event := events.Event()
		if bytes.HasPrefix(event.Data, []byte("[DONE]")) {
			r.complete = true
			return nil
		}
		if err := r.addEvent(event); err != nil {
			return err
		}
	}
	// A connection that breaks after the finish reason costs the usage at most.
	if err := events.Err(); err != nil && !r.complete {
		return err
	}
	return nil
}

func (r *reply) addEvent(event ssestream.Event) error {
	var p payload
	if err := json.Unmarshal(event.Data, &p); err != nil {
		return unavailable("an event of the stream is no chat completion: %v", err)
	}
	if event.Type == "error" && p.Error == nil {
		p.Error = event.Data
	}
	return r.add(p, true)
}
