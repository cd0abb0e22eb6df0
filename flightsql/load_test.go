package flightsql

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc/metadata"
)

// TestAThousandIdleAndFiftyBusySessionsHold: each keeps what it set, while fifty work beside them.
func TestAThousandIdleAndFiftyBusySessionsHold(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes a thousand sessions")
	}
	const idle, busy, each = 1000, 50, 20
	w := start(t, nil)
	conns := make([]*client, 20)
	for i := range conns {
		conns[i] = w.connect()
	}
	in := func(i int, token string) *client {
		c := *conns[i%len(conns)]
		c.ctx = metadata.AppendToOutgoingContext(c.ctx, "authorization", token)
		return &c
	}
	tokens := make([]string, idle+busy)
	var logins sync.WaitGroup
	for worker := range conns {
		logins.Go(func() {
			for i := worker; i < len(tokens); i += len(conns) {
				md, err := handshake(conns[worker])
				if err != nil {
					t.Error(err)
					return
				}
				tokens[i] = md.Get("authorization")[0]
				c := in(i, tokens[i])
				if _, err := c.Execute(c.ctx, fmt.Sprintf("SET spark.sql.x=%d", i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	logins.Wait()
	if t.Failed() {
		return
	}
	if n := w.sessions.Len(); n != idle+busy {
		t.Errorf("%d sessions", n)
	}
	var work sync.WaitGroup
	for b := range busy {
		work.Go(func() {
			c := in(b, tokens[idle+b])
			for range each {
				info, err := c.Execute(c.ctx, "ROWS 3 1000")
				if err != nil {
					t.Error(err)
					return
				}
				rows, err := c.read(info.Endpoint[0].Ticket, nil)
				if err != nil || len(rows) != 3000 {
					t.Errorf("%d rows, %v", len(rows), err)
				}
			}
		})
	}
	work.Wait()
	for i, token := range tokens {
		c := in(i, token)
		if rows, _ := c.query(getX); !slices.Equal(rows, []string{fmt.Sprint(i)}) {
			t.Fatalf("session %d has %q", i, rows)
		}
	}
	if n := w.server.running.open(); n != 0 {
		t.Errorf("%d streams are still open", n)
	}
}

// FuzzTickets changes a good ticket. It is refused, or means what it meant: unknown fields change nothing.
func FuzzTickets(f *testing.F) {
	f.Add(0, byte(1), []byte(nil), 0)
	f.Add(9, byte(0), []byte("tail"), 0)
	f.Add(40, byte(0x80), []byte{}, 10)
	f.Fuzz(func(t *testing.T, at int, flip byte, tail []byte, cut int) {
		w := start(t, nil)
		c := w.connect()
		want, info := c.query("ROWS 2 2")
		ticket := info.Endpoint[0].Ticket
		raw := slices.Clone(ticket.Ticket)
		if at >= 0 && at < len(raw) {
			raw[at] ^= flip
		}
		raw = append(raw[:len(raw)-min(max(0, cut), len(raw))], tail...)
		ticket.Ticket = raw
		resumed := w.engine.resumed.Load()
		rows, err := c.read(ticket, nil)
		if w.engine.resumed.Load() > resumed && (err != nil || !slices.Equal(rows, want)) { // else it became a command, which anybody may send
			t.Errorf("a changed ticket gives %q, %v", rows, err)
		}
		c.query("SELECT 1")
	})
}
