package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Form is the JSON Schema of an answer: an object of plain fields, as the Model
// Context Protocol has it for elicitation. A field is a string (minLength, maxLength,
// format email, uri, date or date-time), a number or an integer (minimum, maximum), a
// boolean, one of several strings (enum, or oneOf with const and title), or several of
// them (an array whose items have enum, or anyOf with const and title; minItems,
// maxItems). Fields may have a title, a description and a default. Other keywords are
// not looked at: who asks looks at the answer again.
//
// A form is checked where a question is asked, where it is answered, and in the
// thread, which has to come to the same end each time: so it uses nothing but its
// input, and a change to what it accepts is a change of the workflow.
type Form struct {
	// Fields are in the order of the schema.
	Fields []Field
}

// Field is one field of a form.
type Field struct {
	Name, Title, Description string
	// Type is string, number, integer, boolean or array.
	Type     string
	Required bool
	Format   string
	// Choices are the strings of which a string, or each of an array, must be one.
	Choices []Choice
	// Default is what the answer has where it leaves the field out.
	Default json.RawMessage
	// Min and Max bound a number, the characters of a string or the length of an
	// array. Nil: nothing does.
	Min, Max *float64
}

// Choice is a string that may be chosen, and its name for people.
type Choice struct {
	Value string `json:"const"`
	Title string `json:"title"`
}

// MaxFields bounds the fields of a form.
const MaxFields = 64

// objectSchema and fieldSchema are the schemas as they are written.
type objectSchema struct {
	Type       string   `json:"type"`
	Properties members  `json:"properties"`
	Required   []string `json:"required"`
}

type fieldSchema struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Format      string          `json:"format"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []Choice        `json:"oneOf"`
	AnyOf       []Choice        `json:"anyOf"`
	Items       *fieldSchema    `json:"items"`
	Default     json.RawMessage `json:"default"`
	MinLength   *float64        `json:"minLength"`
	MaxLength   *float64        `json:"maxLength"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinItems    *float64        `json:"minItems"`
	MaxItems    *float64        `json:"maxItems"`
}

// ParseForm reads the schema of an answer. The error names what of it is no form.
func ParseForm(schema json.RawMessage) (Form, error) {
	var object objectSchema
	if len(schema) > MaxQuestionSchema {
		return Form{}, fmt.Errorf("schema: is %d bytes long, at most %d are allowed", len(schema), MaxQuestionSchema)
	}
	if err := json.Unmarshal(schema, &object); err != nil {
		return Form{}, fmt.Errorf("schema: %w", err)
	}
	if object.Type != "object" {
		return Form{}, fmt.Errorf("schema.type: %q, want \"object\"", object.Type)
	}
	if len(object.Properties) > MaxFields {
		return Form{}, fmt.Errorf("schema.properties: %d fields, at most %d are allowed", len(object.Properties), MaxFields)
	}
	var form Form
	for _, property := range object.Properties {
		field, err := parseField(property)
		if err != nil {
			return Form{}, err
		}
		form.Fields = append(form.Fields, field)
	}
	for _, name := range object.Required {
		field := form.field(name)
		if field == nil {
			return Form{}, fmt.Errorf("schema.required: names %q, which is no property", name)
		}
		field.Required = true
	}
	return form, nil
}

func (f Form) field(name string) *Field {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return &f.Fields[i]
		}
	}
	return nil
}

func parseField(property member) (Field, error) {
	at := "schema.properties." + property.name
	var schema fieldSchema
	if err := json.Unmarshal(property.value, &schema); err != nil {
		return Field{}, fmt.Errorf("%s: %w", at, err)
	}
	field := Field{
		Name: property.name, Title: schema.Title, Description: schema.Description, Type: schema.Type,
		Format: schema.Format, Default: schema.Default, Choices: schema.choices(),
	}
	switch schema.Type {
	case "string":
		field.Min, field.Max = schema.MinLength, schema.MaxLength
	case "number", "integer":
		field.Min, field.Max, field.Choices = schema.Minimum, schema.Maximum, nil
	case "boolean":
		field.Choices = nil
	case "array":
		field.Min, field.Max = schema.MinItems, schema.MaxItems
		if schema.Items == nil || len(schema.Items.choices()) == 0 {
			return Field{}, fmt.Errorf("%s: an array must say which strings its items can be", at)
		}
		field.Choices = schema.Items.choices()
	default:
		return Field{}, fmt.Errorf("%s.type: %q, want string, number, integer, boolean or array", at, schema.Type)
	}
	if len(field.Default) > 0 {
		if err := field.check(field.Default); err != nil {
			return Field{}, fmt.Errorf("%s.default: %w", at, err)
		}
	}
	return field, nil
}

func (s fieldSchema) choices() []Choice {
	for _, choices := range [][]Choice{s.OneOf, s.AnyOf} {
		if len(choices) > 0 {
			return choices
		}
	}
	var choices []Choice
	for i, value := range s.Enum {
		choice := Choice{Value: value}
		if i < len(s.EnumNames) {
			choice.Title = s.EnumNames[i]
		}
		choices = append(choices, choice)
	}
	return choices
}

