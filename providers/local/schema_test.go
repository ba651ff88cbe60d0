package local_test

import (
	"context"
	"encoding/json"
	"math/big"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/local"
)

// inputOf derives the input schema of In.
func inputOf[In any](t *testing.T) string {
	t.Helper()
	tool, err := local.Func("test.tool", "For a test.", func(context.Context, In) (struct{}, error) { return struct{}{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return string(tool.Input)
}

// outputOf derives the output schema of Out.
func outputOf[Out any](t *testing.T) string {
	t.Helper()
	tool, err := local.Func("test.tool", "For a test.", func(context.Context, struct{}) (out Out, err error) { return out, nil })
	if err != nil {
		t.Fatal(err)
	}
	return string(tool.Output)
}

// wantSchema compares schemas, whatever the order of their keys.
func wantSchema(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

func TestTags(t *testing.T) {
	type refund struct {
		Order  string   `json:"order" jsonschema:"pattern=^[A-Z]{1\\,2}-[0-9]+$,minLength=3,maxLength=20,example=A-17" jsonschema_description:"Number, such as A-17"`
		Cents  int64    `json:"cents" jsonschema:"minimum=1,maximum=50000,multipleOf=5"`
		Rate   float64  `json:"rate,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.5"`
		Reason string   `json:"reason,omitempty" jsonschema:"title=Why,enum=damaged,enum=late,default=late"`
		Level  int      `json:"level,omitempty" jsonschema:"enum=1,enum=2,default=2"`
		Urgent bool     `json:"urgent" jsonschema:"default=true"`
		Notify []string `json:"notify,omitempty" jsonschema:"format=email,minItems=1,maxItems=5,uniqueItems=true,default=a@b.example,default=c@d.example"`
		Sizes  []int    `json:"sizes,omitzero" jsonschema:"minimum=1"`
		Note   string   `json:"note,omitempty" jsonschema:"required,description=For people"`
		hidden int
		Skip   string `json:"-"`
	}
	_ = refund{}.hidden
	wantSchema(t, inputOf[refund](t), `{"type":"object","additionalProperties":false,"required":["order","cents","note"],"properties":{
		"order":{"type":"string","description":"Number, such as A-17","pattern":"^[A-Z]{1,2}-[0-9]+$","minLength":3,"maxLength":20,"examples":["A-17"]},
		"cents":{"type":"integer","minimum":1,"maximum":50000,"multipleOf":5},
		"rate":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1,"default":0.5},
		"reason":{"type":"string","title":"Why","enum":["damaged","late"],"default":"late"},
		"level":{"type":"integer","enum":[1,2],"default":2},
		"urgent":{"type":"boolean","default":true},
		"notify":{"type":"array","items":{"type":"string","format":"email"},"minItems":1,"maxItems":5,"uniqueItems":true,"default":["a@b.example","c@d.example"]},
		"sizes":{"type":"array","items":{"type":"integer","minimum":1}},
		"note":{"type":"string","description":"For people"}}}`)
}

// TestPropertiesKeepTheirOrder: a model reads them in the author's order.
func TestPropertiesKeepTheirOrder(t *testing.T) {
	type in struct {
		Zebra, Apple string
		Mango        int
	}
	got := inputOf[in](t)
	if !(strings.Index(got, "Zebra") < strings.Index(got, "Apple") && strings.Index(got, "Apple") < strings.Index(got, "Mango")) {
		t.Errorf("the order is lost: %s", got)
	}
}

type (
	status string
	person struct {
		Name string `json:"name"`
	}
	address struct {
		City string `json:"city"`
	}
	node struct {
		Value int     `json:"value"`
		Left  *node   `json:"left,omitempty"`
		Kids  []*node `json:"kids,omitempty"`
	}
	page[T any] struct {
		Items []T `json:"items"`
	}
	odd          struct{ n int }
	EmbedsItself struct {
		*EmbedsItself
		X int
	}
	endless *endless
)

func (o *odd) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &o.n) }

func TestTypes(t *testing.T) {
	type in struct {
		person
		*address
		When  time.Time               `json:"when"`
		Raw   json.RawMessage         `json:"raw"`
		Any   any                     `json:"any"`
		Num   json.Number             `json:"num"`
		Big   *big.Int                `json:"big"`
		Bytes []byte                  `json:"bytes"`
		IP    netip.Addr              `json:"ip"`
		Stat  status                  `json:"stat" jsonschema:"enum=open,enum=shut"`
		Map   map[string]int          `json:"map"`
		ByInt map[int]person          `json:"by_int"`
		Nest  map[string][]*person    `json:"nest"`
		Arr   [2]bool                 `json:"arr"`
		Anon  struct{ X, Y int8 }     `json:"anon"`
		Str   *string                 `json:"str,omitempty" jsonschema:"enum=a,enum=b"`
		Ptr   *person                 `json:"ptr"`
		I16   int16                   `json:"i16"`
		U     uint                    `json:"u"`
		U8    uint8                   `json:"u8" jsonschema:"maximum=9"`
		Own   odd                     `json:"own"`
		Page  page[map[string]status] `json:"page"`
		Quot  int                     `json:"quot,string"`
	}
	wantSchema(t, inputOf[in](t), `{"type":"object","additionalProperties":false,
		"required":["name","city","when","raw","any","num","big","bytes","ip","stat","map","by_int","nest","arr","anon","ptr","i16","u","u8","own","page","quot"],
		"properties":{
		"name":{"type":"string"},"city":{"type":"string"},
		"when":{"type":"string","format":"date-time"},
		"raw":{"description":"Any JSON value."},"any":{"description":"Any JSON value."},
		"num":{"type":"number"},"big":{"type":["integer","null"]},
		"bytes":{"type":"string","contentEncoding":"base64"},
		"ip":{"type":"string"},
		"stat":{"type":"string","enum":["open","shut"]},
		"map":{"type":"object","additionalProperties":{"type":"integer"}},
		"by_int":{"type":"object","patternProperties":{"^-?[0-9]+$":{"$ref":"#/$defs/person"}},"additionalProperties":false},
		"nest":{"type":"object","additionalProperties":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/person"},{"type":"null"}]}}},
		"arr":{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2},
		"anon":{"type":"object","additionalProperties":false,"required":["X","Y"],"properties":{
			"X":{"type":"integer","minimum":-128,"maximum":127},"Y":{"type":"integer","minimum":-128,"maximum":127}}},
		"str":{"type":["string","null"],"enum":["a","b",null]},
		"ptr":{"anyOf":[{"$ref":"#/$defs/person"},{"type":"null"}]},
		"i16":{"type":"integer","minimum":-32768,"maximum":32767},
		"u":{"type":"integer","minimum":0},
		"u8":{"type":"integer","minimum":0,"maximum":9},
		"own":{"description":"Any JSON value."},
		"page":{"$ref":"#/$defs/page_status"},
		"quot":{"type":"string"}},
		"$defs":{
		"person":{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string"}}},
		"page_status":{"type":"object","additionalProperties":false,"required":["items"],"properties":{
			"items":{"type":"array","items":{"type":"object","additionalProperties":{"type":"string"}}}}}}}`)
}

func TestRecursion(t *testing.T) {
	self := `{"type":"object","additionalProperties":false,"required":["value"],"properties":{"value":{"type":"integer"},
		"left":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]},
		"kids":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}}}`
	wantSchema(t, inputOf[node](t), self+`,"$defs":{"node":`+self+`}}}`)
}

func TestOtherRoots(t *testing.T) {
	wantSchema(t, inputOf[struct{}](t), `{"type":"object","additionalProperties":false,"properties":{}}`)
	wantSchema(t, inputOf[map[string]any](t), `{"type":"object"}`)
	wantSchema(t, inputOf[map[string]int](t), `{"type":"object","additionalProperties":{"type":"integer"}}`)
	wantSchema(t, outputOf[[]person](t), `{"type":"array","items":{"$ref":"#/$defs/person"},
		"$defs":{"person":{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string"}}}}}`)
	wantSchema(t, outputOf[string](t), `{"type":"string"}`)
	wantSchema(t, outputOf[*int8](t), `{"type":["integer","null"],"minimum":-128,"maximum":127}`)
	for name, schema := range map[string]string{"any": outputOf[any](t), "raw": outputOf[json.RawMessage](t)} {
		if schema != "" {
			t.Errorf("%s: the schema is %s, want none", name, schema)
		}
	}
}

// TestSameNameTwice: two types of one name get a definition each.
func TestSameNameTwice(t *testing.T) {
	type outer = person
	type person struct {
		Name int `json:"name"`
	}
	type in struct {
		A outer  `json:"a"`
		B person `json:"b"`
	}
	schema := inputOf[in](t)
	violations, err := catalog.Validate(json.RawMessage(schema), json.RawMessage(`{"a":{"name":"x"},"b":{"name":1}}`))
	if err != nil || len(violations) > 0 {
		t.Errorf("%v %v in %s", violations, err, schema)
	}
}

func TestBadDefinitions(t *testing.T) {
	type dup struct {
		person
		Title string `json:"name"`
	}
	for _, c := range []struct {
		name string
		make func() error
		part string
	}{
		{"chan", define[struct{ C chan int }], "field C is a chan int, which has no form in JSON"},
		{"func", define[struct{ F struct{ G func() } }], "field F.G is a func()"},
		{"complex", define[struct{ L []complex128 }], "field L[] is a complex128"},
		{"map key", define[struct{ M map[bool]int }], "JSON has only string keys"},
		{"url", define[struct{ U *url.URL }], "field U is a url.URL"},
		{"self-embedding", define[EmbedsItself], "embeds itself"},
		{"endless pointer", define[struct{ P endless }], "field P is the named pointer type"},
		{"two fields of one name", define[dup], `field Title and Name have the same name in JSON, "name"`},
		{"not an object", define[string], "want a struct or a map with string keys"},
		{"slice", define[[]string], "want a struct"},
		{"pointer", define[*person], "want a struct"},
		{"map of ints", define[map[int]string], "want a struct"},
		{"own JSON", define[odd], "reads its own JSON"},
		{"time", define[time.Time], "no schema"},
		{"word", define[struct {
			A string `jsonschema:"requird"`
		}], `"requird"`},
		{"comma", define[struct {
			A string `jsonschema:"description=One, two"`
		}], "write a comma within a value as"},
		{"keyword", define[struct {
			A string `jsonschema:"maxlength=3"`
		}], `keyword "maxlength"`},
		{"keyword of another type", define[struct {
			A int `jsonschema:"pattern=x"`
		}], `keyword "pattern"`},
		{"keyword of a struct", define[struct {
			A person `jsonschema:"default=x"`
		}], `keyword "default"`},
		{"number", define[struct {
			A int `jsonschema:"minimum=one"`
		}], "minimum=one in its jsonschema tag, want a number"},
		{"NaN", define[struct {
			A float64 `jsonschema:"maximum=NaN"`
		}], "want a number"},
		{"length", define[struct {
			A string `jsonschema:"minLength=-1"`
		}], "want a number from 0"},
		{"bool", define[struct {
			A bool `jsonschema:"default=yes"`
		}], "want true or false"},
		{"unique", define[struct {
			A []int `jsonschema:"uniqueItems=false"`
		}], "want true"},
		{"twice", define[struct {
			A int `jsonschema:"minimum=1,minimum=2"`
		}], "minimum twice"},
		{"default of numbers", define[struct {
			A []int `jsonschema:"default=1"`
		}], "cannot take from a tag"},
		{"default out of range", define[struct {
			A int `jsonschema:"default=9,maximum=5"`
		}], "the default 9 is not allowed by its own schema: it must be at most 5"},
		{"default not in enum", define[struct {
			A string `jsonschema:"default=c,enum=a"`
		}], "must be one of"},
		{"fraction", define[struct {
			A int `jsonschema:"default=1.5"`
		}], "the default 1.5"},
		{"required default", define[struct {
			A int `jsonschema:"required,default=1"`
		}], "is required and has a default"},
		{"pattern", define[struct {
			A string `jsonschema:"pattern=[a-"`
		}], "no regular expression"},
		{"equals sign", define[struct {
			A []string `jsonschema:"pattern=a=b"`
		}], "cannot hold ="},
		{"quoted number", define[struct {
			A int `json:"a,string" jsonschema:"minimum=1"`
		}], `keyword "minimum"`},
		{"inline", define[struct {
			A person `json:",inline"`
		}], "inline"},
	} {
		err := c.make()
		if err == nil || !strings.Contains(err.Error(), c.part) || !strings.HasPrefix(err.Error(), `schema_test.go:`) {
			t.Errorf("%s: error is %v, want one that says %q and where", c.name, err, c.part)
		}
	}
}

func define[In any]() error {
	_, err := local.Func("test.tool", "For a test.", func(context.Context, In) (int, error) { return 0, nil })
	return err
}
