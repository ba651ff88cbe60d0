package durability

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// withTotals is the worker's configuration with totals of tenants.
func withTotals(t *testing.T, totals string) string {
	t.Helper()
	testkit.OneDay(t, 5*time.Minute)
	return config + "limits:\n  tenants: {" + totals + "}\n"
}

// newUsageBed is threads on two workers that limit what tenants use.
func newUsageBed(t *testing.T, server *testkit.Server, totals string) *lockBed {
	t.Helper()
	return newLockBedOf(t, server, withTotals(t, totals))
}

// wrote are the writes that the workers made.
func (b *lockBed) wrote() []string {
	return append(lines(b.t, b.workers[0], "writes"), lines(b.t, b.workers[1], "writes")...)
}

// usedBy is what the tenant has used in the month.
func (b *bed) usedBy(tenant string) contract.PeriodUsage {
	b.t.Helper()
	var usage contract.TenantUsage
	b.query(contract.UsageID(tenant), &usage, contract.QueryUsage)
	return usage.Periods[len(usage.Periods)-1]
}

// refusal is the limit by which a call or a turn was refused.
func (b *bed) refusal(p *contract.Problem) catalog.Exceeded {
	b.t.Helper()
	var details struct {
		Limit     catalog.Exceeded `json:"limit"`
		Effect    catalog.Effect   `json:"effect"`
		Retryable bool             `json:"retryable"`
		Hint      string           `json:"hint"`
	}
	if p == nil || p.Code != contract.CodeLimit {
		b.t.Fatalf("problem = %v, want %s", p, contract.CodeLimit)
	}
	b.must(json.Unmarshal(p.Details, &details))
	ends := details.Limit.Until.UTC().Format(time.RFC3339)
	if details.Effect != catalog.EffectNone || details.Retryable || !strings.Contains(details.Hint, ends) || !strings.Contains(p.Message, b.start.Tenant) {
		b.t.Errorf("problem = %s %s", p.Message, p.Details)
	}
	return details.Limit
}

// Threads of a tenant, on two workers, share its total: one more call is refused, with
// all that there is to say, and nothing of it was done. Another tenant is not touched.
func TestThreadsShareTheTotalOfTheirTenant(t *testing.T) {
	server := testkit.DevServer(t)
	b := newUsageBed(t, server, `"*": {total: {month: {calls: 4}}}`)
	first, other := b.thread("first"), b.thread("other")
	if turn := first.wait(first.send("read:a read:b|free:w|say:done")); turn.Answer != "done" {
		t.Fatalf("turn = %+v, problem %v", turn, turn.Problem)
	}
	turn := other.wait(other.send("free:v|free:u|say:done"))
	if turn.Answer != "done" { // the agent is told of the refusal, and goes on
		t.Errorf("turn = %+v, problem %v", turn, turn.Problem)
	}
	if writes := b.wrote(); len(writes) != 2 {
		t.Errorf("the writes %q, want those within the total", writes)
	}
	_, ends := contract.PeriodMonth.Around(time.Now())
	want := catalog.Exceeded{
		Limit: "limits.tenants.*.total.month.calls", Value: 4, Unit: "calls", SetBy: catalog.SetByApp, Used: 4, Until: ends,
	}
	if got := other.refusal(other.problemOf("t1-s2-c1")); got != want {
		t.Errorf("refused by %+v\nwant %+v", got, want)
	}
	// A model turn does not wait for long until what it has used is counted.
	b.until("the tokens of all are counted", func() bool { return b.usedBy(b.start.Tenant).Used.Tokens >= 6*12 })
	used := b.usedBy(b.start.Tenant)
	if u := used.Used; u.Calls != 4 || u.Steps != 6 || u.Tokens != 6*12 || u.InputBytes == 0 || u.OutputBytes == 0 || used.Limits.Calls != 4 {
		t.Errorf("used %+v", used)
	}
	foreign := b.thread("foreign")
	foreign.start.Tenant += "-x"
	foreign.wait(foreign.send("read:a|say:done"))
	if _, problem := foreign.told("test.read"); problem != nil {
		t.Errorf("another tenant was told %v", problem)
	}
	if used := b.usedBy(foreign.start.Tenant).Used; used.Calls != 1 {
		t.Errorf("another tenant used %+v", used)
	}
	other.replay("tenant_total_reached", "")
	other.replayOf(contract.UsageID(b.start.Tenant), "usage_counted", "")
}

