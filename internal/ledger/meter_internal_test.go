package ledger

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// counter plays the workflow that counts, which has room for so many calls.
type counter struct {
	mu      sync.Mutex
	room    int64
	charges []contract.Charge
	counted map[string]contract.Charged
	used    contract.Amounts
	// takes is how long a charge takes; fails says that one fails, before or after it is
	// counted.
	takes time.Duration
	fails func(n int) (before, after error)
}

var (
	dawn = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	ends = time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
)

// told is what the counter was told so far.
type told struct {
	used    contract.Amounts
	charges []contract.Charge
}

// now is that at the moment: the meter may go on telling.
func (c *counter) now() told {
	c.mu.Lock()
	defer c.mu.Unlock()
	return told{c.used, slices.Clone(c.charges)}
}

func (c *counter) charge(ctx context.Context, charge contract.Charge) (contract.Charged, error) {
	select {
	case <-time.After(c.takes):
	case <-ctx.Done():
		return contract.Charged{}, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.charges = append(c.charges, charge)
	var before, after error
	if c.fails != nil {
		before, after = c.fails(len(c.charges))
	}
	if before != nil {
		return contract.Charged{}, before
	}
	answer, again := c.counted[charge.Key]
	if !again {
		answer = c.count(charge)
		c.counted[charge.Key] = answer
	}
	return answer, after
}

func (c *counter) count(charge contract.Charge) contract.Charged {
	answer := contract.Charged{At: dawn}
	c.used = c.used.Add(charge.Used)
	for _, back := range charge.Returns {
		c.used = c.used.Less(back.Amounts)
	}
	var refused []int
	for i, take := range charge.Takes {
		if take.Calls > 0 && c.used.Calls+take.Calls > c.room {
			refused = append(refused, i)
			continue
		}
		c.used = c.used.Add(take)
	}
	if refused != nil {
		answer.Refusals = []contract.Refusal{{Takes: refused, Period: contract.PeriodDay, Amount: "calls", Used: c.used.Calls, Ends: ends}}
	}
	return answer
}

// metered returns a meter that is told to a counter.
func metered(t *testing.T, room int64) (*Meter, *counter) {
	t.Helper()
	c := &counter{room: room, counted: map[string]contract.Charged{}}
	totals := Totals{
		"acme": {{Period: contract.PeriodDay, Amounts: contract.Amounts{Calls: room}}},
		"*":    {{Period: contract.PeriodMonth, Amounts: contract.Amounts{Tokens: 9}}},
	}
	m := newMeter(totals, slog.New(slog.DiscardHandler), c.charge)
	t.Cleanup(m.stop)
	return m, c
}

// call has a call counted.
func call(t *testing.T, m *Meter, tenant string, made bool) *catalog.Error {
	t.Helper()
	ended, refused := m.Begin(t.Context(), tenant, 10)
	if refused == nil {
		ended(made, 100)
	}
	return refused
}

// What is used is told, a call that was not made is taken off again, and one that is
// refused says all there is to say.
func TestMeterCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := metered(t, 1)
		for _, made := range []bool{false, true} {
			if refused := call(t, m, "acme", made); refused != nil {
				t.Fatal(refused)
			}
		}
		if refused := m.Step(t.Context(), "acme"); refused != nil {
			t.Fatal(refused)
		}
		m.Used(t.Context(), "acme", contract.Usage{InputTokens: 7, OutputTokens: 3, CostMicros: -5})
		if want := (contract.Amounts{Calls: 1, InputBytes: 10, OutputBytes: 100, Steps: 1, Tokens: 10}); c.now().used != want {
			t.Errorf("used %+v, want %+v", c.now().used, want)
		}
		if n := len(c.now().charges); n != 4 { // what nobody waits for went with what came next
			t.Errorf("%d charges were sent", n)
		}
		refused := call(t, m, "acme", true)
		want := catalog.Exceeded{Limit: "limits.tenants.acme.total.day.calls", Value: 1, Unit: "calls", SetBy: catalog.SetByTenant, Used: 1, Until: ends}
		if refused == nil || refused.Code != catalog.CodeLimit || *refused.Limit != want || refused.Retryable || refused.Effect != catalog.EffectNone ||
			!strings.Contains(refused.Hint, "2026-03-03T00:00:00Z") {
			t.Errorf("refused with %+v", refused)
		}
		m.Used(t.Context(), "acme", contract.Usage{InputTokens: 1 << 62, CostMicros: 1 << 62})
		if err := c.now().charges[len(c.now().charges)-1].Validate(); err != nil {
			t.Error(err)
		}
	})
}

