package signals_test

import (
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// A backend whose payloads are encoded reads with the same data converter.
func TestEncodedPayloads(t *testing.T) {
	encoded := converter.NewCodecDataConverter(
		converter.GetDefaultDataConverter(), converter.NewZlibCodec(converter.ZlibCodecOptions{AlwaysEncode: true}))
	temporal, err := client.Dial(client.Options{
		HostPort: testkit.DevServer(t).Address, DataConverter: encoded,
		ConnectionOptions: client.ConnectionOptions{GetSystemInfoTimeout: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(temporal.Close)
	b := newBed(t, temporal)
	b.Client = signals.NewClient(temporal, &signals.Options{TaskQueue: b.queue, DataConverter: encoded})
	startFake(t, temporal, b.queue)

	if turn := b.say(t, "echo secret"); turn.Answer != "secret" {
		t.Errorf("turn %+v", turn)
	}
	other := b.start
	other.User = "bob"
	wantCode(t, b.Open(within(t), other), contract.ErrThreadConflict)

	if _, err := signals.NewClient(temporal, nil).State(within(t), b.ref()); err == nil {
		t.Error("read without the data converter")
	}
}
