package signals_test

import (
	"context"
	"fmt"
	"log"

	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// A backend opens a thread with its first message, shows what happens, has a
// person decide what the thread asks, and takes the answer.
func Example() {
	ctx := context.Background()
	temporal, err := client.Dial(client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer temporal.Close()
	threads := signals.NewClient(temporal, nil)

	start := contract.Start{
		ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: "thr-1"}, Agent: "support", User: "ann",
	}
	sent, err := threads.Send(ctx, start, contract.Submission{ID: "msg-1", Text: "Please refund order 4711."})
	if err != nil {
		log.Fatal(err)
	}
	for part, err := range threads.Watch(ctx, start.ThreadRef, 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(part.Kind, part.Status, part.Title)
		if part.Kind == contract.KindApproval && part.Status == contract.PartWaiting {
			decision := contract.Decision{Approval: part.ID, Digest: part.Approval.Digest, By: "eve"}
			if err := threads.Approve(ctx, start.ThreadRef, decision); err != nil {
				log.Fatal(err)
			}
		}
		if part.ID == sent.Turn && part.EndedAt != nil {
			break
		}
	}
	turn, err := threads.Wait(ctx, start.ThreadRef, sent.Turn)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(turn.Answer)
}
