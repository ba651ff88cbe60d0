package codemode_test

import "testing"

// BenchmarkReads is a snippet that reads two hundred times, from its start to its
// report: one after the other, and at once.
func BenchmarkReads(b *testing.B) {
	for name, source := range map[string]string{
		"sequential": `for (let i = 0; i < 200; i++) await test.get({ name: "n" })`,
		"parallel":   `await Promise.all(Array.from({ length: 200 }, () => test.get({ name: "n" })))`,
		"none":       `return 1`,
	} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			for b.Loop() {
				w.end(w.run(stretch(source)))
			}
		})
	}
}
