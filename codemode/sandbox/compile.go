package sandbox

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

const (
	// sourceName is the file that positions in a snippet are in.
	sourceName = "snippet.ts"
	// bodyName is the function that holds the snippet's own statements, and
	// defaultName the variable in it that takes what it exports as default.
	bodyName    = "__snippet"
	defaultName = "__default"

	bodyPrefix = "async function " + bodyName + "() {\n"
	bodySuffix = "\n}"
	// The helpers that esbuild puts before the body stay out of the globals.
	programPrefix = "(function () { let " + defaultName + ";"
	programSuffix = "\nreturn " + bodyName + ";})()"
)

// script is a snippet that can run. Its program gives the function to call.
type script struct {
	program *goja.Program
	// callsResult says that the snippet is written as a function: the function
	// that it gives is called for the result.
	callsResult bool
	// callSites are the calls in the source, if they were asked for.
	callSites json.RawMessage
}

// compile makes a script of a snippet as the model wrote it.
func compile(snip *snippet.Program) (*script, *snippet.Error) {
	text := returnDropped(unfence(snip.Source))
	result, text, problem := transform(text)
	if problem != nil {
		return nil, problem
	}
	mapping, err := shiftMapping(result.Map, mappingShift{
		generated: programPrefix + string(result.Code),
		original:  bodyPrefix + text + bodySuffix,
		lines:     strings.Count(bodyPrefix, "\n"),
		columns:   len(programPrefix),
	})
	if err != nil {
		return nil, &snippet.Error{Code: snippet.CodeSyntax, Message: "no positions for the snippet: " + err.Error()}
	}
	code := programPrefix + string(result.Code) + programSuffix
	// Without source maps of its own the parser opens no file that a comment names.
	tree, err := goja.Parse(sourceName, code, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, parseProblem(err, mapping)
	}
	tree.File.SetSourceMap(mapping)
	constructRegExps(tree, code)
	body := snippetBody(tree)
	if body == nil {
		return nil, unbalanced()
	}
	compiled := &script{callsResult: returnTail(body.Function.Body)}
	if snip.ListCalls {
		if compiled.callSites, err = json.Marshal(callSites(body, tree.File, len(snip.Input) > 0)); err != nil {
			return nil, compileProblem(err)
		}
	}
	if compiled.program, err = goja.CompileAST(tree, true); err != nil {
		return nil, compileProblem(err)
	}
	return compiled, nil
}

// lowered is what the engine cannot run and esbuild can write otherwise. The
// rest stays as it is: lowering classes and async functions costs much.
var lowered = map[string]bool{
	"async-generator": false, "for-await": false, "using": false, "decorators": false, "dynamic-import": false,
	"regexp-unicode-property-escapes": false, "regexp-set-notation": false, "regexp-match-indices": false,
}

// transform strips the types of a snippet. It returns the source that it took:
// the given one with exports rewritten in place.
func transform(source string) (api.TransformResult, string, *snippet.Error) {
	for {
		result := api.Transform(bodyPrefix+source+bodySuffix, api.TransformOptions{
			Loader: api.LoaderTS, Target: api.ESNext, Supported: lowered, LogLevel: api.LogLevelSilent,
			Sourcefile: sourceName, Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		})
		if len(result.Errors) == 0 {
			return result, source, nil
		}
		first := result.Errors[0]
		place := placeOf(source, first.Location)
		rewritten, ok := rewriteModuleSyntax(source, place.offset)
		if !ok {
			return result, source, syntaxProblem(source, first.Text, place)
		}
		source = rewritten
	}
}

// place is a place in a snippet's source.
type place struct {
	offset int
	snippet.Position
}

// placeOf finds an esbuild location, which is one in the wrapped source.
func placeOf(source string, at *api.Location) place {
	if at == nil {
		return place{}
	}
	line := at.Line - strings.Count(bodyPrefix, "\n")
	start := 0
	for range line - 1 {
		next := strings.IndexByte(source[start:], '\n')
		if next < 0 { // in what follows the source: its end is meant
			line = strings.Count(source, "\n") + 1
			start = strings.LastIndexByte(source, '\n') + 1
			return place{len(source), snippet.Position{Line: line, Column: characters(source[start:]) + 1}}
		}
		start += next + 1
	}
	end := min(start+at.Column, len(source))
	return place{end, snippet.Position{Line: max(line, 1), Column: characters(source[min(start, end):end]) + 1}}
}

func parseProblem(err error, mapping mappingConsumer) *snippet.Error {
	problem := &snippet.Error{Code: snippet.CodeSyntax, Name: "SyntaxError", Message: err.Error()}
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		problem.Message = list[0].Message
		at := list[0].Position
		if _, _, line, column, ok := mapping.Source(at.Line, at.Column); ok {
			problem.Position = &snippet.Position{Line: line, Column: column}
		}
	}
	return problem
}

func compileProblem(err error) *snippet.Error {
	problem := &snippet.Error{Code: snippet.CodeSyntax, Name: "SyntaxError", Message: err.Error()}
	var syntax *goja.CompilerSyntaxError
	if errors.As(err, &syntax) {
		problem.Message = syntax.Message
		problem.Position = positionOf(syntax.File.Position(syntax.Offset))
	}
	return problem
}

func positionOf(at file.Position) *snippet.Position {
	if at.Line <= 0 {
		return nil
	}
	return &snippet.Position{Line: at.Line, Column: at.Column}
}
