package check_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/check"
	"github.com/heddle-dev/heddle/codemode/schema"
	"github.com/heddle-dev/heddle/codemode/schema/schematest"
)

// rounds is how many schemas are made up for each property, each with some values.
const (
	rounds = 700
	values = 4
)

// literal makes the node of a JSON value.
func literal(v *schema.Value) check.Node {
	switch v.Kind {
	case schema.Object:
		node := check.Node{Kind: check.Object}
		for _, m := range v.Members {
			node.Members = append(node.Members, check.Member{Name: m.Name, Value: literal(m.Value)})
		}
		return node
	case schema.Array:
		node := check.Node{Kind: check.Array}
		for _, item := range v.Items {
			node.Items = append(node.Items, literal(item))
		}
		return node
	}
	text, _ := v.JSON(schema.MaxDocument)
	return check.Node{Kind: check.Literal, Value: json.RawMessage(text)}
}

func findingsOf(schemaText json.RawMessage, input check.Node) []check.Finding {
	call := check.Call{Path: []string{"t", "run"}, Args: []check.Node{input}}
	return check.Check([]check.Call{call}, tools{"t.run": string(schemaText)})
}

// madeUp calls with made-up schemas and values, and what the validator that a real
// call goes through says of them.
func madeUp(t *testing.T, each func(s, value json.RawMessage, input check.Node, refused []catalog.Violation)) {
	t.Helper()
	for i := range rounds {
		g := schematest.New(uint64(i))
		s := g.Schema()
		for range values {
			value := g.Value(s)
			doc, err := schema.Parse(value)
			if err != nil {
				t.Fatal(err)
			}
			refused, err := catalog.Validate(s, value)
			if err != nil || doc.Root.Kind != schema.Object {
				continue // no tool has such a schema, or no call such an input
			}
			each(s, value, literal(doc.Root), refused)
		}
	}
}

// TestNoFalseAlarms finds nothing in what the validator takes.
func TestNoFalseAlarms(t *testing.T) {
	taken := 0
	madeUp(t, func(s, value json.RawMessage, input check.Node, refused []catalog.Violation) {
		if len(refused) > 0 {
			return
		}
		taken++
		if findings := findingsOf(s, input); len(findings) > 0 {
			t.Errorf("%s fits %s, and is found wanting:\n%s", value, s, said(findings))
		}
	})
	if taken < rounds {
		t.Errorf("only %d values fit: too few to show anything", taken)
	}
}

// TestNoFalseAlarmsInPart hides parts of what the validator takes: a snippet that
// leaves them open may mean just that.
func TestNoFalseAlarmsInPart(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	madeUp(t, func(s, value json.RawMessage, input check.Node, refused []catalog.Violation) {
		if len(refused) > 0 {
			return
		}
		hidden := hide(random, input)
		if findings := findingsOf(s, hidden); len(findings) > 0 {
			t.Errorf("%s fits %s, and as %+v is found wanting:\n%s", value, s, hidden, said(findings))
		}
	})
}

// hide makes parts of a node unknown, and moves parts of objects and arrays into
// spreads.
func hide(random *rand.Rand, n check.Node) check.Node {
	switch random.IntN(8) {
	case 0:
		return check.Node{}
	case 1:
		return check.Node{Type: typeOf(n)}
	}
	var members []check.Member
	for _, m := range n.Members {
		if random.IntN(8) == 0 {
			members = append(members, check.Member{Value: check.Node{Kind: check.Spread}})
			continue
		}
		members = append(members, check.Member{Name: m.Name, Value: hide(random, m.Value)})
	}
	var items []check.Node
	for _, item := range n.Items {
		if random.IntN(8) == 0 {
			items = append(items, check.Node{Kind: check.Spread})
			continue
		}
		items = append(items, hide(random, item))
	}
	if n.Kind == check.Object && random.IntN(6) == 0 { // what is spread last replaces what was written
		members = append([]check.Member{{Name: "replaced", Value: check.Node{Kind: check.Literal, Value: json.RawMessage("7")}}}, members...)
		members = append(members, check.Member{Value: check.Node{Kind: check.Spread}})
	}
	n.Members, n.Items = members, items
	return n
}

