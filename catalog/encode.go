package catalog

import (
	"encoding/json"

	"github.com/heddle-dev/heddle/internal/plainjson"
)

// encode writes a value of [decode] in its one canonical form: keys sorted, no
// white space, no needless escapes. Digests are made of it.
func encode(value any) (json.RawMessage, error) { return plainjson.Encode(value) }
