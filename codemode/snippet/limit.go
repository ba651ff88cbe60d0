package snippet

// LimitError is the error of a snippet that exceeded the limit of that code.
func LimitError(code string) *Error {
	e := &Error{Code: code}
	switch code {
	case CodeCPU:
		e.Message = "the snippet used up its processor time"
		e.Hint = "Do less at once, or filter before you compute. The clock stands still between calls: a loop that waits for it never ends; use await sleep(ms)."
	case CodeTime:
		e.Message = "the snippet took too long without making a call"
		e.Hint = "Do less at once."
	case CodeMemory:
		e.Message = "the snippet used up its memory"
		e.Hint = "Fetch and keep less at once: use filters and pages, and return only what is needed."
	case CodeStack:
		e.Message = "the snippet recursed too deeply"
		e.Hint = "Check that the recursion ends, or use a loop."
	default:
		e.Message = "the snippet was ended"
	}
	return e
}
