package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Meter counts what tenants use, each with a workflow that all workers share: it is an
// [activities.Meter] of model turns and a [catalog.Meter] of calls. A tenant without
// totals is not counted.
//
// What comes while a charge is under way goes into the next one, so that a process has
// one under way for each tenant, however many calls it makes. What a call has put out
// goes with the next call's, if that comes soon: nobody waits for it. A charge that is
// not answered is sent again, under the same key, until it is.
type Meter struct {
	charge func(context.Context, contract.Charge) (contract.Charged, error)
	totals Totals
	logger *slog.Logger
	// open ends with the meter: from then on nothing is sent again.
	open context.Context
	stop context.CancelFunc

	mu sync.Mutex
	// accounts are what is to be told, by tenant. One is there while something is.
	accounts map[string]*account
}

var (
	_ activities.Meter = (*Meter)(nil)
	_ catalog.Meter    = (*Meter)(nil)
)

const (
	// takePatience is how long a model turn or a call waits to be counted before it is
	// refused. It outlasts a worker that was lost with the workflow in its cache.
	takePatience = 10 * time.Second
	// tellPatience is how long a model turn waits for what it used to be counted.
	tellPatience = 5 * time.Second
	// company is how long what nobody waits for is kept back, for a call to come that it
	// can go with: those of a snippet follow one another at once.
	company = 10 * time.Millisecond
	// maxItems bounds the items of a charge.
	maxItems = 4 * contract.MaxTakes
	// chargeWithin bounds one try to send a charge.
	chargeWithin = 10 * time.Second
	// chargeAgainMost bounds the pause before a charge is sent again.
	chargeAgainMost = 2 * time.Second
)

// NewMeter returns a meter of the tenants that have totals. What counts them runs on
// the task queue. It is to be closed.
func NewMeter(c client.Client, taskQueue string, totals Totals, logger *slog.Logger) *Meter {
	return newMeter(totals, logger, func(ctx context.Context, charge contract.Charge) (contract.Charged, error) {
		return send(ctx, c, taskQueue, charge)
	})
}

func newMeter(totals Totals, logger *slog.Logger, charge func(context.Context, contract.Charge) (contract.Charged, error)) *Meter {
	m := &Meter{charge: charge, totals: totals, logger: logger, accounts: map[string]*account{}}
	m.open, m.stop = context.WithCancel(context.Background())
	return m
}

// Close has what was used counted, for a while, and then gives up.
func (m *Meter) Close() {
	defer m.stop()
	for end := time.Now().Add(tellPatience); time.Now().Before(end); time.Sleep(company) {
		m.mu.Lock()
		done := len(m.accounts) == 0
		m.mu.Unlock()
		if done {
			return
		}
	}
}

// send sends a charge, and begins the workflow that counts it if there is none.
func send(ctx context.Context, c client.Client, taskQueue string, charge contract.Charge) (charged contract.Charged, err error) {
	id := contract.UsageID(charge.Tenant)
	handle, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: c.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID:                       id,
			TaskQueue:                taskQueue,
			WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
			StaticSummary:            "usage of tenant " + charge.Tenant,
		}, contract.UsageType, activities.UsageInput{TenantUsage: contract.TenantUsage{Tenant: charge.Tenant}}),
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateID: charge.Key, WorkflowID: id, UpdateName: contract.UpdateCharge, Args: []any{charge},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, &charged)
	}
	return charged, err
}

// Step counts a model turn, see [activities.Meter].
func (m *Meter) Step(ctx context.Context, tenant string) *catalog.Error {
	_, refused := m.take(ctx, tenant, contract.Amounts{Steps: 1}, "no model was asked")
	return refused
}

// Used counts what a model turn has used, see [activities.Meter].
func (m *Meter) Used(ctx context.Context, tenant string, used contract.Usage) {
	i := &item{used: contract.Amounts{
		Tokens: within(used.InputTokens) + within(used.OutputTokens), CostMicros: within(used.CostMicros),
	}}
	if len(m.totals.of(tenant)) == 0 || i.used == (contract.Amounts{}) {
		return
	}
	// That this cannot be done now undoes nothing: it is done later.
	if err := m.await(context.WithoutCancel(ctx), tenant, i, tellPatience); err != nil {
		m.logger.WarnContext(ctx, "what a tenant has used is not counted yet", "tenant", tenant, "error", err)
	}
}

// Begin counts a call, see [catalog.Meter].
func (m *Meter) Begin(ctx context.Context, tenant string, input int) (ended func(made bool, output int), refused *catalog.Error) {
	taken := contract.Amounts{Calls: 1, InputBytes: int64(input)}
	at, refused := m.take(ctx, tenant, taken, "the call was not made")
	if refused != nil {
		return nil, refused
	}
	return func(made bool, output int) {
		switch {
		case at.IsZero(): // it was not counted
		case !made:
			m.add(tenant, &item{back: &contract.Return{At: at, Amounts: taken}})
		case output > 0:
			m.add(tenant, &item{used: contract.Amounts{OutputBytes: int64(output)}})
		}
	}, nil
}

// within keeps what a model's vendor says to what a charge of many can hold.
func within(n int64) int64 { return min(max(n, 0), contract.MaxAmount/(2*maxItems)) }

