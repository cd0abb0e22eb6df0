package flightsql

import (
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/codes"
)

// TestAClientThatTakesNothingIsNotWaitedForForEver: its reader is closed while it stays connected, and it is told why when it reads on. So it is where
// somebody cancels what it does not read.
func TestAClientThatTakesNothingIsNotWaitedForForEver(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit time.Duration
		code  codes.Code
		why   string
	}{
		{"stalled", 50 * time.Millisecond, codes.DeadlineExceeded, "skua.fetch.stall.timeout"},
		{"cancelled", 0, codes.Canceled, "cancelled"},
		{"cancelled before it is stalled", time.Hour, codes.Canceled, "cancelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, func(config *Config) { config.Limits.Stall = c.limit })
			client := w.connect()
			info, err := client.Execute(client.ctx, "ENDLESS")
			check(t, err)
			stream, err := client.Client.Client.DoGet(client.ctx, info.Endpoint[0].Ticket)
			check(t, err)
			if c.code == codes.Canceled {
				for sent := int64(-1); sent != w.engine.batches.Load(); time.Sleep(50 * time.Millisecond) { // until nothing more is taken
					sent = w.engine.batches.Load()
				}
				_, err := client.CancelFlightInfo(client.ctx, &flight.CancelFlightInfoRequest{Info: info})
				check(t, err)
			}
			for end := time.Now().Add(time.Minute); w.engine.closedReaders.Load() == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the reader is still open")
				}
			}
			for err == nil {
				_, err = stream.Recv()
			}
			wantCode(t, err, c.code, c.why)
			check(t, w.server.Close())
		})
	}
}
