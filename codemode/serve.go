package codemode

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/signals/contract"
)

const (
	// shortSleep is up to which length a sleep passes within a segment.
	shortSleep = time.Second
	// longestSleep is how long a snippet may sleep at once.
	longestSleep = 24 * time.Hour
	// attempts is how often a read is tried that may succeed later.
	attempts = 3
)

// begin has a call served, unless the thread carries it out already.
func (s *stretch) begin(c snippet.Call) {
	if s.handed[c.Number] {
		return
	}
	if c.Kind == snippet.KindSleep {
		s.sleep(c)
		return
	}
	s.serving[c.Number] = time.Now()
	if over := s.count(c); over != nil {
		go s.tell(answered(c, nil, over))
		return
	}
	s.queue = append(s.queue, c)
}

// server serves calls, one after the other, until none waits. One whose goroutine is
// left behind in a call goes on in another one.
func (s *stretch) server(c snippet.Call) {
	for more := true; more; {
		more = false
		s.serve(c, func(n news) {
			next, again := s.settle(n)
			switch {
			case again && n.left:
				go s.server(next)
			case again:
				c, more = next, true
			}
		})
	}
}

// settle takes in what a server tells, and gives it the next call.
func (s *stretch) settle(n news) (next snippet.Call, more bool) {
	s.arrived.add(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeIn()
	if more = !s.closed && len(s.queue) > 0; more {
		next = s.next()
	} else {
		s.servers--
	}
	s.goOn()
	return next, more
}

// takeIn takes in what has arrived, unless the stretch is over. It is nothing if another
// one has taken it in.
func (s *stretch) takeIn() {
	told := s.arrived.empty()
	if s.closed || len(told) == 0 {
		return
	}
	if err := s.hear(told); err != nil {
		s.close(err)
	}
}

// inbox keeps news until somebody takes it in.
type inbox struct {
	mu   sync.Mutex
	news []news
}

func (b *inbox) add(n news) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.news = append(b.news, n)
}

func (b *inbox) empty() []news {
	b.mu.Lock()
	defer b.mu.Unlock()
	told := b.news
	b.news = nil
	return told
}

