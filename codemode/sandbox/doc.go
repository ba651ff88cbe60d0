// Package sandbox is what runs inside a child process: TypeScript becomes a
// program (esbuild), the program runs (goja), and its calls go to the parent.
//
// A program that runs snippets calls [ChildMain] first thing in main. In the
// parent it returns at once; in a child it locks the process in and serves the
// parent until that closes the child's standard input.
//
// It is the only package that imports esbuild and goja. Both can be made to hang
// or to take their process down by a few kilobytes of source, which is why
// nothing here runs in the parent: see codemode/engine.
package sandbox
