package flightsql

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// secret is what alice alone knows: a value of her session and a row of her results.
const secret = "alice keeps this"

// talk is a conversation of three clients with one server, directed by bytes. What the server hands out to anybody (tickets, handles, tokens, cookies,
// FlightInfos) is kept and shown again by anybody: as it was, cut, changed, joined to another, in places that it was not made for.
type talk struct {
	t      *testing.T
	w      *world
	people []*client // alice, bob, somebody without a login
	pieces [][]byte
	script []byte
}

func newTalk(t *testing.T, script []byte) *talk {
	w := start(t, func(c *Config) { c.Auth = byHeader{} })
	k := &talk{t: t, w: w, script: script, people: []*client{w.login("authorization", alice), w.login("authorization", bob), w.connect()}}
	k.people[0].query("SET spark.sql.x=" + secret)
	_, info := k.people[0].query("TEXT " + secret)
	k.keep(info.Endpoint[0].Ticket.Ticket, marshalled(info))
	md, _ := metadata.FromOutgoingContext(k.people[0].ctx)
	k.keep([]byte(md.Get("authorization")[0]))
	k.pieces = append(k.pieces, seeds(t)...)
	return k
}

func marshalled(m proto.Message) []byte {
	b, _ := proto.Marshal(m)
	return b
}

// keep remembers what the server handed out, the latest of it only.
func (k *talk) keep(given ...[]byte) {
	for _, g := range given {
		if len(g) > 0 && len(g) < 1<<16 {
			k.pieces = append(k.pieces, bytes.Clone(g))
		}
	}
	if len(k.pieces) > 200 {
		k.pieces = slices.Delete(k.pieces, 40, len(k.pieces)-160)
	}
}

// next takes a number below n from the script; 0 when that is over.
func (k *talk) next(n int) int {
	if len(k.script) == 0 || n <= 0 {
		return 0
	}
	b := k.script[0]
	k.script = k.script[1:]
	return int(b) % n
}

// piece chooses something and does something to it.
func (k *talk) piece() []byte {
	p := bytes.Clone(k.pieces[k.next(len(k.pieces))])
	switch k.next(6) {
	case 1:
		return p[:k.next(len(p)+1)]
	case 2:
		if len(p) > 0 {
			p[k.next(256)*len(p)/256] ^= byte(1 + k.next(255))
		}
	case 3:
		return append(p, k.pieces[k.next(len(k.pieces))]...)
	case 4:
		other := k.pieces[k.next(len(k.pieces))]
		return append(p[:len(p)/2], other[len(other)/2:]...)
	}
	return p
}

// step lets somebody make one call, and gives everything that came back.
func (k *talk) step() (answer bytes.Buffer, told bool) {
	who := k.next(len(k.people))
	c := k.people[who]
	ctx, cancel := context.WithTimeout(c.ctx, 5*time.Second)
	defer cancel()
	told = who != 0
	if k.next(4) == 1 { // with credentials or a session that may be anybody's, who it is afterwards is for the server to say
		told = false
		ctx = metadata.AppendToOutgoingContext(ctx, []string{"authorization", "cookie", sessionHeader, "x-other"}[k.next(4)], printable(k.piece()))
	}
	var header metadata.MD
	svc, d := c.Client.Client, &flight.FlightDescriptor{Type: flight.DescriptorCMD}
	say := func(m proto.Message, err error) {
		if err != nil {
			answer.WriteString(err.Error())
			return
		}
		answer.Write(marshalled(m))
	}
	switch k.next(10) {
	case 0:
		text := []string{"SELECT 1", "ROWS 2 2", "GET spark.sql.x", "SET spark.sql.x=mine", "TEXT mine", "USE x", "ORDERED 1 1", "SELEC"}[k.next(8)]
		d.Cmd = pack(k.t, &pb.CommandStatementQuery{Query: text})
		info, err := svc.GetFlightInfo(ctx, d, grpc.Header(&header))
		if say(info, err); err == nil {
			for _, e := range info.Endpoint {
				k.keep(e.Ticket.Ticket)
				k.fetch(ctx, c, e.Ticket.Ticket, &answer)
			}
			k.keep(marshalled(info))
		}
	case 1:
		d.Cmd = k.piece()
		info, err := svc.GetFlightInfo(ctx, d, grpc.Header(&header))
		if say(info, err); err == nil {
			k.keep(marshalled(info))
		}
	case 2:
		k.fetch(ctx, c, k.piece(), &answer)
	case 3:
		names := []string{flight.CancelFlightInfoActionType, flight.RenewFlightEndpointActionType, flight.SetSessionOptionsActionType, flight.GetSessionOptionsActionType,
			flight.CloseSessionActionType, upstream.CreatePreparedStatementActionType, upstream.ClosePreparedStatementActionType, upstream.CancelQueryActionType}
		k.act(ctx, c, names[k.next(len(names))], k.piece(), &answer)
	case 4:
		text := []string{"SELECT 1", "ECHO ?", "SET spark.sql.x=mine", "GET spark.sql.x"}[k.next(4)]
		k.act(ctx, c, upstream.CreatePreparedStatementActionType, pack(k.t, &pb.ActionCreatePreparedStatementRequest{Query: text}), &answer)
	case 5:
		d.Cmd = k.piece()
		poll, err := svc.PollFlightInfo(ctx, d)
		if say(poll, err); err == nil {
			k.keep(marshalled(poll.Info), poll.FlightDescriptor.GetCmd())
		}
	case 6:
		d.Cmd = k.piece()
		schema, err := svc.GetSchema(ctx, d)
		say(schema, err)
	case 7:
		messages := bound(k.t, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: k.piece()})
		if i := k.next(len(messages) + 1); i < len(messages) {
			messages[i].DataHeader, messages[i].DataBody = k.piece(), k.piece()
		}
		k.put(ctx, c, messages, &answer)
	case 8:
		if s, err := svc.Handshake(ctx); err == nil {
			s.Send(&flight.HandshakeRequest{Payload: k.piece()})
			s.CloseSend()
			header, _ = s.Header()
			r, err := s.Recv()
			say(r, err)
		}
	case 9:
		if s, err := svc.ListFlights(ctx, &flight.Criteria{Expression: k.piece()}); err == nil {
			r, err := s.Recv()
			say(r, err)
		}
		if s, err := svc.DoExchange(ctx); err == nil {
			s.Send(&flight.FlightData{FlightDescriptor: d, DataHeader: k.piece()})
			s.CloseSend()
			r, err := s.Recv()
			say(r, err)
		}
	}
	for _, name := range []string{"set-cookie", authorizationHeader, sessionHeader} {
		for _, v := range header.Get(name) {
			k.keep([]byte(v))
		}
	}
	return answer, told
}