// tell takes in what came of a call that no server served.
func (s *stretch) tell(n news) {
	s.arrived.add(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeIn()
	s.goOn()
}

// serve answers a call, or says that it is an effect.
func (s *stretch) serve(c snippet.Call, then func(news)) {
	switch c.Kind { //nolint:exhaustive // a sleep is not served
	case snippet.KindCall:
		s.call(c, 1, time.Now(), then)
	case snippet.KindSearch:
		result, err := s.runner.Lookup.Search(s.ctx, s.in.Scope, c.Input)
		then(answered(c, result, err))
	case snippet.KindDescribe:
		result, err := s.runner.Lookup.Describe(s.ctx, s.in.Scope, c.Input)
		then(answered(c, result, err))
	case snippet.KindResult:
		result, err := s.kept(c.Input)
		then(answered(c, result, err))
	default:
		then(answered(c, nil, &catalog.Error{Code: catalog.CodeInvalidInput, Message: fmt.Sprintf("a snippet cannot ask for %q", c.Kind)}))
	}
}

// call carries out a read that needs no approval, and plans any other call. A read
// that says that it may succeed later is tried again.
func (s *stretch) call(c snippet.Call, attempt int, began time.Time, then func(news)) {
	// A rehearsal asks nobody.
	request := catalog.Request{Tool: c.Tool, Input: c.Input, CanAsk: !s.in.Dry}
	s.runner.Broker.DispatchRead(s.ctx, s.in.Scope, request, func(r catalog.Reading) {
		n := news{call: c, plan: r.Plan, left: r.Left}
		switch {
		case !r.Done:
		case r.Outcome.Asks != nil: // made again by the thread, with the answer
			n.asks = r.Outcome.Asks
		case r.Outcome.Error == nil:
			n.outcome, n.warning = outcomeOf(c, r.Outcome.Result, nil), r.Outcome.Warning
		default:
			again := r.Outcome.Error.Retryable && attempt < attempts && time.Since(began) < activities.ReadRetryWithin
			if again && s.pause(time.Duration(attempt)*200*time.Millisecond) {
				s.call(c, attempt+1, began, func(n news) {
					n.left = n.left || r.Left
					then(n)
				})
				return
			}
			n.outcome = outcomeOf(c, nil, r.Outcome.Error)
		}
		then(n)
	})
}

func (s *stretch) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// sleep lets a short sleep pass, and hands a long one to the thread.
func (s *stretch) sleep(c snippet.Call) {
	var in struct {
		MS int64 `json:"ms"`
	}
	err := json.Unmarshal(c.Input, &in)
	d := time.Duration(min(in.MS, longestSleep.Milliseconds()+1)) * time.Millisecond
	switch {
	case err != nil || d < 0 || d > longestSleep:
		s.serving[c.Number] = time.Now()
		go s.tell(answered(c, nil, &catalog.Error{
			Code: catalog.CodeInvalidInput, Effect: catalog.EffectNone,
			Message: fmt.Sprintf("a snippet sleeps for at most %s at once", longestSleep),
		}))
	case d >= shortSleep && s.in.Dry: // a rehearsal waits for nothing
		s.serving[c.Number] = time.Now()
		go s.tell(answered(c, nil, nil))
	case d >= shortSleep:
		s.sleeps = append(s.sleeps, activities.Sleep{Number: c.Number, For: d})
	default:
		s.serving[c.Number] = time.Now()
		go func() {
			if s.pause(d) {
				s.tell(answered(c, nil, nil))
			}
		}()
	}
}

// count counts a call that is new, unless it goes past what the snippet's calls may
// use.
func (s *stretch) count(c snippet.Call) error {
	if c.Kind != snippet.KindCall || c.Number <= s.known {
		return nil
	}
	allowed := s.in.Allowed
	for _, over := range []*catalog.Error{
		allowed.Calls.Refusal(int64(s.used.Calls), 1),
		allowed.InputBytes.Refusal(s.used.InputBytes, int64(len(c.Input))),
		allowed.OutputBytes.Refusal(s.used.OutputBytes, 0),
	} {
		if over != nil {
			return over
		}
	}
	s.used.Calls++
	s.used.InputBytes += int64(len(c.Input))
	return nil
}

// afford refuses a result that the budget has no room for.
func (s *stretch) afford(c snippet.Call, d snippet.Delivery) snippet.Delivery {
	if c.Kind == snippet.KindCall {
		if over := s.in.Allowed.OutputBytes.Refusal(s.used.OutputBytes, int64(len(d.Result))); over != nil && d.Error == nil {
			over.Message = "the call was made, and its output is not given: " + over.Limit.String()
			return snippet.Delivery{Call: c.Number, At: d.At, Error: caught(c, over)}
		}
		s.used.OutputBytes += int64(len(d.Result))
	}
	if s.bytes+int64(len(d.Result)) <= s.runner.Budget.Bytes {
		return d
	}
	return snippet.Delivery{Call: c.Number, At: d.At, Error: &snippet.Error{
		Code: codeBytes, Tool: c.Tool, Effect: string(catalog.EffectNone),
		Message: fmt.Sprintf("the results of the snippet's calls are longer than %d bytes together", s.runner.Budget.Bytes),
		Hint:    "Fetch less: use filters and pages.",
	}}
}

// codeBytes is the code of a call whose result the budget has no room for.
const codeBytes = "byte_limit"

func answered(c snippet.Call, result json.RawMessage, err error) news {
	return news{call: c, outcome: outcomeOf(c, result, err)}
}

func outcomeOf(c snippet.Call, result json.RawMessage, err error) *snippet.Delivery {
	d := &snippet.Delivery{Call: c.Number, At: time.Now(), Result: result}
	if err != nil {
		d.Result, d.Error = nil, caught(c, err)
	}
	return d
}

// caught is an error as a snippet catches it.
func caught(c snippet.Call, err error) *snippet.Error {
	var fault *catalog.Error
	if !errors.As(err, &fault) {
		return &snippet.Error{Code: contract.CodeInternal, Message: err.Error(), Tool: c.Tool}
	}
	e := &snippet.Error{
		Code: fault.Code, Message: fault.Message, Tool: c.Tool, Retryable: fault.Retryable,
		Effect: string(fault.Effect), Hint: fault.Hint, Details: fault.Details,
	}
	more := map[string]any{}
	if len(fault.Violations) > 0 {
		more["violations"] = fault.Violations
	}
	if fault.Limit != nil {
		more["limit"] = fault.Limit
	}
	if len(more) > 0 && len(e.Details) == 0 {
		if details, err := json.Marshal(more); err == nil {
			e.Details = details
		}
	}
	return e
}

// served is a call as the timeline shows it, with the rule that decided about it.
func served(c snippet.Call, d snippet.Delivery, rule *catalog.Decided, took time.Duration) activities.Served {
	shown := activities.Served{
		Number: c.Number, Kind: c.Kind, Tool: c.Tool, DurationMS: took.Milliseconds(), Policy: rule,
		InputBytes: int64(len(c.Input)), OutputBytes: int64(len(d.Result)),
	}
	if d.Error != nil {
		shown.Problem = &contract.Problem{Code: d.Error.Code, Message: clip(d.Error.Message, 200)}
	}
	return shown
}