// A snippet can catch that a call is refused; what it made before stands.
func TestSnippetCatchesTheTotalOfItsTenant(t *testing.T) {
	b := newUsageBed(t, testkit.DevServer(t), `"*": {total: {day: {calls: 3}}}`)
	b.start.Agent = "coder"
	answer := b.answer(b.send(`
		const codes: string[] = [];
		for (const name of ["a", "b"]) await test.read({ name });
		await test.free({ name: "w" });
		await test.free({ name: "v" }).catch((e: any) => codes.push(e.code, e.details.limit.limit, e.effect));
		await test.read({ name: "c" }).catch((e: any) => codes.push(e.code));
		return codes`))
	if want := `["limit_exceeded","limits.tenants.*.total.day.calls","none","limit_exceeded"]`; string(answer.Result) != want {
		t.Errorf("the snippet caught %s, want %s", asJSON(answer), want)
	}
	if used := b.usedBy(b.start.Tenant).Used; used.Calls != 3 {
		t.Errorf("used %+v", used)
	}
}

// A model turn past a total ends the turn as other limits do, and no model is asked.
func TestTurnEndsAtTheTotalOfItsTenant(t *testing.T) {
	b := newUsageBed(t, testkit.DevServer(t), `"*": {total: {month: {tokens: 30}}}`)
	first, other := b.thread("first"), b.thread("other")
	first.wait(first.send("read:a|say:done"))
	turn := other.wait(other.send("read:a|say:done"))
	if turn.Status != contract.StatusFailed {
		t.Errorf("turn = %+v", turn)
	}
	// The third turn of the model began within the total, and went past it.
	if got := other.refusal(turn.Problem); got.Limit != "limits.tenants.*.total.month.tokens" || got.Value != 30 || got.Unit != "tokens" || got.Used != 36 {
		t.Errorf("refused by %+v", got)
	}
	if turn := other.wait(other.send("say:again")); turn.Status != contract.StatusFailed || turn.Problem.Code != contract.CodeLimit {
		t.Errorf("the next turn = %+v", turn)
	}
	b.until("the tokens of all are counted", func() bool { return b.usedBy(b.start.Tenant).Used.Tokens >= 36 })
	if used := b.usedBy(b.start.Tenant).Used; used.Steps != 3 || used.Tokens != 36 {
		t.Errorf("used %+v", used)
	}
	other.replay("tenant_tokens_reached", "")
}

// What a worker has counted stands when it is killed, and what is done again counts
// again: the total is never passed, nor forgotten.
func TestTotalsSurviveAKill(t *testing.T) {
	b := newUsageBed(t, testkit.DevServer(t), `"*": {total: {month: {calls: 3}}}`)
	resource := testkit.Name(t)
	first, other := b.thread("first"), b.thread("other")
	b.target.gate(resource + ".1")
	turn := first.send("read:a|trace:" + resource + ".1|say:done")
	b.restartWorker(resource + ".1") // which has sent the write
	if ended := first.wait(turn); ended.Answer != "done" {
		t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
	}
	if used := b.usedBy(b.start.Tenant).Used; used.Calls != 2 { // the write was found out about, and not made again
		t.Errorf("used %+v", used)
	}
	other.wait(other.send("free:w|free:v|say:done"))
	other.refusal(other.problemOf("t1-s2-c1"))
	if writes := b.wrote(); len(writes) != 1 {
		t.Errorf("the writes %q", writes)
	}
}

// A read that a killed worker had begun is made again, and counts twice.
func TestWhatIsDoneTwiceCountsTwice(t *testing.T) {
	b := newBedOf(t, testkit.DevServer(t), map[string]string{"heddle.yaml": withTotals(t, `"*": {total: {month: {calls: 4}}}`)})
	turn := b.send("read:a|gate:slow|say:done")
	awaitGate(t, b.worker, "slow")
	b.restart()
	openGate(t, b.worker, "slow")
	if ended := b.wait(turn); ended.Answer != "done" {
		t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
	}
	if used := b.usedBy(b.start.Tenant).Used; used.Calls != 3 {
		t.Errorf("used %+v", used)
	}
}

// A write that waits for its resource does not count until it is made.
func TestWaitingWriteDoesNotCount(t *testing.T) {
	b := newUsageBed(t, testkit.DevServer(t), `"*": {total: {month: {calls: 2}}}`)
	resource := testkit.Name(t)
	first, second, third := b.thread("first"), b.thread("second"), b.thread("third")
	turn, waiting, open := b.contend(resource, first, second)
	b.until("the write that waits does not count", func() bool { return b.usedBy(b.start.Tenant).Used.Calls == 1 })
	open()
	first.completed(turn)
	second.completed(waiting)
	third.wait(third.send("keep:" + resource + ".3|say:done"))
	third.refusal(third.problemOf("t1-s1-c1"))
	if order := b.target.order(); order != resource+".1 "+resource+".2" {
		t.Errorf("the target got %q", order)
	}
	if state := b.lock(resource); state.Holder != nil || len(state.Queue) > 0 {
		t.Errorf("the lock is left as %+v", state)
	}
}

