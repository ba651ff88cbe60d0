package typescript

import "github.com/heddle-dev/heddle/codemode/schema"

// maxHops bounds the references that are followed to learn one thing.
const maxHops = 8

// object is the type of a JSON object.
func (t *types) object(s *schema.Value, depth int) *typ {
	o := &object{}
	additional := s.Get("additionalProperties")
	required := map[string]bool{}
	for _, name := range s.Get("required").Strings() {
		required[name] = true
	}
	for _, m := range s.Get("properties").Fields() {
		if t.leavesOut(m.Value) {
			if required[m.Name] {
				t.degrade(m.Value, "", "is required, and left out of the "+t.side.String()+" all the same: it is "+t.omits()+" there")
			}
			delete(required, m.Name)
			continue
		}
		o.fields = append(o.fields, &field{m.Name, t.schema(m.Value, depth+1), !required[m.Name]})
		delete(required, m.Name)
	}
	for _, name := range s.Get("required").Strings() {
		if required[name] { // and described by nothing but what holds for all keys
			delete(required, name)
			o.fields = append(o.fields, &field{name: name, typ: t.undescribed(additional, depth)})
		}
	}
	t.keys(o, s, depth)
	return &typ{op: opObject, object: o}
}

// undescribed is the type of a property that is required and not described.
func (t *types) undescribed(additional *schema.Value, depth int) *typ {
	if additional.Is(schema.Object) {
		return t.schema(additional, depth+1)
	}
	return unknown("")
}

// keys adds what a schema says of keys that it does not name.
func (t *types) keys(o *object, s *schema.Value, depth int) {
	for _, m := range s.Get("patternProperties").Fields() {
		o.keys = append(o.keys, keyType{m.Name, t.schema(m.Value, depth+1)})
	}
	additional := s.Get("additionalProperties")
	switch {
	case additional.False():
		o.closed = len(o.keys) == 0
	case additional.Schema():
		o.keys = append(o.keys, keyType{"", t.schema(additional, depth+1)})
	case len(o.keys) > 0:
		o.keys = append(o.keys, keyType{"", unknown("")})
	}
}

// omits is the keyword that takes a property out of this side.
func (t *types) omits() string {
	if t.side == output {
		return "writeOnly"
	}
	return "readOnly"
}

// leavesOut says whether a property is none of this side's, by its own word or
// that of the schema it refers to.
func (t *types) leavesOut(s *schema.Value) bool {
	for range maxHops {
		if s.Get(t.omits()).True() {
			return true
		}
		ref := s.Get("$ref")
		if !ref.Is(schema.String) {
			return false
		}
		target, err := t.doc.Resolve(s, ref.Text)
		if err != nil {
			return false
		}
		s = target
	}
	return false
}
