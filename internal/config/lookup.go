package config

import "github.com/heddle-dev/heddle/catalog/lookup"

// readLookups reads how to find out what became of writes of a source, by the ids of
// the tools that write.
func readLookups(v value, namespace string) []lookup.Declaration {
	return declarations(v, namespace, func(write string, entry value) lookup.Declaration {
		d := lookup.Declaration{Write: write, Input: map[string]string{}}
		entry.fields(
			field{name: "read", required: true, read: func(v value) { d.Read = v.toolOf(namespace, "get") }},
			field{name: "input", read: func(v value) { v.mapping(d.Input) }},
			field{name: "applied", required: true, read: func(v value) { d.Applied = v.text() }},
			field{name: "not_applied", read: func(v value) { d.NotApplied = v.text() }},
			field{name: "result", read: func(v value) { d.Result = v.text() }},
		)
		return d
	}, lookup.Compile)
}
