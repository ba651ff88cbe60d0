package contract_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/signals/contract"
)

// payloads are the types that cross the wire.
var payloads = map[string]any{}

func init() {
	for _, payload := range []any{
		contract.Start{},
		contract.Submission{},
		contract.Submitted{},
		contract.Decision{},
		contract.Decided{},
		contract.Reconcile{},
		contract.Reconciliation{},
		contract.Question{},
		contract.Answer{},
		contract.Answered{},
		contract.SetMode{},
		contract.ModeSet{},
		contract.RevokeGrant{},
		contract.CancelTurn{},
		contract.Close{},
		contract.State{},
		contract.TimelineQuery{},
		contract.TimelinePage{},
		contract.TranscriptQuery{},
		contract.TranscriptPage{},
		contract.Message{},
		contract.SourceState{},
		contract.CallsQuery{},
		contract.CallsPage{},
		contract.QueuePage{},
		contract.LockState{},
		contract.TenantUsage{},
		contract.ListTools{},
		contract.Tools{},
		contract.Problem{},
	} {
		payloads[reflect.TypeOf(payload).Name()] = payload
	}
}

func contractDoc(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// Every example is what the comment before it says, and there is one of each type.
func TestExamplesAreOfTheirType(t *testing.T) {
	missing := map[string]bool{}
	for name := range payloads {
		missing[name] = true
	}
	examples := regexp.MustCompile("(?ms)^(?:<!-- (\\w+) -->\n)?```json\n(.*?)^```").FindAllStringSubmatch(contractDoc(t), -1)
	for _, example := range examples {
		name, body := example[1], example[2]
		payload, ok := payloads[name]
		if !ok {
			t.Errorf("an example of type %q, which is none of the contract's:\n%s", name, body)
			continue
		}
		delete(missing, name)
		value := reflect.New(reflect.TypeOf(payload))
		decoder := json.NewDecoder(strings.NewReader(body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(value.Interface()); err != nil {
			t.Errorf("example of %s: %v\n%s", name, err, body)
		}
		if valid, ok := value.Interface().(interface{ Validate() error }); ok {
			if err := valid.Validate(); err != nil {
				t.Errorf("example of %s: %v\n%s", name, err, body)
			}
		}
		wantEveryRequiredField(t, name, body, value.Elem())
	}
	for name := range missing {
		t.Errorf("no example of %s", name)
	}
}

// wantEveryRequiredField fails if the example lacks a field that is always sent.
func wantEveryRequiredField(t *testing.T, name, body string, value reflect.Value) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		t.Fatal(err)
	}
	for _, field := range reflect.VisibleFields(value.Type()) {
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == "" || strings.Contains(options, "omitempty") {
			continue
		}
		if _, ok := fields[tag]; !ok {
			t.Errorf("the example of %s lacks %q", name, tag)
		}
	}
}

// Every name and every code is on the page.
func TestEveryConstantIsDocumented(t *testing.T) {
	page := contractDoc(t)
	for _, file := range []string{"names.go", "errors.go", "thread.go", "timeline.go", "approval.go", "question.go", "reconcile.go", "transcript.go"} {
		for name, value := range stringConstants(t, file) {
			if !strings.Contains(page, "`"+value+"`") && !strings.Contains(page, `"`+value+`"`) {
				t.Errorf("%s (%q) of %s is not in docs/contract.md", name, value, file)
			}
		}
	}
}

// The page's numbers are the code's.
func TestLimitsAreDocumented(t *testing.T) {
	page := strings.Join(strings.Fields(contractDoc(t)), " ")
	for _, want := range []string{
		fmt.Sprintf("a queue of at most %d", contract.MaxQueue),
		fmt.Sprintf("%d messages wait", contract.MaxQueue),
		fmt.Sprintf("`roles` (%d of them)", contract.MaxRoles),
		fmt.Sprintf("`text` is at most %d KiB", contract.MaxText>>10),
		fmt.Sprintf("the last %d turns", contract.RecentTurns),
		fmt.Sprintf("to %d parts at most", contract.MaxParts),
		fmt.Sprintf("longer than %d KiB, `body`", contract.MaxInline>>10),
		fmt.Sprintf("comment of a denial (%d KiB at most)", contract.MaxComment>>10),
		fmt.Sprintf("With %d of them the thread makes no further write", contract.MaxReconciliations),
		fmt.Sprintf("of which up to %d have their `reasons`", contract.MaxLeftOut),
		fmt.Sprintf("Reasons are %d KiB at most", contract.MaxReason>>10),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/contract.md does not say %q", want)
		}
	}
}

func stringConstants(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{}
	for _, declaration := range parsed.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			constant := spec.(*ast.ValueSpec)
			for i, value := range constant.Values {
				if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					if constants[constant.Names[i].Name], err = strconv.Unquote(literal.Value); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	return constants
}

// The table of names says of each what the code says.
func TestTableOfNames(t *testing.T) {
	page := contractDoc(t)
	for _, row := range []string{
		"| workflow | `" + contract.WorkflowType + "` |",
		"| update | `" + contract.UpdateSubmit + "` |",
		"| update | `" + contract.UpdateDecide + "` |",
		"| update | `" + contract.UpdateAnswer + "` |",
		"| signal | `" + contract.SignalAnswer + "` |",
		"| update | `" + contract.UpdateSetMode + "` |",
		"| signal | `" + contract.SignalSetMode + "` |",
		"| signal | `" + contract.SignalRevokeGrant + "` |",
		"| signal | `" + contract.SignalSubmit + "` |",
		"| signal | `" + contract.SignalApproval + "` |",
		"| signal | `" + contract.SignalReconcile + "` |",
		"| signal | `" + contract.SignalCancelTurn + "` |",
		"| signal | `" + contract.SignalClose + "` |",
		"| query | `" + contract.QueryState + "` |",
		"| query | `" + contract.QueryTimeline + "` |",
		"| query | `" + contract.QueryTranscript + "` |",
		"| query | `" + contract.QueryCalls + "` |",
		"| query | `" + contract.QueryQueue + "` |",
		"| query of a lock | `" + contract.QueryLock + "` |",
		"| query of a usage | `" + contract.QueryUsage + "` |",
	} {
		if !slices.ContainsFunc(strings.Split(page, "\n"), func(line string) bool { return strings.HasPrefix(line, row) }) {
			t.Errorf("docs/contract.md has no row %s", row)
		}
	}
}