// Where workers encrypt what reaches Temporal, what is counted is encrypted too, and a
// backend with the keys can read it.
func TestEncryptedUsage(t *testing.T) {
	keys := payloadKey("k1", 1)
	configured := strings.Replace(withTotals(t, `"*": {total: {month: {calls: 1}}}`), "sandbox:", "temporal: {encryption: {key_file: payload.keys}}\nsandbox:", 1)
	plain := newBedOf(t, testkit.DevServer(t), map[string]string{"heddle.yaml": configured, "payload.keys": keys})
	b := plain.withKeys(keys)
	b.wait(b.send("read:a|read:b|say:done"))
	b.refusal(b.problemOf("t1-s2-c1"))
	usage, err := b.Usage(b.ctx(), b.start.Tenant)
	b.must(err)
	if used := usage.Periods[2]; used.Used.Calls != 1 || used.Limits.Calls != 1 {
		t.Errorf("usage = %+v", usage)
	}
	if _, err := b.Usage(b.ctx(), b.start.Tenant+"-x"); !hasCode(err, contract.ErrNotCounted) {
		t.Errorf("the usage of a tenant that is not counted: %v", err)
	}
}

// However many calls two workers make at once, no more than the total are, and what
// counts them continues as new meanwhile.
func TestTotalHoldsForManyAtOnce(t *testing.T) {
	const threads, reads, total = 6, 30, 100
	b := newUsageBed(t, testkit.StartServer(t, shortRuns), fmt.Sprintf(`"*": {total: {month: {calls: %d}}}`, total))
	b.start.Agent = "coder"
	turns := map[*bed]string{}
	for i := range threads {
		thread := b.thread(fmt.Sprint(i))
		turns[thread] = thread.send(fmt.Sprintf(`let made = 0;
			await Promise.allSettled(Array.from({ length: %d }, (_, i) => test.read({ name: "r" + i }).then(() => { made++ })));
			return made`, reads))
	}
	made := 0
	for thread, turn := range turns {
		var n int
		b.must(json.Unmarshal(thread.answer(turn).Result, &n))
		made += n
	}
	did := len(lines(t, b.worker, "reads")) + len(lines(t, b.workers[1], "reads"))
	if made != total || did != total {
		t.Errorf("%d calls came to a result, and %d were made; want %d", made, did, total)
	}
	if used := b.usedBy(b.start.Tenant).Used; used.Calls != total {
		t.Errorf("used %+v", used)
	}
	for i := range 30 { // more than a run takes
		thread := b.thread(fmt.Sprint("after", i))
		thread.wait(thread.send(`1`))
	}
	id := contract.UsageID(b.start.Tenant)
	described, err := b.client.DescribeWorkflow(b.ctx(), id, "")
	b.must(err)
	firstRun := described.RawResponse.GetWorkflowExecutionInfo().GetFirstRunId()
	if firstRun == described.WorkflowExecution.RunID || firstRun == "" {
		t.Errorf("it never continued as new (first run %q)", firstRun)
	}
	if used := b.usedBy(b.start.Tenant).Used; used.Calls != total {
		t.Errorf("used %+v after it continued as new", used)
	}
	b.replayOf(id, "usage_continued", firstRun)
}

// A tenant without totals is not counted, and costs nothing.
func TestTenantWithoutTotalsIsNotCounted(t *testing.T) {
	b := newUsageBed(t, testkit.DevServer(t), `nobody: {total: {month: {calls: 1}}}`)
	b.wait(b.send("read:a read:b|free:w|say:done"))
	if _, err := b.client.DescribeWorkflow(b.ctx(), contract.UsageID(b.start.Tenant), ""); err == nil {
		t.Error("it is counted")
	}
}

// A total that is used up stops each who would call a tool. A rehearsal makes its reads
// and is stopped there, and plans its writes.
func TestTotalStopsEveryCaller(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	thread := b.start.Thread
	b.start.Thread = thread + "-run_undo"
	b.wait(b.send("put:a|say:done"))
	b.configure(config + either + `policy:
  - {name: at-once, effect: allow, tools: [test.*], without_approval: true}
limits:
  tenants: {"*": {total: {month: {input_bytes: 1}}}}
`)
	for name, call := range everyCaller {
		t.Run(name, func(t *testing.T) {
			c := *b
			c.t, c.start.Agent, c.start.Thread = t, "tester", thread+"-"+strings.ReplaceAll(name, " ", "_")
			codes := call(&c)
			for i, code := range codes {
				if planned := name == "run dry_run" && code == ""; code != contract.CodeLimit && !planned {
					t.Errorf("call %d came to %q", i+1, code)
				}
			}
		})
	}
	if reads := lines(t, b.worker, "reads"); len(reads) != 0 || b.effects() != "a" {
		t.Errorf("reads %v, effects %q", reads, b.effects())
	}
}
