package inprocess

import (
	"fmt"
	"maps"
	"net"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/conformance"
)

// TestFloodOfSessions: sessions are bounded; those that are there go on; room comes back when one ends.
func TestFloodOfSessions(t *testing.T) {
	noLeaks(t)
	const most = 20
	settings := maps.Clone(lake(t))
	settings["skua.session.max-per-principal"] = fmt.Sprint(most)
	target := start(t, settings).Target()
	var clients []*conformance.Client
	for i := range most {
		clients = append(clients, connect(t, target))
		if err := clients[i].Effect(t.Context(), conformance.PathQuery, fmt.Sprintf("SET my.key=%d", i)); err != nil {
			t.Fatalf("session %d: %v", i, err)
		}
	}
	if err := connect(t, target).Effect(t.Context(), conformance.PathQuery, "SET my.key=more"); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one session more gives %v", err)
	}
	for i, c := range clients {
		if seen := secondColumn(t, c, conformance.PathQuery, "SET my.key"); seen != fmt.Sprint(i) {
			t.Errorf("session %d sees %q", i, seen)
		}
	}
	if _, err := clients[0].Flight().CloseSession(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := connect(t, target).Effect(t.Context(), conformance.PathQuery, "SET my.key=late"); err != nil {
		t.Errorf("after a session was closed: %v", err)
	}
}

// TestFloodOfPreparedStatements: a client that never closes what it prepares loses the oldest and keeps the newest; memory stays in bounds.
func TestFloodOfPreparedStatements(t *testing.T) {
	if testing.Short() {
		t.Skip("it prepares thousands of statements")
	}
	noLeaks(t)
	client := connect(t, start(t, lake(t)).Target())
	prepare := func(n int) (first, last *flightsql.PreparedStatement) {
		for range n {
			p, err := client.Flight().Prepare(t.Context(), "SELECT id FROM lake.session.t")
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = p
			}
			last = p
		}
		return first, last
	}
	first, _ := prepare(600) // over the bound of a session
	before := heap()
	_, last := prepare(2000)
	if grown := heap() - before; grown > 32<<20 {
		t.Errorf("2,000 statements more cost %d bytes", grown)
	}
	if _, err := first.Execute(t.Context()); status.Code(err) != codes.NotFound {
		t.Errorf("the oldest statement gives %v", err)
	}
	if _, err := last.Execute(t.Context()); err != nil {
		t.Errorf("the newest statement gives %v", err)
	}
}

// heap is the memory in use, of this process, which the server is part of.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestFloodOfConnections: connections that say nothing keep nobody else from being served, and leave nothing behind.
func TestFloodOfConnections(t *testing.T) {
	noLeaks(t)
	target := start(t, lake(t)).Target()
	for range 300 {
		silent, err := net.Dial("tcp", target.Address)
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
	}
	if n, err := ask(t, connect(t, target), stormScan); err != nil || n != stormRows {
		t.Errorf("%d rows, %v", n, err)
	}
}
