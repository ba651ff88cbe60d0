package support

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/catalog"
)

// maxOrders bounds the answer of a search.
const maxOrders = 20

// Tools are the agent's tools over the shop's database.
func Tools(s *Store) heddle.Toolset {
	t := tools{s}
	return heddle.Toolset{Name: "orders", Tools: []heddle.Function{
		heddle.Tool("search", "Finds orders of a customer, or with an item, newest first.", t.search),
		heddle.Tool("get", "Returns one order with its items and the refunds made so far.", t.get),
		heddle.Tool("customer", "Returns a customer by id or e-mail address.", t.customer),
		heddle.Tool("refund", "Refunds an order, in part or as a whole. Look at the order first: "+
			"no more than its total can be refunded.", t.refund, heddle.Write(), heddle.Title("Refund an order")),
	}}
}

type tools struct{ store *Store }

type searchInput struct {
	Customer string `json:"customer,omitempty" jsonschema_description:"the customer's id or e-mail address"`
	Item     string `json:"item,omitempty" jsonschema_description:"words of an item's title"`
}

type searchOutput struct {
	Orders []Order `json:"orders"`
}

func (t tools) search(ctx context.Context, in searchInput) (searchOutput, error) {
	if in.Customer == "" && in.Item == "" {
		return searchOutput{}, &catalog.Error{
			Code: catalog.CodeInvalidInput, Message: "say which customer or item to look for", Effect: catalog.EffectNone,
		}
	}
	orders, err := t.store.SearchOrders(ctx, in.Customer, in.Item, maxOrders)
	return searchOutput{orders}, err
}

type getInput struct {
	Order string `json:"order" jsonschema_description:"number of the order, such as A-1001"`
}

type getOutput struct {
	Order
	Items   []Item   `json:"items"`
	Refunds []Refund `json:"refunds"`
}

func (t tools) get(ctx context.Context, in getInput) (getOutput, error) {
	order, items, refunds, err := t.store.Order(ctx, in.Order)
	return getOutput{order, items, refunds}, explain(err)
}

type customerInput struct {
	Customer string `json:"customer" jsonschema_description:"the customer's id or e-mail address"`
}

func (t tools) customer(ctx context.Context, in customerInput) (Customer, error) {
	customer, err := t.store.Customer(ctx, in.Customer)
	return customer, explain(err)
}

type refundInput struct {
	Order  string `json:"order" jsonschema_description:"number of the order, such as A-1001"`
	Cents  int64  `json:"cents" jsonschema:"minimum=1" jsonschema_description:"how much to give back, in cents"`
	Reason string `json:"reason" jsonschema:"minLength=3,maxLength=200" jsonschema_description:"why, for the books"`
}

func (t tools) refund(ctx context.Context, in refundInput) (Refund, error) {
	made, err := t.store.Refund(ctx, heddle.IdempotencyKey(ctx), in.Order, in.Cents, in.Reason)
	return made, explain(err)
}

// explain tells the model what it can do about an error.
func explain(err error) error {
	var refused *RefusedError
	switch {
	case errors.Is(err, ErrNotFound):
		return &catalog.Error{
			Code: "not_found", Message: err.Error(), Effect: catalog.EffectNone, Hint: "find it with orders.search",
		}
	case errors.As(err, &refused):
		details, marshalErr := json.Marshal(map[string]int64{"left_cents": refused.LeftCents})
		if marshalErr != nil {
			return marshalErr
		}
		return &catalog.Error{
			Code: "refund_refused", Message: refused.Error(), Effect: catalog.EffectNone, Details: details,
		}
	default:
		return err
	}
}
