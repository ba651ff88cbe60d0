package sandbox

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

var fence = regexp.MustCompile("^[ \t]*(```+|~~~+)[ \t]*[\\w.+-]*[ \t]*\r?$")

// unfence takes a snippet out of a Markdown fence that begins on its first line
// with text. Lines keep their numbers: those of the fence and after are blank.
func unfence(source string) string {
	lines := strings.Split(source, "\n")
	first := 0
	for first < len(lines) && strings.TrimSpace(lines[first]) == "" {
		first++
	}
	if first == len(lines) {
		return source
	}
	open := fence.FindStringSubmatch(lines[first])
	if open == nil {
		return source
	}
	lines[first] = ""
	for i := first + 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == open[1] {
			clear(lines[i:])
			break
		}
	}
	return strings.Join(lines, "\n")
}

var droppedTail = regexp.MustCompile(`(?:^|[;{}])\s*(undefined|void 0|NaN)\s*;?\s*$`)

// returnDropped returns a last expression that esbuild would leave out, because
// it does nothing, and with it the one before would become the last.
func returnDropped(source string) string {
	if found := droppedTail.FindStringSubmatch(source); found != nil {
		return source + "\nreturn " + found[1]
	}
	return source
}

var (
	exportDefault = regexp.MustCompile(`^export[ \t]+default\b`)
	exportNamed   = regexp.MustCompile(`^export\s+(const|let|var|function|async|class|abstract|type|interface|enum|declare)\b`)
	importType    = regexp.MustCompile(`^import\s+type\s[^;'"]*\bfrom\s*(?:'[^'\n]*'|"[^"\n]*");?`)
	anyImport     = regexp.MustCompile(`^import\b`)
)

// rewriteModuleSyntax takes away the module syntax that esbuild stumbled over at
// an offset, if it is of a kind that has a meaning in a snippet: exports, and
// imports of types. All else keeps its place.
func rewriteModuleSyntax(source string, offset int) (string, bool) {
	start := strings.LastIndexByte(source[:offset], '\n') + 1
	start += len(source[start:]) - len(strings.TrimLeft(source[start:], " \t"))
	for _, at := range []int{offset, start} {
		rest := source[at:]
		switch {
		case exportDefault.MatchString(rest):
			found := exportDefault.FindString(rest)
			assignment := defaultName + " ="
			return source[:at] + assignment + strings.Repeat(" ", len(found)-len(assignment)) + rest[len(found):], true
		case exportNamed.MatchString(rest):
			return source[:at] + blank("export") + rest[len("export"):], true
		case importType.MatchString(rest):
			found := importType.FindString(rest)
			return source[:at] + blank(found) + rest[len(found):], true
		}
	}
	return source, false
}

// blank is text that takes the same place and says nothing.
func blank(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return r
		}
		return ' '
	}, text)
}

// syntaxProblem says what esbuild found wrong with a snippet, in the words of
// somebody who does not know about the function around it.
func syntaxProblem(source, text string, at place) *snippet.Error {
	problem := &snippet.Error{Code: snippet.CodeSyntax, Name: "SyntaxError", Message: text}
	if at.Line > 0 {
		problem.Position = &at.Position
	}
	start := strings.LastIndexByte(source[:at.offset], '\n') + 1
	line, _, _ := strings.Cut(source[start:], "\n")
	before := strings.TrimSpace(source[start:at.offset])
	switch statement := strings.TrimSpace(line); {
	case anyImport.MatchString(statement):
		problem.Message = "import is not available: a snippet has no modules"
		problem.Hint = "All there is, is global: tools and its namespaces, console, and JavaScript's own library."
	case strings.HasPrefix(statement, "export"):
		problem.Message = "this export is not available: a snippet has no modules"
		problem.Hint = "Return the result, or make it the last expression."
	case strings.HasSuffix(before, "namespace"), strings.HasSuffix(before, "module"):
		problem.Message = "TypeScript namespaces are not available in a snippet"
		problem.Hint = "Use an object or plain functions."
	case at.offset >= len(source):
		problem.Message = "Unexpected end of the snippet: " + decapitalise(text)
	}
	return problem
}

func decapitalise(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return strings.ToLower(string(first)) + text[size:]
}

// characters counts what columns count.
func characters(text string) int { return utf8.RuneCountInString(text) }

// unbalanced is the problem of a snippet that closes more than it opened.
func unbalanced() *snippet.Error {
	return &snippet.Error{Code: snippet.CodeSyntax, Name: "SyntaxError", Message: fmt.Sprintf("Unexpected %q: it closes more than the snippet opened", "}")}
}