// What nobody waits for is told soon, also where no call comes that it can go with.
func TestOutputIsCountedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := metered(t, 1)
		if refused := call(t, m, "acme", true); refused != nil {
			t.Fatal(refused)
		}
		if c.now().used.OutputBytes != 0 {
			t.Errorf("used %+v at once", c.now().used)
		}
		time.Sleep(2 * company)
		synctest.Wait()
		if c.now().used.OutputBytes != 100 {
			t.Errorf("used %+v", c.now().used)
		}
	})
}

// What nobody waits for waits for company also where it came while something else was
// told in a hurry.
func TestOutputWaitsForCompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := metered(t, 1)
		ended, refused := m.Begin(t.Context(), "acme", 10)
		if refused != nil {
			t.Fatal(refused)
		}
		time.Sleep(time.Second) // all is told
		c.takes = company / 2
		var step sync.WaitGroup
		step.Go(func() { m.Step(t.Context(), "acme") })
		time.Sleep(company / 4)
		ended(true, 100)
		step.Wait()
		time.Sleep(company / 2)
		m.Step(t.Context(), "acme")
		if used, n := c.now().used, len(c.now().charges); used.OutputBytes != 100 || used.Steps != 2 || n != 3 {
			t.Errorf("used %+v by %d charges", used, n)
		}
	})
}

// A tenant is told of with its own limits and those of all, and of one without any
// nothing is told.
func TestTotalsOfATenant(t *testing.T) {
	totals := Totals{
		"acme": {{Period: contract.PeriodMonth, Amounts: contract.Amounts{Calls: 5}}, {Period: contract.PeriodHour, Amounts: contract.Amounts{Steps: 1}}},
		"*":    {{Period: contract.PeriodMonth, Amounts: contract.Amounts{Calls: 9, CostMicros: 7}}},
	}
	for tenant, want := range map[string][]contract.Total{
		"acme": {{Period: contract.PeriodHour, Amounts: contract.Amounts{Steps: 1}}, {Period: contract.PeriodMonth, Amounts: contract.Amounts{Calls: 5, CostMicros: 7}}},
		"zeta": {{Period: contract.PeriodMonth, Amounts: contract.Amounts{Calls: 9, CostMicros: 7}}},
	} {
		if got := totals.of(tenant); !slices.Equal(got, want) {
			t.Errorf("totals of %s are %+v, want %+v", tenant, got, want)
		}
	}
	e := totals.exceeded("acme", contract.Refusal{Period: contract.PeriodMonth, Amount: "cost_usd", Used: 8, Ends: ends}, "no model was asked")
	if want := (catalog.Exceeded{Limit: "limits.tenants.*.total.month.cost_usd", Value: 7, Unit: "micro-USD", SetBy: catalog.SetByApp, Used: 8, Until: ends}); *e.Limit != want {
		t.Errorf("exceeded %+v, want %+v", *e.Limit, want)
	}
	delete(totals, "*")
	m := newMeter(totals, slog.Default(), func(context.Context, contract.Charge) (contract.Charged, error) {
		t.Error("something is told")
		return contract.Charged{}, nil
	})
	if refused := call(t, m, "zeta", true); refused != nil {
		t.Error(refused)
	}
	if refused := m.Step(t.Context(), "zeta"); refused != nil {
		t.Error(refused)
	}
	m.Used(t.Context(), "zeta", contract.Usage{InputTokens: 1})
}

