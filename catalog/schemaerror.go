package catalog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaError words why a schema does not compile, without the base address
// that the compiler was given.
func schemaError(err error) error {
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return fmt.Errorf("is not a valid JSON Schema: %s", summary(violationsOf(invalid)))
	}
	var load *jsonschema.LoadURLError
	if errors.As(err, &load) {
		return load.Err
	}
	text := strings.ReplaceAll(err.Error(), schemaURL, "")
	return fmt.Errorf("does not compile: %s", cut(text, 300))
}

var drafts = []string{
	"json-schema.org/schema",
	"json-schema.org/draft/2020-12/schema",
	"json-schema.org/draft/2019-09/schema",
	"json-schema.org/draft-07/schema",
	"json-schema.org/draft-06/schema",
	"json-schema.org/draft-04/schema",
}

func isDraft(url string) bool {
	url = strings.TrimPrefix(strings.TrimPrefix(url, "http://"), "https://")
	url = strings.TrimSuffix(url, "#")
	for _, draft := range drafts {
		if url == draft {
			return true
		}
	}
	return false
}
