package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/dop251/goja"
)

// expandProperties spells out the Unicode properties of a regular expression with
// the flag u: \p{L} becomes the ranges of all letters. It gives an array of a
// problem, or empty, and the expanded source.
func (x *execution) expandProperties(call goja.FunctionCall) goja.Value {
	expanded, err := expandProperties(call.Argument(0).String())
	if err != nil {
		return x.rt.NewArray(err.Error(), "")
	}
	return x.rt.NewArray("", expanded)
}

func expandProperties(source string) (string, error) {
	var out strings.Builder
	inClass := false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\' && i+1 < len(source) && (source[i+1] == 'p' || source[i+1] == 'P'):
			name, ok := strings.CutPrefix(source[i+2:], "{")
			end := strings.IndexByte(name, '}')
			if !ok || end < 0 {
				return "", fmt.Errorf("invalid property name")
			}
			ranges, err := propertyRanges(name[:end])
			if err != nil {
				return "", err
			}
			if source[i+1] == 'P' {
				ranges = complement(ranges)
			}
			writeRanges(&out, ranges, inClass)
			i += len(`p{`) + end + 1
		case c == '\\' && i+1 < len(source):
			out.WriteString(source[i : i+2])
			i++
		default:
			if c == '[' {
				inClass = true
			} else if c == ']' {
				inClass = false
			}
			out.WriteByte(c)
		}
	}
	return out.String(), nil
}

// writeRanges writes pairs of first and last code point as a class, or as a part
// of the class around.
func writeRanges(out *strings.Builder, ranges []rune, inClass bool) {
	if !inClass {
		out.WriteByte('[')
		defer out.WriteByte(']')
	}
	for i := 0; i < len(ranges); i += 2 {
		for _, part := range withoutSurrogates(ranges[i], ranges[i+1]) {
			if part[0] == part[1] {
				fmt.Fprintf(out, `\u{%x}`, part[0])
			} else {
				fmt.Fprintf(out, `\u{%x}-\u{%x}`, part[0], part[1])
			}
		}
	}
}

const (
	firstSurrogate, lastSurrogate = 0xD800, 0xDFFF
)

// withoutSurrogates cuts out what is no character on its own.
func withoutSurrogates(first, last rune) [][2]rune {
	var parts [][2]rune
	if before := min(last, firstSurrogate-1); first <= before {
		parts = append(parts, [2]rune{first, before})
	}
	if after := max(first, lastSurrogate+1); after <= last {
		parts = append(parts, [2]rune{after, last})
	}
	return parts
}

func complement(ranges []rune) []rune {
	var rest []rune
	next := rune(0)
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] > next {
			rest = append(rest, next, ranges[i]-1)
		}
		next = ranges[i+1] + 1
	}
	if next <= unicode.MaxRune {
		rest = append(rest, next, unicode.MaxRune)
	}
	return rest
}

// propertyRanges finds what a property stands for, as sorted pairs of first and
// last code point.
func propertyRanges(text string) ([]rune, error) {
	name, value, hasValue := strings.Cut(text, "=")
	switch {
	case hasValue && (name == "Script" || name == "sc"):
		if table, ok := unicode.Scripts[value]; ok {
			return tableRanges(table), nil
		}
	case hasValue && (name == "General_Category" || name == "gc"):
		if table := category(value); table != nil {
			return tableRanges(table), nil
		}
	case hasValue && (name == "Script_Extensions" || name == "scx"):
		return nil, fmt.Errorf("the property %s is not available in a snippet: use Script", name)
	case hasValue:
	case name == "Any":
		return []rune{0, unicode.MaxRune}, nil
	case name == "ASCII":
		return []rune{0, unicode.MaxASCII}, nil
	case name == "Assigned":
		var all []*unicode.RangeTable
		for _, major := range []string{"C", "L", "M", "N", "P", "S", "Z"} {
			all = append(all, unicode.Categories[major])
		}
		return tableRanges(all...), nil
	case emojiProperties[name] != nil:
		return emojiProperties[name], nil
	default:
		if table := category(name); table != nil {
			return tableRanges(table), nil
		}
		if tables := binaryProperty(name); tables != nil {
			return tableRanges(tables...), nil
		}
	}
	return nil, fmt.Errorf("the property %s is not known or not available in a snippet", text)
}

func category(name string) *unicode.RangeTable {
	if short, ok := unicode.CategoryAliases[name]; ok {
		name = short
	}
	if name == "LC" {
		return nil
	}
	return unicode.Categories[name]
}

// binaryProperty gives the tables that make up a property together.
func binaryProperty(name string) []*unicode.RangeTable {
	switch name {
	case "Alphabetic", "Alpha":
		return []*unicode.RangeTable{unicode.L, unicode.Nl, unicode.Other_Alphabetic}
	case "Lowercase", "Lower":
		return []*unicode.RangeTable{unicode.Ll, unicode.Other_Lowercase}
	case "Uppercase", "Upper":
		return []*unicode.RangeTable{unicode.Lu, unicode.Other_Uppercase}
	case "ID_Start", "IDS":
		return []*unicode.RangeTable{unicode.L, unicode.Nl, unicode.Other_ID_Start}
	case "ID_Continue", "IDC":
		return []*unicode.RangeTable{unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue}
	case "Cased_Letter", "LC":
		return []*unicode.RangeTable{unicode.Lu, unicode.Ll, unicode.Lt}
	case "space":
		name = "White_Space"
	case "AHex":
		name = "ASCII_Hex_Digit"
	case "Hex":
		name = "Hex_Digit"
	}
	if strings.HasPrefix(name, "Other_") {
		return nil
	}
	if table, ok := unicode.Properties[name]; ok {
		return []*unicode.RangeTable{table}
	}
	return nil
}

// tableRanges joins tables into sorted pairs that do not touch.
func tableRanges(tables ...*unicode.RangeTable) []rune {
	var pairs [][2]rune
	add := func(first, last, stride rune) {
		if stride == 1 {
			pairs = append(pairs, [2]rune{first, last})
			return
		}
		for r := first; r <= last; r += stride {
			pairs = append(pairs, [2]rune{r, r})
		}
	}
	for _, table := range tables {
		for _, r := range table.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride)) //nolint:gosec // code points
		}
	}
	slices.SortFunc(pairs, func(a, b [2]rune) int { return cmp.Compare(a[0], b[0]) })
	var ranges []rune
	for _, pair := range pairs {
		if end := len(ranges) - 1; end >= 0 && pair[0] <= ranges[end]+1 {
			ranges[end] = max(ranges[end], pair[1])
			continue
		}
		ranges = append(ranges, pair[0], pair[1])
	}
	return ranges
}
