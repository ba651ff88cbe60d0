package sandbox

import (
	"embed"
	"errors"
	"fmt"

	"github.com/dop251/goja"
)

//go:embed prelude/*.js
var preludeFiles embed.FS

// preludePart is a function that furnishes a runtime, given the host object.
type preludePart struct {
	name    string
	program *goja.Program
	// globals are what it defines, for a part that runs when one of them is first
	// used. Without, it runs at the start: it changes what is there already.
	globals []string
}

// prelude is compiled once in the life of a process. The parts stand in the order
// in which they run.
var prelude []*preludePart

// lateParts are most of the prelude, and what most snippets never use.
var lateParts = map[string][]string{
	"web": {
		"DOMException", "TextEncoder", "TextDecoder", "btoa", "atob", "crypto", "performance", "structuredClone",
		"Event", "EventTarget", "AbortSignal", "AbortController",
	},
	"url":  {"URL", "URLSearchParams"},
	"intl": {"Intl"},
}

func loadPrelude() error {
	if prelude != nil {
		return nil
	}
	var parts []*preludePart
	for _, name := range []string{"language", "regexp", "locale", "web", "url", "intl", "api"} {
		source, err := preludeFiles.ReadFile("prelude/" + name + ".js")
		if err != nil {
			return err
		}
		program, err := goja.Compile("prelude/"+name+".js", string(source), true)
		if err != nil {
			return fmt.Errorf("prelude %s: %w", name, err)
		}
		parts = append(parts, &preludePart{name: name, program: program, globals: lateParts[name]})
	}
	prelude = parts
	return nil
}

// furnish runs the prelude, and leaves what is late to whoever uses it first.
func (x *execution) furnish() error {
	host := x.host()
	for _, part := range prelude {
		install := x.install
		if part.globals != nil {
			install = x.installLate
		}
		if err := install(part, host); err != nil {
			return fmt.Errorf("prelude %s: %w", part.name, err)
		}
	}
	for name, hook := range map[string]*goja.Callable{
		"run": &x.hooks.run, "failure": &x.hooks.failure,
		"entries": &x.hooks.entries, "values": &x.hooks.values, "isArray": &x.hooks.isArray, "valueOf": &x.hooks.valueOf,
	} {
		*hook, _ = goja.AssertFunction(host.Get(name))
	}
	return nil
}

func (x *execution) install(part *preludePart, host *goja.Object) error {
	function, err := x.rt.RunProgram(part.program)
	if err != nil {
		return err
	}
	call, ok := goja.AssertFunction(function)
	if !ok {
		return errors.New("it is no function")
	}
	_, err = call(goja.Undefined(), host)
	return err
}

// installLate defines globals that install their part when they are first read,
// which replaces them.
func (x *execution) installLate(part *preludePart, host *goja.Object) error {
	global := x.rt.GlobalObject()
	load := func(goja.FunctionCall) goja.Value {
		must(x.install(part, host))
		return goja.Undefined()
	}
	if err := host.Set(part.name, load); err != nil {
		return err
	}
	for _, name := range part.globals {
		get := func(call goja.FunctionCall) goja.Value {
			load(call)
			return global.Get(name)
		}
		set := func(call goja.FunctionCall) goja.Value {
			must(global.DefineDataProperty(name, call.Argument(0), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
			return goja.Undefined()
		}
		if err := global.DefineAccessorProperty(name, x.rt.ToValue(get), x.rt.ToValue(set), goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return nil
}