// Fill checks the content of an answer and adds the defaults of what it leaves out.
// The error names the field that does not fit, as content.name.
func (f Form) Fill(content json.RawMessage) (json.RawMessage, error) {
	var given members
	if len(bytes.TrimSpace(content)) > 0 {
		if err := json.Unmarshal(content, &given); err != nil {
			return nil, fmt.Errorf("content: %w", err)
		}
	}
	for _, m := range given {
		if f.field(m.name) == nil {
			return nil, fmt.Errorf("content.%s: the question has no such field", m.name)
		}
	}
	var filled members
	for _, field := range f.Fields {
		value, ok := given.get(field.Name)
		switch {
		case ok:
			if err := field.check(value); err != nil {
				return nil, fmt.Errorf("content.%s: %w", field.Name, err)
			}
		case len(field.Default) > 0:
			value = field.Default
		case field.Required:
			return nil, fmt.Errorf("content.%s: is missing", field.Name)
		default:
			continue
		}
		filled = append(filled, member{field.Name, value})
	}
	return filled.encode()
}

// check says why a value is none of the field.
func (f Field) check(value json.RawMessage) error {
	var err error
	switch f.Type {
	case "string":
		var text string
		if err = json.Unmarshal(value, &text); err != nil || isNull(value) {
			return fmt.Errorf("want a string")
		}
		return f.checkText(text)
	case "boolean":
		if text := string(bytes.TrimSpace(value)); text != "true" && text != "false" {
			return fmt.Errorf("want true or false")
		}
		return nil
	case "array":
		var items []string
		if err = json.Unmarshal(value, &items); err != nil || isNull(value) {
			return fmt.Errorf("want a list of strings")
		}
		for i, item := range items {
			if !f.offers(item) {
				return fmt.Errorf("item %d: %s", i+1, f.wantChoice())
			}
		}
		return f.within(float64(len(items)), "items")
	}
	return f.checkNumber(strings.TrimSpace(string(value)))
}

func (f Field) checkNumber(text string) error {
	number, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsInf(number, 0) || math.IsNaN(number) || strings.ContainsAny(text, "xXpP_"):
		return fmt.Errorf("want a number")
	case f.Type == "integer" && number != math.Trunc(number):
		return fmt.Errorf("want a whole number")
	}
	return f.within(number, "")
}

func (f Field) checkText(text string) error {
	if len(f.Choices) > 0 && !f.offers(text) {
		return fmt.Errorf("%s", f.wantChoice())
	}
	if err := f.within(float64(utf8.RuneCountInString(text)), "characters"); err != nil {
		return err
	}
	var err error
	switch f.Format {
	case "email":
		name, host, _ := strings.Cut(text, "@")
		if name == "" || host == "" || strings.ContainsAny(text, " \t\r\n<>\"") || strings.Contains(host, "@") {
			return fmt.Errorf("want an email address")
		}
	case "uri":
		if !isURI(text) {
			return fmt.Errorf("want a URI, such as https://example.com/page")
		}
	case "date":
		if _, err = time.Parse(time.DateOnly, text); err != nil {
			return fmt.Errorf("want a date, such as 2026-11-30")
		}
	case "date-time":
		if _, err = time.Parse(time.RFC3339, text); err != nil {
			return fmt.Errorf("want a date and time, such as 2026-11-30T09:00:00Z")
		}
	}
	return nil
}

// isURI looks no further than at the scheme and the characters.
func isURI(text string) bool {
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || scheme == "" || rest == "" {
		return false
	}
	for i, c := range []byte(text) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		switch {
		case c <= ' ' || c >= 0x7f || strings.IndexByte("<>\"{}|\\^`", c) >= 0:
			return false
		case i < len(scheme) && !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')):
			return false
		}
	}
	return true
}

func (f Field) offers(text string) bool {
	for _, choice := range f.Choices {
		if choice.Value == text {
			return true
		}
	}
	return false
}

func (f Field) wantChoice() string {
	const shown = 20
	text := "want one of "
	for i, choice := range f.Choices {
		if i == shown {
			return text + fmt.Sprintf(" and %d more", len(f.Choices)-shown)
		}
		if i > 0 {
			text += ", "
		}
		text += strconv.Quote(choice.Value)
	}
	return text
}

// within checks a size or a number against the field's bounds.
func (f Field) within(n float64, of string) error {
	if of != "" {
		of = " " + of
	}
	switch {
	case f.Min != nil && n < *f.Min:
		return fmt.Errorf("want %v%s at least", *f.Min, of)
	case f.Max != nil && n > *f.Max:
		return fmt.Errorf("want %v%s at most", *f.Max, of)
	}
	return nil
}

func isNull(value json.RawMessage) bool { return string(bytes.TrimSpace(value)) == "null" }
