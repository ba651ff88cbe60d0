package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxModePrompt bounds the text that a mode adds to an agent's instructions, in
	// bytes.
	MaxModePrompt = 16 << 10
	// maxModeName bounds a mode's name, and maxModePatterns each of its lists.
	maxModeName     = 64
	maxModePatterns = 256
)

// Mode is what an agent may do for the time being, whatever tools it has: a
// thread is put into one by its backend, and out of it again.
type Mode struct {
	// Name is 1 to 64 characters of A-Z a-z 0-9 . _ -
	Name string
	// Allow and Deny are patterns over capabilities ([CheckPattern]); see
	// [Descriptor.Needs] for those of a tool. A tool may be used if each capability
	// that it needs is allowed and none is denied: deny wins.
	Allow []string
	Deny  []string
	// Writable are patterns over the resource keys of writes, such as plans/* ; a
	// write elsewhere is refused, and one that names no resource too, but for the
	// pattern * . None: nothing may be written.
	Writable []string
	// Prompt is added to the agent's instructions.
	Prompt string
}

// unbound is the mode of a thread that is in none.
var unbound = Mode{Allow: []string{"*"}, Writable: []string{"*"}}

// Modes are the modes that a thread can be in, by name.
type Modes map[string]Mode

// NewModes returns the modes that there are: [BuiltInModes] and others, of which
// one with the name of a built-in takes its place.
func NewModes(others ...Mode) (Modes, error) {
	modes := Modes{}
	for _, mode := range BuiltInModes() {
		modes[mode.Name] = mode
	}
	var faults []error
	defined := map[string]bool{}
	for _, mode := range others {
		if err := mode.Check(); err != nil {
			faults = append(faults, err)
		}
		if defined[mode.Name] {
			faults = append(faults, fmt.Errorf("mode %s: is defined twice", quote(mode.Name)))
		}
		defined[mode.Name], modes[mode.Name] = true, mode
	}
	return modes, errors.Join(faults...)
}

// Names are the names of all modes, sorted.
func (m Modes) Names() []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Of is the mode of a name. No name is a mode that forbids nothing; a name that no
// mode has is an error, and nothing may be called then.
func (m Modes) Of(name string) (Mode, *Error) {
	if name == "" {
		return unbound, nil
	}
	mode, known := m[name]
	if !known {
		return Mode{}, &Error{
			Code:    CodeModeDenied,
			Message: fmt.Sprintf("the thread is in the mode %s, which this worker does not have; nothing can be called in it", quote(name)),
			Hint:    "the thread must be put into another mode",
		}
	}
	return mode, nil
}

// BuiltInModes are the modes that every broker has.
func BuiltInModes() []Mode {
	return []Mode{
		{
			Name: "ask", Allow: []string{"*"},
			Prompt: "You are in ask mode: answer questions from what you can read. You cannot change anything; calls that write are refused. " +
				"If a change is wanted, say what you would do and that the mode has to be changed first.",
		},
		{
			Name: "plan", Allow: []string{"*"}, Writable: []string{"plans/*"},
			Prompt: "You are in plan mode: find out what is needed and write a plan. You can write nothing but plans; other calls that write are refused. " +
				"End with the plan, and wait for it to be agreed.",
		},
		{
			Name: "build", Allow: []string{"*"}, Writable: []string{"*"},
		},
		{
			Name: "review", Allow: []string{"*"},
			Prompt: "You are in review mode: read, judge and report what is wrong, where, and how grave it is. You cannot change anything; " +
				"calls that write are refused.",
		},
	}
}

// Check says what is wrong with a mode.
func (m Mode) Check() error {
	var faults []error
	bad := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("mode %s: %w", quote(m.Name), fmt.Errorf(format, args...)))
	}
	if err := CheckModeName(m.Name); err != nil {
		bad("%w", err)
	}
	if len(m.Prompt) > MaxModePrompt {
		bad("the prompt is %d bytes long, at most %d are allowed", len(m.Prompt), MaxModePrompt)
	}
	if len(m.Allow) == 0 {
		bad("allows no capability, so that no tool can be used in it; * allows all")
	}
	for name, patterns := range map[string][]string{"allow": m.Allow, "deny": m.Deny} {
		if len(patterns) > maxModePatterns {
			bad("%s has %d patterns, at most %d are allowed", name, len(patterns), maxModePatterns)
		}
		for _, pattern := range patterns {
			if err := CheckPattern(pattern); err != nil {
				bad("%s: %w", name, err)
			}
		}
	}
	if len(m.Writable) > maxModePatterns {
		bad("writable has %d patterns, at most %d are allowed", len(m.Writable), maxModePatterns)
	}
	for _, pattern := range m.Writable {
		if star := strings.IndexByte(pattern, '*'); pattern == "" || star >= 0 && star < len(pattern)-1 {
			bad("writable: %s is no pattern; want a resource key, a prefix such as plans/* or *", quote(pattern))
		}
	}
	return errors.Join(faults...)
}

// CheckModeName says what is wrong with the name of a mode.
func CheckModeName(name string) error {
	if name == "" || len(name) > maxModeName {
		return fmt.Errorf("the name is %d characters long, want 1 to %d", len(name), maxModeName)
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-", r):
		default:
			return fmt.Errorf("the name holds %q; use A-Z a-z 0-9 . _ -", r)
		}
	}
	return nil
}

// Admits refuses a tool that needs a capability which the mode does not give.
func (m Mode) Admits(d Descriptor) *Error {
	for _, capability := range d.Needs() {
		if pattern, denied := matching(m.Deny, capability); denied {
			return m.refuse("denies the capability %s (%s)", quote(capability), pattern)
		}
		if _, allowed := matching(m.Allow, capability); !allowed {
			return m.refuse("does not allow the capability %s", quote(capability))
		}
	}
	if d.Operation == Write && len(m.Writable) == 0 {
		return m.refuse("lets nothing be written")
	}
	return nil
}

// AdmitsWrite refuses a write outside of what the mode lets be written. The
// resource is what the call works on, if it says so.
func (m Mode) AdmitsWrite(d Descriptor, resource string) *Error {
	if d.Operation != Write {
		return nil
	}
	for _, pattern := range m.Writable {
		if pattern == "*" || resource != "" && MatchPattern(pattern, resource) {
			return nil
		}
	}
	what := "a resource that the call does not name"
	if resource != "" {
		what = quote(resource)
	}
	return m.refuse("lets %s be written and not %s", quote(strings.Join(m.Writable, " ")), what)
}

func (m Mode) refuse(format string, args ...any) *Error {
	return &Error{
		Code:    CodeModeDenied,
		Message: fmt.Sprintf("the thread is in the mode %s, which ", quote(m.Name)) + fmt.Sprintf(format, args...),
		Hint:    "do what the mode allows, and tell the user that the rest takes another mode",
	}
}

func matching(patterns []string, name string) (string, bool) {
	for _, pattern := range patterns {
		if MatchPattern(pattern, name) {
			return pattern, true
		}
	}
	return "", false
}
