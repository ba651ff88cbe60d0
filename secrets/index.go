package secrets

import (
	"bytes"
	"encoding/binary"
)

// window is how many bytes of a form the index goes by. No form is shorter.
const window = MinLength

// index finds forms in a text in one pass. Adding one costs no more than the form
// is long, so that a value can become known at any time.
type index struct {
	// forms goes by the first bytes of each form.
	forms table
	// heads and tails hold the pieces that a text may begin or end with, by the first
	// or the last bytes of the text.
	heads, tails table
	// longest is the length of the longest form.
	longest int
}

func (x *index) add(o owned) {
	for _, f := range formsOf(o) {
		x.forms.add(load([]byte(f.text)), f)
		x.longest = max(x.longest, len(f.text))
	}
	n := len(o.value)
	if n > maxPieces {
		return
	}
	// The larger of two pieces is at least half of the value.
	for cut := 1; cut <= n/2 && n-cut >= window; cut++ {
		end, begin := o.value[cut:], o.value[:n-cut]
		x.heads.add(load([]byte(end[:window])), form{text: end, tenant: o.tenant})
		x.tails.add(load([]byte(begin[len(begin)-window:])), form{text: begin, tenant: o.tenant})
	}
}

// filterBits is the size of a table's filter: it stays in the processor's first
// cache.
const filterBits = 1 << 18

// table holds forms by eight bytes of them. The filter rules out nearly every place
// of a text that holds none.
type table struct {
	filter []uint64
	forms  map[uint64][]form
}

func (t *table) add(key uint64, f form) {
	if t.forms == nil {
		t.filter, t.forms = make([]uint64, filterBits/64), map[uint64][]form{}
	}
	slot := slotOf(key)
	t.filter[slot/64] |= 1 << (slot % 64)
	t.forms[key] = append(t.forms[key], f)
}

func (t *table) at(key uint64) []form {
	if t.forms == nil {
		return nil
	}
	if slot := slotOf(key); t.filter[slot/64]&(1<<(slot%64)) == 0 {
		return nil
	}
	return t.forms[key]
}

func load(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// slotOf is the place of a key in the filter: the upper bits of a product with an
// odd constant, which depend on all of the key.
func slotOf(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 >> 46 }

// span is a part of a text, end exclusive.
type span struct{ start, end int }

// find calls found for each form in a text.
func (x *index) find(tenant string, text []byte, found func(span)) {
	if x.forms.forms == nil {
		return
	}
	filter := x.forms.filter[:filterBits/64]
	for i := 0; i+window <= len(text); i++ {
		key := load(text[i:])
		if slot := slotOf(key); filter[slot/64]&(1<<(slot%64)) == 0 {
			continue
		}
		for _, f := range x.forms.forms[key] {
			if f.concerns(tenant) && len(text)-i >= len(f.text) && string(text[i:i+len(f.text)]) == f.text {
				found(f.widen(text, span{i, i + len(f.text)}))
			}
		}
	}
}

// said stands before what a service, a tool or an error within says: errors are made
// so, and what is said may begin with a piece.
const said = ": "

// begins calls found for a piece that a text begins with, or what it says others said,
// and ends for one that it ends with.
func (x *index) begins(tenant string, text []byte, found func(span)) {
	for at := 0; at+window <= len(text); {
		for _, f := range x.heads.at(load(text[at:])) {
			if end := at + len(f.text); f.concerns(tenant) && end <= len(text) && string(text[at:end]) == f.text {
				found(span{at, end})
			}
		}
		next := bytes.Index(text[at:], []byte(said))
		if next < 0 {
			return
		}
		at += next + len(said)
	}
}

func (x *index) ends(tenant string, text []byte, found func(span)) {
	if len(text) < window {
		return
	}
	for _, f := range x.tails.at(load(text[len(text)-window:])) {
		if begin := len(text) - len(f.text); f.concerns(tenant) && begin >= 0 && string(text[begin:]) == f.text {
			found(span{begin, len(text)})
		}
	}
}

// Everyone stands for the tenant of a reader to whom no tenant's values may be shown.
const Everyone = "\x00everyone"

// concerns reports whether the form is looked for in a tenant's texts.
func (f form) concerns(tenant string) bool {
	return f.tenant == "" || f.tenant == tenant || tenant == Everyone
}

// widen takes in the characters beside a form that hold some of its bits.
func (f form) widen(text []byte, s span) span {
	if f.before && s.start > 0 && isBase64(text[s.start-1]) {
		s.start--
	}
	if f.after && s.end < len(text) && isBase64(text[s.end]) {
		s.end++
	}
	return s
}

func isBase64(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}
