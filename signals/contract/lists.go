package contract

import "encoding/json"

// An empty list crosses the wire as [] and never as null, which a backend in
// another language would have to know of.

// MarshalJSON writes an empty list as [].
func (p TimelinePage) MarshalJSON() ([]byte, error) {
	type plain TimelinePage
	p.Parts = list(p.Parts)
	return json.Marshal(plain(p))
}

// MarshalJSON writes an empty list as [].
func (p TranscriptPage) MarshalJSON() ([]byte, error) {
	type plain TranscriptPage
	p.Messages = list(p.Messages)
	return json.Marshal(plain(p))
}

// MarshalJSON writes an empty list as [].
func (p CallsPage) MarshalJSON() ([]byte, error) {
	type plain CallsPage
	p.Calls = list(p.Calls)
	return json.Marshal(plain(p))
}

// MarshalJSON writes an empty list as [].
func (p QueuePage) MarshalJSON() ([]byte, error) {
	type plain QueuePage
	p.Submissions = list(p.Submissions)
	return json.Marshal(plain(p))
}

func list[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}