// take counts what is about to be used, or says why it must not be.
func (m *Meter) take(ctx context.Context, tenant string, want contract.Amounts, left string) (time.Time, *catalog.Error) {
	totals := m.totals.of(tenant)
	if len(totals) == 0 {
		return time.Time{}, nil
	}
	i := &item{take: &want}
	if err := m.await(ctx, tenant, i, takePatience); err != nil {
		return time.Time{}, &catalog.Error{
			Code: catalog.CodeNotMade, Retryable: true, Effect: catalog.EffectNone,
			Message: fmt.Sprintf("%s: what tenant %s uses cannot be counted now: %v", left, tenant, err),
		}
	}
	if i.refusal != nil {
		return time.Time{}, m.totals.exceeded(tenant, *i.refusal, left)
	}
	return i.at, nil
}

// account is what a tenant's workflow is to be told, in the order in which it came.
type account struct {
	items []*item
	// hurry has something in it once an item has come that somebody waits for, and that
	// is not told yet.
	hurry chan struct{}
}

// item is one thing to be told: one of take, used and back.
type item struct {
	take *contract.Amounts
	used contract.Amounts
	back *contract.Return

	// told is closed once the rest is known: the answer to a take, or why there is none.
	// It is nil where nobody waits for that.
	told    chan struct{}
	at      time.Time
	refusal *contract.Refusal
	err     error
	// left says that nobody waits for the answer; guarded by the meter.
	left bool
}

// await has an item told, and waits for its answer.
func (m *Meter) await(ctx context.Context, tenant string, i *item, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	i.told = make(chan struct{})
	m.add(tenant, i)
	select {
	case <-i.told:
		return i.err
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-i.told:
		return i.err
	default:
		i.left = true
		if i.take != nil { // unless it is under way nothing is to be told any more
			a := m.accounts[tenant]
			a.items = slices.DeleteFunc(a.items, func(one *item) bool { return one == i })
		}
		return ctx.Err()
	}
}

// add puts an item to those that are to be told, and begins to tell them if nobody does.
func (m *Meter) add(tenant string, i *item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.accounts[tenant]
	if a == nil {
		a = &account{hurry: make(chan struct{}, 1)}
		m.accounts[tenant] = a
		go m.work(tenant, a)
	}
	a.items = append(a.items, i)
	if i.told != nil {
		select {
		case a.hurry <- struct{}{}:
		default: // it hurries already
		}
	}
}

// work tells a tenant's items until there are none.
func (m *Meter) work(tenant string, a *account) {
	for {
		if !m.hurries(a) {
			select {
			case <-a.hurry:
			case <-time.After(company):
			case <-m.open.Done():
			}
		}
		charge, items := m.next(tenant, a)
		if items == nil {
			return
		}
		charged, err := m.deliver(charge)
		m.settle(tenant, a, items, charged, err)
	}
}

// hurries reports whether somebody waits for what is to be told.
func (m *Meter) hurries(a *account) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(a.items, func(i *item) bool { return i.told != nil && !i.left })
}

// next makes a charge of what is to be told. With nothing left the account is closed.
func (m *Meter) next(tenant string, a *account) (contract.Charge, []*item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	charge := contract.Charge{Key: uuid.NewString(), Tenant: tenant, Totals: m.totals.of(tenant)}
	var items []*item
	for len(a.items) > 0 && len(items) < maxItems && len(charge.Takes) < contract.MaxTakes && len(charge.Returns) < contract.MaxTakes {
		i := a.items[0]
		a.items = a.items[1:]
		switch {
		case i.take != nil:
			charge.Takes = append(charge.Takes, *i.take)
		case i.back != nil:
			charge.Returns = append(charge.Returns, *i.back)
		default:
			charge.Used = charge.Used.Add(i.used)
		}
		items = append(items, i)
	}
	if items == nil {
		delete(m.accounts, tenant)
	}
	select {
	case <-a.hurry: // with what is told now, or hurries says so
	default:
	}
	return charge, items
}

// deliver sends a charge until it is answered or refused, or the worker ends.
func (m *Meter) deliver(charge contract.Charge) (contract.Charged, error) {
	for pause := askAgain; ; pause = min(2*pause, chargeAgainMost) {
		ctx, cancel := context.WithTimeout(m.open, chargeWithin)
		charged, err := m.charge(ctx, charge)
		cancel()
		var refused *temporal.ApplicationError
		if err == nil || errors.As(err, &refused) {
			return charged, err
		}
		if pause == chargeAgainMost { // else it is busy, or just about to continue as new
			m.logger.Warn("cannot count what a tenant uses; it is tried again", "tenant", charge.Tenant, "error", err)
		}
		select {
		case <-m.open.Done():
			return charged, err
		case <-time.After(pause):
		}
	}
}

// settle gives items their answers. What was taken for one that does not wait any more
// is returned.
func (m *Meter) settle(tenant string, a *account, items []*item, charged contract.Charged, err error) {
	if err != nil {
		m.logger.Error("what a tenant uses was not counted", "tenant", tenant, "error", err)
	}
	refusals := map[int]*contract.Refusal{}
	for i := range charged.Refusals {
		for _, take := range charged.Refusals[i].Takes {
			refusals[take] = &charged.Refusals[i]
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	takes := 0
	for _, i := range items {
		i.err, i.at = err, charged.At
		if i.take != nil {
			i.refusal = refusals[takes]
			takes++
			if i.left && err == nil && i.refusal == nil {
				a.items = append(a.items, &item{back: &contract.Return{At: i.at, Amounts: *i.take}})
			}
		}
		if i.told != nil {
			close(i.told)
		}
	}
}