// printable makes a header's value of bytes.
func printable(b []byte) string {
	out := bytes.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, b)
	return string(out)
}

func (k *talk) fetch(ctx context.Context, c *client, ticket []byte, into *bytes.Buffer) {
	s, err := c.Client.Client.DoGet(ctx, &flight.Ticket{Ticket: ticket})
	for err == nil {
		var d *flight.FlightData
		if d, err = s.Recv(); err == nil {
			into.Write(d.DataHeader)
			into.Write(d.DataBody)
		}
	}
	fmt.Fprint(into, err)
}

func (k *talk) act(ctx context.Context, c *client, name string, body []byte, into *bytes.Buffer) {
	s, err := c.Client.Client.DoAction(ctx, &flight.Action{Type: name, Body: body})
	for err == nil {
		var r *flight.Result
		if r, err = s.Recv(); err == nil {
			into.Write(r.Body)
			k.keep(r.Body)
			var made pb.ActionCreatePreparedStatementResult
			if proto.Unmarshal(r.Body, &made) == nil {
				k.keep(made.PreparedStatementHandle)
			}
		}
	}
	fmt.Fprint(into, err)
}

func (k *talk) put(ctx context.Context, c *client, messages []*flight.FlightData, into *bytes.Buffer) {
	s, err := c.Client.Client.DoPut(ctx)
	if err != nil {
		return
	}
	for _, m := range messages {
		s.Send(m)
	}
	s.CloseSend()
	for err == nil {
		var r *flight.PutResult
		if r, err = s.Recv(); err == nil {
			into.Write(r.AppMetadata)
		}
	}
	fmt.Fprint(into, err)
}

// hold holds the conversation: nobody hears what alice alone knows, and the server goes on.
func (k *talk) hold() {
	for n := 0; len(k.script) > 0 && n < 40; n++ {
		if answer, told := k.step(); told && bytes.Contains(answer.Bytes(), []byte(secret)) {
			k.t.Fatalf("step %d: another user hears it: %q", n, answer.Bytes())
		}
	}
	k.w.connect().query("SELECT 1")
	for end := time.Now().Add(10 * time.Second); k.w.server.running.open() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			k.t.Fatalf("%d streams are still open", k.w.server.running.open())
		}
	}
}

// scripts are conversations to begin with: each tries what another client was given.
var scripts = [][]byte{
	nil,
	{1, 0, 2, 0, 0}, // bob fetches alice's ticket
	{2, 0, 2, 0, 0}, // so does somebody without a login
	{1, 0, 1, 0, 0, 1, 0, 3, 0, 1, 0},
	{0, 0, 4, 1, 1, 0, 7, 60, 0, 9, 2, 0, 7, 61, 0, 1, 5, 5, 0, 4, 0},
	{1, 1, 0, 2, 0, 0, 2, 1, 1, 1, 2, 0, 0, 0, 0, 3},
	{0, 0, 5, 3, 0, 1, 0, 5, 60, 0, 0, 0, 3, 4, 0, 0, 0, 0, 2},
}

func TestConversationsKeepSecrets(t *testing.T) {
	for _, s := range scripts {
		newTalk(t, s).hold()
	}
	// That the check can fail: alice hears it.
	k := newTalk(t, []byte{0, 0, 2, 0, 0})
	if answer, told := k.step(); told || !bytes.Contains(answer.Bytes(), []byte(secret)) {
		t.Errorf("alice does not hear her own: %q", answer.Bytes())
	}
}

func FuzzConversations(f *testing.F) {
	for _, s := range scripts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script []byte) { newTalk(t, script[:min(len(script), 1024)]).hold() })
}
