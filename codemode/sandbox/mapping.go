package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-sourcemap/sourcemap"
)

type mappingConsumer = *sourcemap.Consumer

// mappingShift is what has to change in a source map so that goja's positions
// become those of the model's source.
type mappingShift struct {
	// generated and original are the two texts that the map is between.
	generated, original string
	// lines is how many lines were put before the original, and columns how many
	// bytes before the generated one.
	lines, columns int
}

// segment is one entry of a source map. Lines and columns count from 0.
type segment struct {
	generatedLine, generatedColumn int
	originalLine, originalColumn   int
}

// shiftMapping decodes an esbuild source map and encodes it anew: goja looks up
// columns in bytes from 1 and takes what it finds as they are, whereas the map
// counts UTF-16 units from 0, in a text with a wrapper around it.
func shiftMapping(data []byte, shift mappingShift) (mappingConsumer, error) {
	var source struct {
		Mappings string `json:"mappings"`
	}
	if err := json.Unmarshal(data, &source); err != nil {
		return nil, fmt.Errorf("decode source map: %w", err)
	}
	segments, err := decodeMappings(source.Mappings)
	if err != nil {
		return nil, err
	}
	generated, original := strings.Split(shift.generated, "\n"), strings.Split(shift.original, "\n")
	kept := segments[:0]
	for _, s := range segments {
		if s.originalLine < shift.lines || s.originalLine >= len(original) || s.generatedLine >= len(generated) {
			continue
		}
		if s.generatedLine == 0 {
			s.generatedColumn += shift.columns
		}
		kept = append(kept, segment{
			generatedLine:   s.generatedLine,
			generatedColumn: fromUTF16(generated[s.generatedLine], s.generatedColumn, inBytes) + 1,
			originalLine:    s.originalLine - shift.lines,
			originalColumn:  fromUTF16(original[s.originalLine], s.originalColumn, inCharacters) + 1,
		})
	}
	encoded, err := json.Marshal(map[string]any{
		"version": 3, "sources": []string{sourceName}, "names": []string{}, "mappings": encodeMappings(kept),
	})
	if err != nil {
		return nil, err
	}
	return sourcemap.Parse("", encoded)
}

func inBytes(r rune) int    { return utf8.RuneLen(r) }
func inCharacters(rune) int { return 1 }

// fromUTF16 converts a column of a line from UTF-16 units.
func fromUTF16(line string, column int, unit func(rune) int) int {
	converted, units := 0, 0
	for _, r := range line {
		if units >= column {
			return converted
		}
		if r == utf8.RuneError {
			converted++
		} else {
			converted += unit(r)
		}
		units++
		if r > 0xFFFF {
			units++
		}
	}
	return converted + max(column-units, 0)
}

const (
	base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	vlqBits      = 5
	vlqContinues = 1 << vlqBits
	vlqMask      = vlqContinues - 1
)

var errMapping = errors.New("malformed source map")

// decodeMappings reads the mappings of a source map, leaving out those that
// name no original place.
func decodeMappings(text string) ([]segment, error) {
	var segments []segment
	var at segment
	for line := range strings.SplitSeq(text, ";") {
		at.generatedColumn = 0
		for field := range strings.SplitSeq(line, ",") {
			if field == "" {
				continue
			}
			values, err := decodeVLQ(field)
			if err != nil {
				return nil, err
			}
			at.generatedColumn += values[0]
			if len(values) >= 4 { // values[1] is the source: there is but one
				at.originalLine += values[2]
				at.originalColumn += values[3]
				segments = append(segments, at)
			}
		}
		at.generatedLine++
	}
	return segments, nil
}

func decodeVLQ(field string) ([]int, error) {
	var values []int
	value, shift := 0, 0
	for i := range len(field) {
		digit := strings.IndexByte(base64Digits, field[i])
		if digit < 0 || shift > 30 {
			return nil, errMapping
		}
		value |= digit & vlqMask << shift
		shift += vlqBits
		if digit&vlqContinues != 0 {
			continue
		}
		if value&1 != 0 {
			value = -value
		}
		values = append(values, value/2)
		value, shift = 0, 0
	}
	if len(values) == 0 || shift != 0 {
		return nil, errMapping
	}
	return values, nil
}

func encodeMappings(segments []segment) string {
	var text strings.Builder
	var before segment
	separator := ""
	for _, s := range segments {
		for before.generatedLine < s.generatedLine {
			text.WriteByte(';')
			before.generatedLine++
			before.generatedColumn = 0
			separator = ""
		}
		text.WriteString(separator)
		separator = ","
		encodeVLQ(&text, s.generatedColumn-before.generatedColumn)
		encodeVLQ(&text, 0)
		encodeVLQ(&text, s.originalLine-before.originalLine)
		encodeVLQ(&text, s.originalColumn-before.originalColumn)
		before = s
	}
	return text.String()
}

func encodeVLQ(text *strings.Builder, value int) {
	rest := value << 1
	if value < 0 {
		rest = -value<<1 | 1
	}
	for {
		digit := rest & vlqMask
		rest >>= vlqBits
		if rest > 0 {
			digit |= vlqContinues
		}
		text.WriteByte(base64Digits[digit])
		if rest == 0 {
			return
		}
	}
}
