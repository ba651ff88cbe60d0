package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

const (
	// MaxDifferences bounds what is said of how a descriptor has changed, in bytes.
	MaxDifferences = 4 << 10
	// maxDifference bounds one line of it.
	maxDifference = 500
)

// Differences says, for people, how a tool's descriptor differs from what it was, both
// as of [Plan.Described]: for each thing that differs its place, then what was, behind a
// minus, and what is, behind a plus. What a server says in it is one line, whatever it
// holds. At most [MaxDifferences] bytes.
func Differences(before, after json.RawMessage) string {
	var b differences
	b.compare("", readJSON(before), readJSON(after))
	return b.String()
}

// readJSON is a value with its numbers as they were written; nil for what is none.
func readJSON(text json.RawMessage) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// absent stands for what is not there.
type absent struct{}

// differences are the lines of a comparison.
type differences struct {
	strings.Builder
	untold int
}

func (b *differences) compare(place string, before, after any) {
	was, isObject := before.(map[string]any)
	now, areObjects := after.(map[string]any)
	if isObject && areObjects {
		for _, key := range slices.Sorted(maps.Keys(both(was, now))) {
			b.compare(strings.TrimPrefix(place+"/"+key, "/"), member(was, key), member(now, key))
		}
		return
	}
	if old, now := line(before), line(after); old != now {
		b.add(place, before, after, old, now)
	}
}

func both(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func member(object map[string]any, key string) any {
	if value, ok := object[key]; ok {
		return value
	}
	return absent{}
}

// line is a value on one line, whatever it holds.
func line(value any) string {
	text, ok := value.(string)
	if !ok {
		encoded, err := encode(value)
		if err != nil {
			return ""
		}
		text = string(encoded)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

func (b *differences) add(place string, before, after any, was, now string) {
	var text strings.Builder
	text.WriteString(cut(line(place), maxDifference) + "\n")
	if before != any(absent{}) {
		text.WriteString("- " + around(was, now) + "\n")
	}
	if after != any(absent{}) {
		text.WriteString("+ " + around(now, was) + "\n")
	}
	const room = 40 // for the line that says how much is not told
	if b.untold > 0 || b.Len()+text.Len() > MaxDifferences-room {
		b.untold++
		return
	}
	b.WriteString(text.String())
}

// around is a text from shortly before where it differs from another, if it is long.
func around(text, other string) string {
	if len(text) <= maxDifference {
		return text
	}
	same := 0
	for same < min(len(text), len(other)) && text[same] == other[same] {
		same++
	}
	const before = 60
	if same <= before {
		return cut(text, maxDifference)
	}
	from := len(clip(text, same-before))
	return "…" + cut(text[from:], maxDifference-len("…"))
}

// String is what was found, and how much of it is not told.
func (b *differences) String() string {
	text := strings.TrimSuffix(b.Builder.String(), "\n")
	if b.untold > 0 {
		text += fmt.Sprintf("\nand %d more differences", b.untold)
	}
	return text
}
