package schematest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Generator makes schemas and values. The same seed makes the same ones.
type Generator struct {
	// Hostile adds what no honest author writes.
	Hostile bool
	// Plain leaves out what a type cannot follow: objects without a type, and
	// properties that belong to one side of a call.
	Plain bool

	rand *rand.Rand
	// defs are how many definitions the schema being made has.
	defs int
}

// New makes a generator.
func New(seed uint64) *Generator {
	return &Generator{rand: rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // random tests, not secrets
}

// Schema makes a schema of an object.
func (g *Generator) Schema() json.RawMessage {
	g.defs = g.rand.IntN(4)
	var members []string
	if dialect := g.dialect(); dialect != "" {
		members = append(members, member("$schema", quote(dialect)))
	}
	members = append(members, g.object(3)...)
	if g.defs > 0 {
		var defs []string
		for i := range g.defs {
			defs = append(defs, member(fmt.Sprintf("D%d", i), g.schema(2)))
		}
		members = append(members, member("$defs", object(defs)))
	}
	return json.RawMessage(object(members))
}

// dialect is a $schema, or none.
func (g *Generator) dialect() string {
	return g.pick("", "", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#",
		"https://json-schema.org/draft/2019-09/schema")
}

// schema makes any schema, nested at most so deep.
func (g *Generator) schema(depth int) string {
	if g.Hostile && g.one(25) {
		return g.pick("null", "7", `"string"`, "[]", `{"type":"file"}`, `{"type":7}`, `{"$ref":"#/nowhere"}`, `{"$ref":7}`,
			`{"$ref":"https://example.com/s.json"}`, `{"enum":[]}`, `{"anyOf":[]}`, `{"$ref":"#"}`, `{"$dynamicRef":"#x"}`,
			`{"allOf":[{"type":"string"},{"type":"number"}]}`, `{"properties":null}`, `{"required":7,"type":"object"}`)
	}
	if depth <= 0 {
		return g.scalar()
	}
	switch g.rand.IntN(14) {
	case 0, 1, 2:
		return object(g.object(depth - 1))
	case 3:
		return object(g.array(depth - 1))
	case 4:
		return g.composed(depth - 1)
	case 5:
		if g.defs > 0 {
			return g.reference()
		}
	case 6:
		return g.pick("true", "false", "{}")
	}
	return g.scalar()
}

func (g *Generator) reference() string {
	members := []string{member("$ref", quote(fmt.Sprintf("#/$defs/D%d", g.rand.IntN(g.defs))))}
	if g.one(4) {
		members = append(members, g.docs()...)
	}
	if g.one(6) {
		members = append(members, member("maxProperties", "3"))
	}
	return object(members)
}

func (g *Generator) composed(depth int) string {
	keyword := g.pick("anyOf", "anyOf", "oneOf", "oneOf", "allOf", "not", "if")
	if keyword == "not" || keyword == "if" {
		return object([]string{member(keyword, g.schema(depth)), member("then", g.schema(0))})
	}
	var branches []string
	for range 1 + g.rand.IntN(3) {
		branches = append(branches, g.schema(depth))
	}
	members := []string{member(keyword, "["+strings.Join(branches, ",")+"]")}
	if g.one(3) {
		members = append(members, g.object(depth-1)...)
	}
	if keyword == "oneOf" && g.one(2) {
		members = append(members, member("discriminator", `{"propertyName":"kind","mapping":{"a":"#/$defs/D0","b":"D1"}}`))
	}
	return object(members)
}

// object makes the keywords of an object's schema.
func (g *Generator) object(depth int) []string {
	var members, properties, names []string
	if g.Plain || !g.one(8) {
		members = append(members, member("type", g.pick(`"object"`, `"object"`, `"object"`, `["object","null"]`)))
	}
	for range g.rand.IntN(5) {
		name := g.name()
		if g.one(2) {
			names = append(names, quote(name))
		}
		properties = append(properties, member(name, g.schema(depth)))
	}
	members = append(members, member("properties", object(unique(properties))))
	if g.one(12) {
		names = append(names, quote("undescribed"))
	}
	if len(names) > 0 {
		members = append(members, member("required", "["+strings.Join(unique(names), ",")+"]"))
	}
	switch g.rand.IntN(5) {
	case 0, 1:
		members = append(members, member("additionalProperties", "false"))
	case 2:
		members = append(members, member("additionalProperties", g.schema(depth-1)))
	}
	if g.one(10) {
		members = append(members, member("patternProperties", object([]string{member("^x-", g.schema(0))})))
	}
	return append(members, g.docs()...)
}

func (g *Generator) array(depth int) []string {
	members := []string{member("type", `"array"`)}
	switch g.rand.IntN(4) {
	case 0:
		members = append(members, member("prefixItems", "["+g.schema(depth)+","+g.schema(0)+"]"))
		if g.one(2) {
			members = append(members, member("items", g.pick("false", `{"type":"string"}`)))
		}
	case 1:
	default:
		members = append(members, member("items", g.schema(depth)))
	}
	if g.one(4) {
		members = append(members, member("minItems", "1"), member("maxItems", strconv.Itoa(1+g.rand.IntN(3))))
	}
	return append(members, g.docs()...)
}

func (g *Generator) scalar() string {
	var members []string
	switch g.rand.IntN(9) {
	case 0, 1:
		members = append(members, member("type", `"string"`))
		if g.one(4) {
			members = append(members, member("minLength", "2"), member("maxLength", "4"))
		}
		if g.one(8) {
			members = append(members, member("pattern", quote(g.pick("^a", `^\d+$`, "^(?=b)b"))))
		}
	case 2:
		members = append(members, member("type", `"integer"`))
		if g.one(4) {
			members = append(members, member("minimum", "1"), member("maximum", g.pick("10", "9223372036854775807")))
		}
	case 3:
		members = append(members, member("type", `"number"`))
		if g.one(4) {
			members = append(members, member("exclusiveMinimum", "0"), member("multipleOf", "0.5"))
		}
	case 4:
		members = append(members, member("type", `"boolean"`))
	case 5:
		members = append(members, member("enum", g.pick(`["a","b"]`, `["a",1,null]`, `[{"a":1},[1,2]]`, `[true]`)))
		if g.one(2) {
			members = append(members, member("type", `"string"`))
		}
	case 6:
		members = append(members, member("const", g.pick(`"a"`, "1", "null", `{"a":"b"}`, "1.0", "9007199254740993", "-0", "1e3")))
	case 7:
		members = append(members, member("type", g.pick(`["string","null"]`, `["integer","string"]`, `["number","integer"]`, `"null"`)))
	default:
	}
	if g.one(10) {
		members = append(members, member("nullable", "true"))
	}
	return object(append(members, g.docs()...))
}

// docs makes what a schema says to people.
func (g *Generator) docs() []string {
	var members []string
	if g.one(3) {
		members = append(members, member("description", quote(g.text())))
	}
	if g.one(12) {
		members = append(members, member("default", g.pick("1", `"a"`, "null", `{"a":[1,2]}`)))
	}
	if !g.Plain && g.one(15) {
		members = append(members, member(g.pick("readOnly", "writeOnly", "deprecated"), "true"))
	}
	return members
}

func (g *Generator) name() string {
	if g.Hostile && g.one(3) {
		return hostile[g.rand.IntN(len(hostile))]
	}
	return g.pick("a", "b", "c", "kind", "id", "x-y", "2fa", "class", "items", "$ref_", "ключ", "x-z", "")
}

func (g *Generator) text() string {
	if g.Hostile && g.one(2) {
		return hostile[g.rand.IntN(len(hostile))]
	}
	return g.pick("The id.", "A name\nin two lines", "é ü 漢", "- a\n- b")
}

// one is true once in n times.
func (g *Generator) one(n int) bool { return g.rand.IntN(n) == 0 }

func (g *Generator) pick(options ...string) string { return options[g.rand.IntN(len(options))] }

// hostile are texts that try to be more than text.
var hostile = []string{
	"*/ evil(); /*", `"; evil(); "`, "`${evil()}`", "a\nb", "\r\n@ts-ignore", "@ts-expect-error", "// @ts-nocheck",
	"*\u200b/", "\u202egnitsrever", "\u2028", "\x00\x1b[31m", "</script>", "__proto__", "constructor", "\\", "\\u0041", "new",
	"*/", "/*", "*\\/", "[key: string]: never", "toString", "\U000e0041\U000e0042", "a\u00a0b", "\ufeff", "\U0001f600\ufe0f",
	strings.Repeat("long ", 300), "get", "readonly", "/// <reference path='x'/>", "#!/bin/sh", "\ufffd", "1e3", "-1", "0x10", "'",
}

func member(name, value string) string { return quote(name) + ":" + value }

func object(members []string) string { return "{" + strings.Join(unique(members), ",") + "}" }

// unique drops members whose name, and other texts, came before.
func unique(members []string) []string {
	seen := map[string]bool{}
	var kept []string
	for _, m := range members {
		name, _, _ := strings.Cut(m, `":`)
		if !seen[name] {
			seen[name] = true
			kept = append(kept, m)
		}
	}
	return kept
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}
