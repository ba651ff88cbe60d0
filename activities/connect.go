package activities

import (
	"encoding/json"

	"github.com/heddle-dev/heddle/catalog"
)

// connectFunction is the id of the function by which a model that sees each tool has a
// person asked to connect a source. Of one that nobody has connected no tool is known, so
// that there is no other to call.
func connectFunction(source string) string { return source + ".connect" }

// connectable are the functions for the sources that the scope may use and that nobody
// has connected, as far as is known from when they were asked last.
func (a *Activities) connectable(scope catalog.Scope) []catalog.Descriptor {
	var functions []catalog.Descriptor
	for _, condition := range a.Broker.Conditions(scope) {
		for _, part := range condition.Unavailable {
			id := connectFunction(part.Source)
			if part.Cause == nil || catalog.CheckID(id) != nil || !scope.Allows(id) {
				continue
			}
			if _, mendable := part.Cause.Reconnection(); mendable {
				functions = append(functions, catalog.Descriptor{
					ID: id, Input: json.RawMessage(`{"type":"object","properties":{}}`),
					Description: "Asks the user to connect " + part.Source + ", which is not connected, and waits for it. Its tools are known after that.",
				})
			}
		}
	}
	return functions
}
