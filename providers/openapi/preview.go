package openapi

import "encoding/json"

// preview says what a call will send: the method and the URL. Credentials are added
// later, and are not in it. Empty where it cannot be told.
func (s *Source) preview(spec *Spec, o *operation, input json.RawMessage) string {
	c, err := spec.compile(o)
	if err != nil {
		return ""
	}
	server, err := s.where(spec, c)
	if err != nil {
		return ""
	}
	// The body is shown with the input, and may be a file that is not read for this.
	given := objectOf(input)
	delete(given, "body")
	parameters, err := json.Marshal(given)
	if err != nil {
		return ""
	}
	out, err := c.build(parameters, server, nil)
	if err != nil {
		return ""
	}
	return out.method + " " + out.url.String()
}
