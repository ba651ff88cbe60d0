package heddle

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

func nothing(context.Context, struct{}) (string, error) { return "", nil }

func TestToolsetSharesWithItsTools(t *testing.T) {
	broker, problems := gather(
		Toolset{
			Name: "orders",
			Shared: []ToolOption{
				Tags("shop"), Capabilities("shop.orders"), Secrets("shop.key"), Timeout(5 * time.Second), Approval(),
			},
			Tools: []Function{
				Tool("find", "Finds orders.", nothing, WithoutApproval(), Tags("quick")),
				Tool("items.list", "Lists what was ordered.", nothing),
				Tool("refund", "Refunds an order.", nothing, Write(), Timeout(time.Minute), Approvers(2)),
			},
		},
		Tool("mail.send", "Sends a letter.", nothing, Write()),
	)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	tools, err := broker.Tools(t.Context(), catalog.Scope{Tools: catalog.Globs([]string{"orders"})})
	if err != nil || len(tools) != 3 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	find, list, refund := tools[0], tools[1], tools[2]
	if find.ID != "orders.find" || list.ID != "orders.items.list" || refund.ID != "orders.refund" {
		t.Errorf("ids are %s, %s, %s", find.ID, list.ID, refund.ID)
	}
	for _, tool := range tools {
		if !slices.Contains(tool.Tags, "shop") || !slices.Equal(tool.Capabilities, []string{"shop.orders"}) ||
			!slices.Equal(tool.Secrets, []string{"shop.key"}) || !strings.HasPrefix(tool.Source, "toolset_test.go:") {
			t.Errorf("%s shares %+v", tool.ID, tool)
		}
	}
	if find.Approval != catalog.ApprovalNever || !slices.Equal(find.Tags, []string{"shop", "quick"}) || find.Timeout != 5*time.Second {
		t.Errorf("find is %+v", find)
	}
	if list.Approval != catalog.ApprovalAlways || list.Operation != catalog.Read {
		t.Errorf("list is %+v", list)
	}
	if refund.Timeout != time.Minute || refund.Approvers != 2 || refund.Operation != catalog.Write {
		t.Errorf("refund is %+v", refund)
	}
}

// Tools of one toolset lend each other nothing: what is appended to what they share
// is their own.
func TestToolsOfAToolsetAreApart(t *testing.T) {
	shared := append(make([]ToolOption, 0, 8), Tags("shop"))
	broker, problems := gather(Toolset{Name: "orders", Shared: shared, Tools: []Function{
		Tool("a", "Does a.", nothing, Tags("one")), Tool("b", "Does b.", nothing, Tags("two")),
	}})
	tools, err := broker.Tools(t.Context(), catalog.Scope{Tools: []string{"*"}})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	if !slices.Equal(tools[0].Tags, []string{"shop", "one"}) || !slices.Equal(tools[1].Tags, []string{"shop", "two"}) {
		t.Errorf("tags are %v and %v", tools[0].Tags, tools[1].Tags)
	}
}

func TestBrokenToolsets(t *testing.T) {
	one := []Function{Tool("a", "Does a.", nothing)}
	for name, c := range map[string]struct {
		options []Option
		want    []string
	}{
		"no name":         {[]Option{Toolset{Tools: one}}, []string{`toolset "": name: `}},
		"two segments":    {[]Option{Toolset{Name: "a.b", Tools: one}}, []string{`toolset "a.b": name: "a.b" is no namespace`}},
		"no tools":        {[]Option{Toolset{Name: "orders"}}, []string{`toolset "orders": has no tools`}},
		"twice":           {[]Option{Toolset{Name: "orders", Tools: one}, Toolset{Name: "orders", Tools: one}}, []string{`toolset "orders": is added twice`}},
		"empty tool":      {[]Option{Toolset{Name: "orders", Tools: []Function{{}}}}, []string{"make it with heddle.Tool"}},
		"its name within": {[]Option{Toolset{Name: "orders", Tools: []Function{Tool("orders.a", "Does a.", nothing)}}}, []string{`tool "orders.a": name it without the toolset's name`}},
		"bad tools": {
			[]Option{Toolset{Name: "orders", Tools: []Function{Tool("a", "", nothing), Tool("1", "Does b.", nothing)}}},
			[]string{`tool "orders.a": the description is empty`, `tool id "orders.1"`},
		},
		"one tool twice": {[]Option{Toolset{Name: "orders", Tools: one}, Tool("orders.a", "Does a.", nothing)}, []string{`tool id "orders.a" is used twice`}},
		"a bad option":   {[]Option{Toolset{Name: "orders", Shared: []ToolOption{Tags("a tag")}, Tools: one}}, []string{"tag"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.options...)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want one with %q", err, want)
				}
			}
		})
	}
}

func TestAgentTakesAToolsetByName(t *testing.T) {
	app, err := New(
		Toolset{Name: "orders", Tools: []Function{Tool("find", "Finds orders.", nothing), Tool("close", "Closes an order.", nothing, Write())}},
		Tool("mail.send", "Sends a letter.", nothing, Write()),
		Model("m", &parrot{}),
		Agent{Name: "whole", Instructions: "Help.", Model: "m", Tools: []string{"orders"}, Exposure: Code, Eager: []string{"orders"}, NoWeb: true},
		Agent{Name: "part", Instructions: "Help.", Model: "m", Tools: []string{"orders.find"}, NoWeb: true},
		Agent{Name: "all", Instructions: "Help.", Model: "m", Tools: []string{"*"}, NoWeb: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := app.toolCounts(t.Context())
	if err != nil || counts["whole"] != 2 || counts["part"] != 1 || counts["all"] < 3 {
		t.Errorf("the agents have %v tools, %v", counts, err)
	}
	if got := app.agents["whole"].Eager; !slices.Equal(got, []string{"orders.*"}) {
		t.Errorf("eager is %v", got)
	}
	for _, bad := range []string{"orders.", "1", "a b", ""} {
		if _, err := New(Agent{Name: "a", Instructions: "Help.", Model: "m", Tools: []string{bad}}, Model("m", &parrot{})); err == nil {
			t.Errorf("an agent takes the tools %q", bad)
		}
	}
}
