package flightsql

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/auth"
)

func TestHeadersAreBounded(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	long := metadata.AppendToOutgoingContext(c.ctx, "x-long", strings.Repeat("v", 20<<10))
	if _, err := c.Execute(long, "SELECT 1"); err != nil {
		t.Errorf("headers as long as some drivers send: %v", err)
	}
	huge := metadata.AppendToOutgoingContext(c.ctx, "x-huge", strings.Repeat("v", 1<<20))
	if _, err := c.Execute(huge, "SELECT 1"); err == nil {
		t.Error("a MiB of headers was taken")
	} else if code := status.Code(err); code == codes.OK || code == codes.DeadlineExceeded {
		t.Errorf("%v", err)
	}
	if w.engine.prepared.Load() != 1 {
		t.Error("a call with a MiB of headers came to the engine")
	}
	c.query("SELECT 1") // the connection goes on
}

func TestWhoKnowsASessionsNameDoesNothingToItsStatements(t *testing.T) {
	w := start(t, func(c *Config) { c.Auth = byHeader{} })
	a := w.connect("authorization", alice)
	var header metadata.MD
	_, err := a.Execute(a.ctx, setX, grpc.Header(&header))
	check(t, err)
	id := header.Get(sessionHeader)
	if len(id) != 1 {
		t.Fatalf("no session: %v", header)
	}
	named := w.connect("authorization", alice, sessionHeader, id[0])
	p, err := named.Prepare(named.ctx, getX)
	check(t, err)
	thief := w.connect("authorization", bob, sessionHeader, id[0])
	_, err = thief.Execute(thief.ctx, getX)
	wantCode(t, err, codes.Unauthenticated, "session")
	_, err = thief.Prepare(thief.ctx, getX)
	wantCode(t, err, codes.Unauthenticated, "session")
	_, err = thief.CloseSession(thief.ctx, &flight.CloseSessionRequest{})
	wantCode(t, err, codes.NotFound, "no session")
	info, err := p.Execute(named.ctx)
	check(t, err)
	if rows := named.fetch(info); len(rows) != 1 || rows[0] != "mine" {
		t.Errorf("the owner reads %q", rows)
	}
}

func TestDropTakesOneOwnersStatements(t *testing.T) {
	w := start(t, nil)
	h := w.server.handles
	a, b := auth.Principal{Name: "a"}, auth.Principal{Name: "b"}
	mine, other := h.add("s", "c", a, "x", nil), h.add("s", "c", b, "x", nil)
	h.drop("s", "c", &a)
	if _, err := h.get(mine, a); err == nil {
		t.Error("it is still there")
	}
	if _, err := h.get(other, b); err != nil {
		t.Errorf("the other owner's is gone: %v", err)
	}
	h.drop("s", "c", nil)
	if _, err := h.get(other, b); err == nil || h.bytes != 0 || len(h.scopes) != 0 {
		t.Errorf("%d bytes, %d sessions are left, %v", h.bytes, len(h.scopes), err)
	}
}
