package config

import (
	"strings"

	"github.com/heddle-dev/heddle/catalog/lookup"
)

// readLookups reads how to find out what became of writes of a source, by the ids of
// the tools that write.
func readLookups(v value, namespace string) []lookup.Declaration {
	var lookups []lookup.Declaration
	v.entries(func(write string, entry value) {
		d := lookup.Declaration{Write: write, Input: map[string]string{}}
		entry.fields(
			field{name: "read", required: true, read: func(v value) {
				if d.Read = v.text(); d.Read != "" && !strings.HasPrefix(d.Read, namespace+".") {
					v.problem("want a tool of the same source, such as %s.get", namespace)
				}
			}},
			field{name: "input", read: func(v value) {
				v.entries(func(name string, entry value) { d.Input[name] = entry.text() })
			}},
			field{name: "applied", required: true, read: func(v value) { d.Applied = v.text() }},
			field{name: "not_applied", read: func(v value) { d.NotApplied = v.text() }},
			field{name: "result", read: func(v value) { d.Result = v.text() }},
		)
		if !strings.HasPrefix(write, namespace+".") {
			entry.problem("want the id of a tool of this source, such as %s.create", namespace)
			return
		}
		if d.Read == "" || d.Applied == "" {
			return // said already
		}
		if _, err := lookup.Compile(d); err != nil {
			entry.problem("%s", err)
			return
		}
		lookups = append(lookups, d)
	})
	return lookups
}
