package catalog

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A validation may visit subschemas as often as its value is long, within these
// bounds. A schema whose alternatives refer back to it takes twice as many visits
// for each level of the value: forty levels would keep the validator busy for a
// day.
const (
	minSteps     = 10_000
	stepsPerByte = 10
	maxSteps     = 300_000
)

// errEffort says that a validation was given up.
var errEffort = errors.New("takes too many steps to be checked against the schema; make it smaller or less nested")

// effort bounds the steps of one validation at a time.
type effort struct {
	mu   sync.Mutex
	left int
}

// begin starts a validation of a value that is so many bytes long.
func (e *effort) begin(size int) {
	e.mu.Lock()
	e.left = min(minSteps+stepsPerByte*size, maxSteps)
}

func (e *effort) end() { e.mu.Unlock() }

// step is taken at each visit of a subschema. The validator cannot be told to
// stop, so it is made to panic.
func (e *effort) step() {
	if e.left--; e.left < 0 {
		panic(errEffort)
	}
}

// watch makes each subschema that a compiler compiles count its visits. The
// compiler shows them all to a vocabulary, this one without keywords; the
// validator asks a subschema's format about every value, of whatever type.
func (e *effort) watch(compiler *jsonschema.Compiler) {
	compiler.RegisterVocabulary(&jsonschema.Vocabulary{
		URL: schemaBase + "effort",
		Compile: func(ctx *jsonschema.CompilerContext, _ map[string]any) (jsonschema.SchemaExt, error) {
			schema := ctx.Enqueue(nil) // the one being compiled
			counted := &jsonschema.Format{Validate: func(any) error { e.step(); return nil }}
			if format := schema.Format; format != nil {
				counted.Name = format.Name
				counted.Validate = func(v any) error { e.step(); return format.Validate(v) }
			}
			schema.Format = counted
			return nil, nil
		},
	})
	compiler.AssertVocabs()
}

// validatorFault is the error of a validator that panicked.
func validatorFault(value any) error {
	if err, ok := value.(error); ok && errors.Is(err, errEffort) {
		return errEffort
	}
	slog.Error("catalog: the schema validator panicked", "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
	return errors.New("makes the schema validator fail; the worker's log has the details")
}
