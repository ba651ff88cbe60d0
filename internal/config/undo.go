package config

import "github.com/heddle-dev/heddle/catalog/undo"

// readUndos reads how writes of a source are undone, by the ids of the tools that
// write.
func readUndos(v value, namespace string) []undo.Declaration {
	return declarations(v, namespace, func(write string, entry value) undo.Declaration {
		d := undo.Declaration{Write: write, Input: map[string]string{}}
		entry.fields(
			field{name: "tool", required: true, read: func(v value) { d.Tool = v.toolOf(namespace, "delete") }},
			field{name: "input", read: func(v value) { v.mapping(d.Input) }},
		)
		return d
	}, undo.Compile)
}
