package config

import "strings"

// declarations reads what is declared of the tools of a source, by the ids of those
// that write. What else is wrong with one whose fields are right, compile says.
func declarations[D, C any](v value, namespace string, read func(write string, entry value) D, compile func(D) (C, error)) []D {
	var all []D
	v.entries(func(write string, entry value) {
		before := len(entry.problems)
		d := read(write, entry)
		if !strings.HasPrefix(write, namespace+".") {
			entry.problem("want the id of a tool of this source, such as %s.create", namespace)
		}
		if len(entry.problems) > before {
			return
		}
		if _, err := compile(d); err != nil {
			entry.problem("%s", err)
			return
		}
		all = append(all, d)
	})
	return all
}

// toolOf reads the id of a tool of a source, such as one of the name given.
func (v value) toolOf(namespace, name string) string {
	id := v.text()
	if id != "" && !strings.HasPrefix(id, namespace+".") {
		v.problem("want a tool of the same source, such as %s.%s", namespace, name)
	}
	return id
}

// mapping reads the expressions that make an input, by the names of its members.
func (v value) mapping(into map[string]string) {
	v.entries(func(name string, entry value) { into[name] = entry.text() })
}
