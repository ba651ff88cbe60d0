package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/heddle-dev/heddle/catalog"
)

// offer is a tool as the server offers it.
type offer struct {
	// name is the server's, exactly.
	name, title, description string
	input, output            json.RawMessage
	// reads says that the server hints that the tool only reads; destructive and
	// idempotent are such hints too.
	reads, destructive, idempotent bool
	// mirrors says that some of the input is repeated in headers.
	mirrors bool
	// digest covers all of the offer that matters.
	digest string
}

// readOffer reads one entry of a listing. What of it cannot be read and does not
// matter is left out; an error makes the tool unusable.
func readOffer(entry json.RawMessage, modern bool) (offer, error) {
	fields := members(entry)
	if fields == nil {
		return offer{}, errors.New("it is no object")
	}
	o := offer{name: textOf(fields["name"])}
	if err := checkName(o.name); err != nil {
		return o, err
	}
	annotations := members(fields["annotations"])
	o.title = textOf(fields["title"])
	if o.title == "" {
		o.title = textOf(annotations["title"])
	}
	o.title = plain(o.title, maxTitle)
	o.description = plain(textOf(fields["description"]), maxDescription)
	if o.description == "" {
		o.description = plain(o.name, maxName)
	}
	o.reads = string(annotations["readOnlyHint"]) == "true"
	o.destructive = string(annotations["destructiveHint"]) == "true"
	o.idempotent = string(annotations["idempotentHint"]) == "true"
	if textOf(members(fields["execution"])["taskSupport"]) == "required" {
		return o, errors.New("it can only be called as a task, which is not supported")
	}
	var err error
	if o.input, err = inputSchema(fields["inputSchema"]); err != nil {
		return o, fmt.Errorf("its input schema %w", err)
	}
	if modern {
		tool := mcp.Tool{Name: o.name, RawInputSchema: o.input}
		if err := mcp.ValidateParamHeaderAnnotations(&tool); err != nil {
			return o, fmt.Errorf("its input schema repeats what it may not: %s", plain(err.Error(), maxText))
		}
		o.mirrors = len(mcp.ExtractParamHeaderBindings(&tool)) > 0
	}
	if checkSchema(fields["outputSchema"]) == nil {
		o.output = fields["outputSchema"]
	}
	sum, err := encode([]any{o.name, o.title, o.description, canonical(o.input), canonical(o.output), o.reads, o.destructive, o.idempotent})
	if err != nil {
		return o, err
	}
	o.digest = shortDigest(string(sum))
	return o, nil
}

// inputSchema makes a schema of an object of what a server says. All that it says
// stays; only members that some models insist on are added.
func inputSchema(text json.RawMessage) (json.RawMessage, error) {
	if isNull(text) {
		return nil, errors.New("is missing")
	}
	if err := checkSchema(text); err != nil {
		return nil, err
	}
	fields := members(text)
	var kind any
	if given, ok := fields["type"]; ok {
		if err := json.Unmarshal(given, &kind); err != nil || kind != "object" {
			return nil, errors.New("is not that of an object")
		}
	}
	switch properties := fields["properties"]; {
	case isNull(properties):
		fields["properties"] = json.RawMessage("{}")
	case !isObject(properties):
		return nil, errors.New("has properties that are no object")
	case kind != nil:
		return text, nil
	}
	fields["type"] = json.RawMessage(`"object"`)
	return encode(fields)
}

// checkSchema says why a schema is not looked at.
func checkSchema(text json.RawMessage) error {
	switch {
	case !isObject(text):
		return errors.New("is no object")
	case len(text) > maxSchema:
		return fmt.Errorf("is %d bytes long, at most %d are allowed", len(text), maxSchema)
	case depth(text) > maxDepth:
		return fmt.Errorf("is nested more than %d levels deep", maxDepth)
	}
	return nil
}

// canonical is JSON in which the order of keys does not matter.
func canonical(text json.RawMessage) any {
	var v any
	if len(text) == 0 || json.Unmarshal(text, &v) != nil {
		return nil
	}
	return v
}

// descriptor is what the catalog is told of an offer.
func (s *Source) descriptor(o offer) (catalog.Descriptor, bool) {
	d := catalog.Descriptor{
		ID: idOf(s.options.Namespace, o.name), Title: o.title, Description: o.description,
		Input: o.input, Output: o.output, Timeout: s.options.Timeout, Source: s.place,
	}
	hidden := s.permissions.apply(&d, o.name, s.options.Trusted && o.reads)
	// That a write is destructive is believed of any server, that it may be repeated
	// only of a trusted one.
	d.Destructive = d.Operation == catalog.Write && o.destructive
	d.HonoursKeys = d.Operation == catalog.Write && slices.ContainsFunc(s.options.HonoursKeys, func(pattern string) bool {
		return Permission{Tool: pattern}.matches(o.name)
	})
	d.Idempotent = s.options.Trusted && o.idempotent
	if !s.options.Trusted {
		d.Trust = catalog.TrustRemote
	}
	return d, !hidden
}
