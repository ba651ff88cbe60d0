package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

const (
	// MinLength is the length in bytes from which on a value is looked for.
	MinLength = 8
	// Mask is what stands in the place of a value.
	Mask = "[redacted]"
	// maxKnown bounds the values that are looked for; past it the oldest is
	// forgotten.
	maxKnown = 20_000
	// maxPieces bounds, in bytes, a value of which pieces are looked for.
	maxPieces = 4 << 10
)

// Redactor takes known values out of texts. It is safe for concurrent use.
//
// It has to know what it looks for: a value stays in memory, here alone, until the
// process ends or 20,000 newer ones have come.
type Redactor struct {
	mu    sync.RWMutex
	index index
	known map[owned]struct{}
	order []owned // oldest first
}

// owned is a value and the tenant in whose texts it is looked for; that of the
// application has none and is looked for everywhere.
type owned struct {
	tenant string
	value  string
}

// Hide makes a value of a tenant known; with no tenant, one of the application. The
// value is copied.
func (r *Redactor) Hide(tenant string, value []byte) {
	if len(value) < MinLength {
		return
	}
	r.mu.RLock()
	_, known := r.known[owned{tenant, string(value)}] // not copied
	r.mu.RUnlock()
	if known {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o := owned{tenant, string(value)}
	if _, known := r.known[o]; known {
		return
	}
	if r.known == nil {
		r.known = map[owned]struct{}{}
	}
	if len(r.order) >= maxKnown {
		r.forget(maxKnown / 4)
	}
	r.known[o] = struct{}{}
	r.order = append(r.order, o)
	r.index.add(o)
}

// forget drops the oldest values.
func (r *Redactor) forget(n int) {
	for _, o := range r.order[:n] {
		delete(r.known, o)
	}
	r.order = slices.Clone(r.order[n:])
	r.index = index{}
	for _, o := range r.order {
		r.index.add(o)
	}
}

// form is one way in which a value is written.
type form struct {
	text   string
	tenant string
	// before and after say that the character on that side holds some of the value's
	// bits, as in base64.
	before, after bool
}

// Empty reports whether no value is known.
func (r *Redactor) Empty() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.known) == 0
}

// Text returns a text of a tenant without the values known.
func (r *Redactor) Text(tenant, text string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.known) == 0 || len(text) < MinLength {
		return text
	}
	if clean := r.index.mask(tenant, []byte(text)); clean != nil {
		return string(clean)
	}
	return text
}

// All returns a text without the values known of any tenant.
func (r *Redactor) All(text string) string { return r.Text(Everyone, text) }

// JSON returns a JSON value of a tenant without the values known: in its strings and
// keys, as a number, or as a part of the document. It stays valid, and what holds no
// value stays as it is to the byte. What is no JSON is taken for a text.
func (r *Redactor) JSON(tenant string, value json.RawMessage) json.RawMessage {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.known) == 0 || len(value) < MinLength {
		return value
	}
	return r.index.maskJSON(tenant, value)
}

// formsOf are the ways in which a value is written that no decoding leads back to.
func formsOf(o owned) []form {
	forms := []form{{text: o.value, tenant: o.tenant}}
	add := func(text string) { forms = append(forms, form{text: text, tenant: o.tenant}) }
	lower := hex.EncodeToString([]byte(o.value))
	add(lower)
	add(strings.ToUpper(lower))
	if strings.Contains(o.value, " ") {
		add(strings.ReplaceAll(o.value, " ", "+")) // in a form that is URL-encoded
	}
	for shift := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			padded := make([]byte, shift+len(o.value))
			copy(padded[shift:], o.value)
			encoded := encoding.EncodeToString(padded)
			// Only what the value alone decides, in sextets of 6 bits.
			first, last := (8*shift+5)/6, 8*len(padded)/6
			f := form{text: encoded[first:last], tenant: o.tenant, before: 8*shift%6 != 0, after: 8*len(padded)%6 != 0}
			if !slices.Contains(forms, f) {
				forms = append(forms, f)
			}
		}
	}
	return forms
}
