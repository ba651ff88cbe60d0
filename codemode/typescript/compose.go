package typescript

import (
	"strings"

	"github.com/heddle-dev/heddle/codemode/schema"
)

// alternatives is the union of what anyOf or oneOf offers.
func (t *types) alternatives(s *schema.Value, keyword string, depth int) *typ {
	union := &typ{op: opUnion}
	tagName := s.Get("discriminator").Get("propertyName").Str()
	for _, branch := range s.Get(keyword).Elements() {
		member := t.schema(branch, depth+1)
		if tagName != "" && !t.tagged(branch, tagName) {
			member = t.tag(member, tagName, t.tagsOf(s, branch))
		}
		union.parts = append(union.parts, member)
	}
	if len(union.parts) == 0 {
		return t.lost(s, keyword, "offers no alternative")
	}
	return union
}

// tagged says whether a branch fixes the discriminating property itself.
func (t *types) tagged(branch *schema.Value, name string) bool {
	for range maxHops {
		property := branch.Get("properties").Get(name)
		if property.Has("const") || property.Has("enum") {
			return true
		}
		for _, part := range branch.Get("allOf").Elements() {
			if property := part.Get("properties").Get(name); property.Has("const") || property.Has("enum") {
				return true
			}
		}
		ref := branch.Get("$ref")
		if !ref.Is(schema.String) {
			return false
		}
		target, err := t.doc.Resolve(branch, ref.Text)
		if err != nil {
			return false
		}
		branch = target
	}
	return false
}

// tagsOf are the values of the discriminating property that choose a branch: those
// that the mapping gives, or the branch's own name.
func (t *types) tagsOf(s, branch *schema.Value) []string {
	ref := branch.Get("$ref").Str()
	if ref == "" {
		return nil
	}
	target, err := t.doc.Resolve(branch, ref)
	if err != nil {
		return nil
	}
	var tags []string
	for _, m := range s.Get("discriminator").Get("mapping").Fields() {
		if t.chooses(s, m.Value.Str(), target) {
			tags = append(tags, m.Name)
		}
	}
	path := target.Path()
	if len(tags) == 0 && len(path) > 0 {
		tags = append(tags, path[len(path)-1])
	}
	return tags
}

// chooses says whether an entry of a mapping, a reference or a bare name, means
// the target. A schema that was moved keeps its name.
func (t *types) chooses(s *schema.Value, entry string, target *schema.Value) bool {
	if mapped, err := t.doc.Resolve(s, entry); err == nil && strings.Contains(entry, "#") {
		return mapped == target
	}
	path := target.Path()
	return len(path) > 0 && entry[strings.LastIndexByte(entry, '/')+1:] == path[len(path)-1]
}

// tag adds the discriminating property to a member of a union.
func (t *types) tag(member *typ, name string, values []string) *typ {
	if len(values) == 0 {
		return member
	}
	union := &typ{op: opUnion}
	for _, value := range values {
		union.parts = append(union.parts, &typ{op: opLiteral, text: quote(value), kinds: kindString})
	}
	tag := &typ{op: opObject, object: &object{fields: []*field{{name: name, typ: union}}}}
	d := member.docs
	member.docs = docs{}
	return &typ{op: opIntersection, parts: []*typ{member, tag}, docs: d}
}
