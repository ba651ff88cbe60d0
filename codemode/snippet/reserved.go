package snippet

import "slices"

// Reserved reports whether a name is a global of every snippet, so that no
// namespace may take it.
func Reserved(name string) bool {
	_, found := slices.BinarySearch(globals, name)
	return found
}

// ReservedNames are all names for which Reserved holds, sorted.
func ReservedNames() []string { return slices.Clone(globals) }

// globals are the names that a snippet finds besides its namespaces, sorted.
var globals = []string{
	"AbortController", "AbortSignal", "AggregateError", "Array", "ArrayBuffer", "BigInt", "BigInt64Array",
	"BigUint64Array", "Boolean", "DOMException", "DataView", "Date", "Error", "EvalError", "Event",
	"EventTarget", "FinalizationRegistry", "Float32Array", "Float64Array", "Function", "Infinity",
	"Int16Array", "Int32Array", "Int8Array", "Intl", "Iterator", "JSON", "Map", "Math", "NaN", "Number",
	"Object", "Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp", "Set", "String",
	"SuppressedError", "Symbol", "SyntaxError", "TextDecoder", "TextEncoder", "ToolError", "TypeError",
	"URIError", "URL", "URLSearchParams", "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray",
	"WeakMap", "WeakRef", "WeakSet", "atob", "btoa", "clearImmediate", "clearInterval", "clearTimeout",
	"console", "crypto", "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "eval",
	"globalThis", "isFinite", "isNaN", "parseFloat", "parseInt", "performance", "queueMicrotask",
	"setImmediate", "setInterval", "setTimeout", "sleep", "structuredClone", "tools", "undefined", "unescape",
}