func typeOf(n check.Node) string {
	switch n.Kind {
	case check.Object, check.Array:
		return string(n.Kind)
	}
	switch n.Value[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// unjudged are the words of a schema that the check does not judge by, or judges
// more kindly than the validator.
var unjudged = []string{`"not"`, `"if"`, `"oneOf"`, `"default"`, `"readOnly"`, `"nullable"`, `(?=`}

// TestFindsWhatTheValidatorRefuses finds something in all that the validator
// refuses, but for what cannot be known before a call.
func TestFindsWhatTheValidatorRefuses(t *testing.T) {
	missed := map[string]int{}
	found := map[string]int{}
	madeUp(t, func(s, value json.RawMessage, input check.Node, refused []catalog.Violation) {
		for _, word := range unjudged {
			if strings.Contains(string(s), word) {
				return
			}
		}
		if len(refused) == 0 || strings.Contains(refused[0].Message, "refers to itself") {
			return
		}
		if len(findingsOf(s, input)) > 0 {
			found[kindOf(refused[0].Message)]++
			return
		}
		missed[kindOf(refused[0].Message)]++
		t.Errorf("%s does not fit %s (%+v), and nothing is found", value, s, refused)
	})
	for _, kind := range []string{"missing", "extra", "kind", "constant"} {
		if found[kind] < 20 {
			t.Errorf("%d values were refused for %s: too few to show anything (%v, missed %v)", found[kind], kind, found, missed)
		}
	}
	t.Logf("found %v", found)
}

func kindOf(message string) string {
	switch {
	case strings.Contains(message, "is required"):
		return "missing"
	case strings.Contains(message, "not a known property"):
		return "extra"
	case strings.HasPrefix(message, "must be one of"), strings.HasPrefix(message, "must be "):
		return "constant"
	case strings.Contains(message, ", want "):
		return "kind"
	}
	return "other"
}

// FuzzCheck takes whatever a child may deliver.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`[{"path":["t","run"],"args":[{"kind":"object","members":[{"name":"a","value":{"kind":"literal","value":"x"}}]}],"dropped":true}]`,
		`[{"path":["tools","call"],"args":[{"kind":"object","members":[{"name":"id","value":{"kind":"literal","value":"t.run"}},{"value":{"kind":"spread"}}]}]}]`,
		`[{"path":["tools","batch"],"args":[{"kind":"array","items":[{"kind":"object"},{},{"kind":"undefined"},{"kind":"spread"},{"type":"string"}]}]}]`,
		`[{"path":["t","run"],"args":[{"kind":"literal","value":{"a":1}},{"kind":"literal","value":1e999},{"kind":"literal"}]}]`,
		`[{"path":[]},{"path":["tools"]},{"path":["tools","batch"]},{"path":["tools","call"]},{"path":["tools","call","apply"]}]`,
	} {
		f.Add([]byte(seed), []byte(refund))
	}
	for i := range 40 {
		g := schematest.New(uint64(i))
		g.Hostile = true
		s := g.Schema()
		doc, err := schema.Parse(g.Value(s))
		if err != nil {
			f.Fatal(err)
		}
		calls, err := json.Marshal([]check.Call{{Path: []string{"t", "run"}, Args: []check.Node{literal(doc.Root)}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(calls, []byte(s))
	}
	f.Fuzz(func(t *testing.T, text, schemaText []byte) {
		var calls []check.Call
		if json.Unmarshal(text, &calls) != nil {
			return
		}
		findings := check.Check(calls, tools{"t.run": string(schemaText)})
		if len(findings) > check.MaxFindings+1 {
			t.Errorf("%d findings", len(findings))
		}
		for _, finding := range findings {
			if len(finding.Message) > 400 || len(finding.Pointer) > 400 || len(finding.Hint) > 400 {
				t.Errorf("a finding is long: %+v", finding)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	var calls []check.Call
	for range 20 {
		calls = append(calls, callOf("orders.refund", object{{"order", "o-1"}, {"amount", "5"}, {"to", object{{"kind", "bank"}, {"iban", "x"}}}}))
	}
	for b.Loop() {
		check.Check(calls, shop)
	}
}