// What comes at once is told at once, and each is answered for itself.
func TestChargesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := metered(t, 150)
		c.takes = 10 * time.Millisecond
		var wg sync.WaitGroup
		var mu sync.Mutex
		refused := 0
		for range 200 {
			wg.Go(func() {
				if call(t, m, "acme", true) != nil {
					mu.Lock()
					refused++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if refused != 50 || c.now().used.Calls != 150 || c.now().used.OutputBytes != 15_000 {
			t.Errorf("%d are refused, used %+v", refused, c.now().used)
		}
		if n := len(c.now().charges); n > 12 {
			t.Errorf("%d charges were sent", n)
		}
		for _, charge := range c.now().charges {
			if len(charge.Takes) > contract.MaxTakes {
				t.Errorf("a charge takes %d", len(charge.Takes))
			}
		}
		if len(m.accounts) != 0 {
			t.Errorf("%d accounts are left open", len(m.accounts))
		}
	})
}

// A charge whose answer is lost is sent again under its key, and counted once.
func TestChargeIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := metered(t, 5)
		c.fails = func(n int) (before, after error) {
			switch n {
			case 1:
				return errors.New("lost on the way there"), nil
			case 2:
				return nil, errors.New("lost on the way back")
			}
			return nil, nil
		}
		if refused := call(t, m, "acme", true); refused != nil {
			t.Fatal(refused)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if c.now().used.Calls != 1 || len(c.now().charges) != 4 || c.now().charges[0].Key != c.now().charges[2].Key || c.now().charges[2].Key == c.now().charges[3].Key {
			t.Errorf("used %+v by %d charges", c.now().used, len(c.now().charges))
		}
	})
}

// While nothing can be counted nothing is begun, and what was done is counted in the
// end. A take that nobody waited for by then is not counted.
func TestMeterThatCannotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := metered(t, 5)
		gone := true
		c.fails = func(int) (before, after error) {
			if gone {
				return errors.New("gone"), nil
			}
			return nil, nil
		}
		began := time.Now()
		refused := call(t, m, "acme", true)
		if refused == nil || refused.Code != catalog.CodeNotMade || !refused.Retryable || refused.Effect != catalog.EffectNone {
			t.Errorf("refused with %+v", refused)
		}
		if took := time.Since(began); took != takePatience {
			t.Errorf("it took %s", took)
		}
		m.Used(t.Context(), "acme", contract.Usage{OutputTokens: 3}) // comes back without being counted
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, refused := m.Begin(cancelled, "acme", 10); refused == nil {
			t.Error("a call is begun that nobody waits for")
		}
		c.mu.Lock()
		gone = false
		c.mu.Unlock()
		time.Sleep(time.Minute)
		if want := (contract.Amounts{Tokens: 3}); c.now().used != want {
			t.Errorf("used %+v, want %+v", c.now().used, want)
		}
	})
}

// What nobody waits for any more is not kept while nothing can be counted.
func TestMeterKeepsNothingForWhoHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := metered(t, 5)
		c.fails = func(int) (before, after error) { return errors.New("gone"), nil }
		for range 100 {
			if refused := m.Step(t.Context(), "acme"); refused == nil {
				t.Fatal("a turn is begun that is not counted")
			}
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if n := len(m.accounts["acme"].items); n > 0 {
			t.Errorf("%d items are kept", n)
		}
	})
}

// A meter that is closed has counted what was used, unless that takes too long.
func TestMeterIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, c := metered(t, 1)
		if refused := call(t, m, "acme", true); refused != nil {
			t.Fatal(refused)
		}
		m.Close()
		if c.now().used.OutputBytes != 100 {
			t.Errorf("used %+v", c.now().used)
		}
		m, c = metered(t, 1)
		if refused := call(t, m, "acme", true); refused != nil {
			t.Fatal(refused)
		}
		c.takes = time.Hour
		began := time.Now()
		if m.Close(); time.Since(began) > 2*tellPatience {
			t.Errorf("it is closed after %s", time.Since(began))
		}
	})
}

// What the counter refuses is not sent again, and the log tells of it.
func TestChargeThatIsRefused(t *testing.T) {
	m, c := metered(t, 5)
	var log bytes.Buffer
	m.logger = slog.New(slog.NewTextHandler(&log, nil))
	c.fails = func(int) (before, after error) {
		return temporal.NewApplicationError("nonsense", contract.ErrInvalid), nil
	}
	if refused := call(t, m, "acme", true); refused == nil || refused.Code != catalog.CodeNotMade || len(c.now().charges) != 1 {
		t.Errorf("refused with %+v after %d charges", refused, len(c.now().charges))
	}
	if !strings.Contains(log.String(), "nonsense") {
		t.Errorf("the log has %q", log.String())
	}
}
