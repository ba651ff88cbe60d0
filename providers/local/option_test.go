package local_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/local"
)

type refund struct {
	Order string `json:"order"`
	Cents int    `json:"cents" jsonschema:"minimum=1"`
}

func noRefund(context.Context, refund) (int, error) { return 0, nil }

func TestOptionsDescribeTheTool(t *testing.T) {
	tool, err := local.Func("orders.refund", "Refunds.", noRefund,
		local.Destructive(), local.Idempotent(), local.Independent(), local.Capabilities("money"), local.Capabilities("net"),
		local.Tags("billing"), local.Secrets("bank"), local.ResourceKey("order/{order}"),
		local.Example("all of it", refund{"A-1", 5}))
	if err != nil {
		t.Fatal(err)
	}
	d := tool.Descriptor
	if d.Operation != catalog.Write || !d.Destructive || !d.Idempotent || !d.Independent ||
		!slices.Equal(d.Capabilities, []string{"money", "net"}) || !slices.Equal(d.Tags, []string{"billing"}) ||
		!slices.Equal(d.Secrets, []string{"bank"}) || d.ResourceKey != "order/{order}" ||
		len(d.Examples) != 1 || string(d.Examples[0].Input) != `{"order":"A-1","cents":5}` || d.Examples[0].Description != "all of it" {
		t.Errorf("descriptor is %+v", d)
	}
}

func TestOptionsThatDoNotFitTheInput(t *testing.T) {
	for part, option := range map[string]local.Option{
		`the input has no property "oder"`:    local.ResourceKey("order/{oder}"),
		"example number 1 does not fit":       local.Example("", refund{"A-1", 0}),
		"example number 1: the value is not ": local.Example("", make(chan int)),
	} {
		if _, err := local.Func("orders.refund", "Refunds.", noRefund, option); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error is %v, want one that says %q", err, part)
		}
	}
}

func TestResourceIsNamedByAFunction(t *testing.T) {
	plan, _ := call(t, noRefund, `{"order":"A-1","cents":5}`, local.Write(), local.Resource(func(in refund) string { return "o:" + in.Order }))
	if plan.Error != nil || plan.ResourceKey != "o:A-1" {
		t.Errorf("plan is %+v", plan)
	}
}
