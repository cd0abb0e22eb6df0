package flightsql

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/engine"
)

// byHeader takes the user's name for granted.
type byHeader struct{}

func (byHeader) Authenticate(_ context.Context, c auth.Credentials) (auth.Identity, error) {
	if c.Scheme == auth.Basic {
		return auth.Identity{Principal: auth.Principal{Name: c.User}}, nil
	}
	return auth.Identity{Principal: auth.Anonymous}, nil
}

func (byHeader) Stands(auth.Principal, string) error { return nil }

const (
	alice = "Basic YWxpY2U6eA"
	bob   = "Basic Ym9iOng="
)

func TestTicketsStandAlone(t *testing.T) {
	w := start(t, nil)
	a := w.login()
	a.query("SET skua.flight.partitions=true")
	p, err := a.Prepare(a.ctx, "ROWS 4 2")
	check(t, err)
	info, err := p.Execute(a.ctx)
	check(t, err)
	check(t, p.Close(a.ctx))
	_, err = a.CloseSession(a.ctx, &flight.CloseSessionRequest{})
	check(t, err)
	replica := start(t, nil) // the same key
	b := replica.connect()
	if rows := b.fetch(info); len(info.Endpoint) != 4 || len(rows) != 8 {
		t.Fatalf("%d endpoints, %d rows", len(info.Endpoint), len(rows))
	}
	if again := b.fetch(info); len(again) != 8 {
		t.Fatalf("%d rows the second time", len(again))
	}
}

func TestTicketsCarryAnyText(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	for _, text := range []string{`a & b "c" \ <d>`, strings.Repeat("x&y\"\n%é", 150_000), randomText(1 << 20)} {
		rows, info := c.query("TEXT " + text)
		if len(rows) != 1 || rows[0] != text {
			t.Errorf("a text of %d bytes came back as %d rows", len(text), len(rows))
		}
		if size := proto.Size(info); size > 4<<20 {
			t.Errorf("the FlightInfo has %d bytes", size)
		}
	}
}

// randomText is hard to compress.
func randomText(n int) string {
	state, out := uint64(1), make([]byte, n)
	for i := range out {
		state = state*6364136223846793005 + 1442695040888963407
		out[i] = '!' + byte(state>>33)%90
		if out[i] == '\'' || out[i] == ';' {
			out[i] = '-'
		}
	}
	return string(out)
}

func TestBadTicketsAreRefusedWithoutDetail(t *testing.T) {
	w := start(t, func(c *Config) { c.Auth = byHeader{} })
	a, b := w.connect("authorization", alice), w.connect("authorization", bob)
	_, info := a.query("SELECT 1")
	good := info.Endpoint[0].Ticket.Ticket
	_, err := b.read(&flight.Ticket{Ticket: good}, nil)
	wantCode(t, err, codes.PermissionDenied, "another user")
	flipped := slices.Clone(good)
	flipped[len(flipped)/2] ^= 1
	wrongKind := descriptor(t, &pb.CommandStatementQuery{Query: "SELECT 1"}).Cmd
	prepared := descriptor(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: []byte("x")}).Cmd
	for name, bad := range map[string][]byte{"cut": good[:len(good)-1], "empty": {}, "flipped": flipped, "noise": []byte(strings.Repeat("\x00\xff", 40)), "a query": wrongKind, "a prepared query": prepared} {
		_, err := a.read(&flight.Ticket{Ticket: bad}, nil)
		if wantCode(t, err, codes.InvalidArgument, "ticket"); strings.Contains(err.Error(), "signature") {
			t.Errorf("%s: %v", name, err)
		}
	}
	beyond, err := w.server.seal(ticket{Pin: engine.Pin{Text: "SELECT 1", Principal: "alice"}, From: 3, To: 9}, w.now.Add(time.Hour))
	check(t, err)
	_, err = a.read(&flight.Ticket{Ticket: beyond}, nil)
	wantCode(t, err, codes.InvalidArgument, "parts")
	w.now = w.now.Add(25 * time.Hour)
	_, err = a.read(&flight.Ticket{Ticket: good}, nil)
	wantCode(t, err, codes.NotFound, "expired")
}

func TestRenewedEndpointsAreGoodForLonger(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	_, info := c.query("SELECT 1")
	w.now = w.now.Add(20 * time.Hour)
	renewed, err := c.RenewFlightEndpoint(c.ctx, &flight.RenewFlightEndpointRequest{Endpoint: info.Endpoint[0]})
	check(t, err)
	w.now = w.now.Add(20 * time.Hour)
	if rows, err := c.read(renewed.Ticket, info.Schema); err != nil || len(rows) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
}

func TestCancelFlightInfoEndsTheStreamOfItsOwnerOnly(t *testing.T) {
	w := start(t, func(c *Config) { c.Auth = byHeader{} })
	a, b, other := w.connect("authorization", alice), w.connect("authorization", bob), w.connect("authorization", alice)
	info, err := a.Execute(a.ctx, "ENDLESS")
	check(t, err)
	stream, err := a.DoGet(a.ctx, info.Endpoint[0].Ticket)
	check(t, err)
	defer stream.Release()
	if !stream.Next() {
		t.Fatal(stream.Err())
	}
	request := &flight.CancelFlightInfoRequest{Info: info}
	_, err = b.CancelFlightInfo(b.ctx, request)
	wantCode(t, err, codes.PermissionDenied, "")
	for range 2 {
		result, err := other.CancelFlightInfo(other.ctx, request)
		check(t, err)
		if result.Status != flight.CancelStatusCancelled {
			t.Fatalf("status %s", result.Status)
		}
	}
	for stream.Next() {
	}
	wantCode(t, stream.Err(), codes.Canceled, "cancelled")
	_, err = a.read(info.Endpoint[0].Ticket, nil)
	wantCode(t, err, codes.Canceled, "cancelled")
	raw, err := proto.Marshal(info)
	check(t, err)
	_, err = a.action("CancelQuery", &pb.ActionCancelQueryRequest{Info: raw}, true)
	check(t, err)
}
