package services

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// browser is a person with a real browser, without a window.
type browser struct{ ctx context.Context }

func newBrowser(t *testing.T) browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("HEDDLE_TEST_BROWSER") == "required" {
			t.Fatalf("consent in a browser needs chromium: %v", err)
		}
		t.Skipf("no chromium (%v): consent is not given in a browser", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WSURLReadTimeout(2*time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // as root there is no sandbox to be had
	}
	ctx, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	return browser{ctx}
}

// press opens a page of consent, clicks on a button of it, and returns what stands on
// the page that this leads to, and its address.
func (b browser) press(page, button string) (text, address string, err error) {
	ctx, stop := context.WithTimeout(b.ctx, 3*time.Minute)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.Navigate(page)); err != nil {
		return "", "", err
	}
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(button))); err != nil {
		return "", "", err
	}
	if text, err = chromedp.Run(ctx, chromedp.Text(chromedp.CSS("body"))); err != nil {
		return "", "", err
	}
	address, err = chromedp.Run(ctx, chromedp.Location())
	return strings.TrimSpace(text), address, err
}

func (b browser) allow(_ context.Context, page string) (string, error) {
	text, _, err := b.press(page, "#allow")
	return text, err
}

func (b browser) deny(_ context.Context, page string) (string, error) {
	text, _, err := b.press(page, "#deny")
	return text, err
}

// TestConsentInABrowser: a person agrees in a browser, on the page of the authorization
// server, and comes back by its redirect: to the command, and to the worker whose thread
// asks. One who refuses comes back too, and nothing is connected.
func TestConsentInABrowser(t *testing.T) {
	person := newBrowser(t)
	crm := crmService(t)
	server := testkit.DevServer(t)
	address := freeAddress(t)
	worker := testkit.StartWorker(t, testkit.Worker{
		Server: server, Env: []string{secretsKey},
		Files: map[string]string{"heddle.yaml": crmConfig(crm, fmt.Sprintf(", callback: {listen: %q}", address)), "crm.yaml": consentedSpec},
	})
	threads := signals.NewClient(server.Client(t), &signals.Options{TaskQueue: worker.TaskQueue})
	start := contract.Start{ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: testkit.Name(t)}, Agent: "coder", User: "ada"}

	out, err := consentByCommand(t, worker.Dir, crm, visit{person.deny, "The service is not connected: "}, "--name", "crm", "--tenant", "acme")
	if err == nil || !strings.Contains(out, "access_denied: the person says no") {
		t.Errorf("to a person who refuses the command says %s (%v)", out, err)
	}
	if out, err := consentByCommand(t, worker.Dir, crm, visit{person.allow, connectedText}, "--name", "crm", "--tenant", "acme"); err != nil {
		t.Fatalf("the command says %s (%v)", out, err)
	}
	if got := answerTo(t, threads, start, orderSnippet); !strings.Contains(got, "order 7 Bearer ") {
		t.Errorf("once it is connected the agent is told %s", got)
	}

	crm.EndGrants()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	sent, err := threads.Send(ctx, start, contract.Submission{Text: orderSnippet})
	if err != nil {
		t.Fatal(err)
	}
	text, at, err := person.press(questionOf(ctx, t, threads, start.ThreadRef).URL, "#allow")
	if err != nil || text != connectedText || !strings.HasPrefix(at, "http://"+address+"/connections/callback?") {
		t.Fatalf("the person sees %q at %s (%v)", text, at, err)
	}
	if got := answerOf(ctx, t, threads, start.ThreadRef, sent.Turn); !strings.Contains(got, "order 7 Bearer ") {
		t.Errorf("after consent the agent is told %s", got)
	}
	if got := fmt.Sprint(crm.Log()); got != "[register register consent code refresh: unknown register consent code]" {
		t.Errorf("the authorization server was asked for %s", got)
	}
	// The address with the code is of use to nobody else.
	again, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Body.Close()
	if again.StatusCode != http.StatusBadRequest {
		t.Errorf("the way back that was taken answers %d", again.StatusCode)
	}
}
