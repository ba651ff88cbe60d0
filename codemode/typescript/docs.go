package typescript

import (
	"math/big"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/codemode/schema"
)

const (
	// maxDoc bounds the text of a property or a type, in bytes.
	maxDoc = 2 << 10
	// maxTag bounds the value of a tag.
	maxTag = 120
	// maxExamples bounds the examples of a place.
	maxExamples = 3
)

// docs is what a schema says to people, fit for a comment.
type docs struct {
	text string
	tags []string
}

func (d docs) empty() bool { return d.text == "" && len(d.tags) == 0 }

// and completes docs with those of another part of the same schema.
func (d docs) and(other docs) docs {
	if d.text == "" {
		d.text = other.text
	}
	for _, tag := range other.tags {
		if !slices.Contains(d.tags, tag) {
			d.tags = append(d.tags, tag)
		}
	}
	return d
}

// tagged are the keywords whose values become tags as they are, in this order.
var tagged = []string{
	"format", "pattern", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength",
	"maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "contentEncoding",
	"contentMediaType",
}

// docsOf collects what a schema says.
func docsOf(s *schema.Value) docs {
	d := docs{text: comment(s.Get("description").Str(), maxDoc)}
	if title := s.Get("title").Str(); d.text == "" && telling(title, s) {
		d.text = comment(title, maxTag)
	}
	if s.Get("deprecated").True() {
		d.tags = append(d.tags, "@deprecated")
	}
	if integer(s) {
		d.tags = append(d.tags, "@integer")
	}
	for _, keyword := range tagged {
		if v := s.Get(keyword); v != nil && !v.False() && v.Kind != schema.Object {
			d.tags = append(d.tags, tag(keyword, v))
		}
	}
	if wide(s) {
		d.tags = append(d.tags, "@remarks exact up to 9007199254740991 (2^53 - 1)")
	}
	if v := s.Get("default"); v != nil {
		d.tags = append(d.tags, tag("default", v))
	}
	return d.and(docs{tags: examples(s)})
}

func tag(name string, v *schema.Value) string {
	if name != "default" && name != "example" { // a constraint: its value is no JSON
		switch v.Kind {
		case schema.Bool:
			return "@" + name
		case schema.String:
			return "@" + name + " " + remark(v.Text, maxTag)
		}
	}
	text, _ := v.JSON(2 * maxTag)
	return "@" + name + " " + remark(text, maxTag)
}

func examples(s *schema.Value) []string {
	list := s.Get("examples").Elements()
	if v := s.Get("example"); v != nil {
		list = []*schema.Value{v}
	}
	var tags []string
	for _, v := range list[:min(len(list), maxExamples)] {
		tags = append(tags, tag("example", v))
	}
	return tags
}

// telling says whether a title says more than the name of what it entitles.
func telling(title string, s *schema.Value) bool {
	path := s.Path()
	if len(path) == 0 {
		return title != ""
	}
	return fold(title) != fold(path[len(path)-1]) && title != ""
}

var separators = strings.NewReplacer(" ", "", "_", "", "-", "")

func fold(s string) string { return separators.Replace(strings.ToLower(s)) }

func integer(s *schema.Value) bool {
	t := s.Get("type")
	return t.Str() == "integer" || slices.Contains(t.Strings(), "integer") && !slices.Contains(t.Strings(), "number")
}

// wide says whether integers may be beyond what a number holds exactly.
func wide(s *schema.Value) bool {
	if !integer(s) {
		return false
	}
	switch s.Get("format").Str() {
	case "int64", "uint64", "bigint":
		return true
	}
	return inexact(s.Get("maximum")) || inexact(s.Get("minimum"))
}

// inexact says whether a number is an integer of more than 53 bits.
func inexact(v *schema.Value) bool {
	if !v.Is(schema.Number) || len(v.Text) > 400 {
		return v.Is(schema.Number)
	}
	n, ok := new(big.Int).SetString(v.Text, 10)
	return ok && n.CmpAbs(big.NewInt(1<<53-1)) > 0
}
