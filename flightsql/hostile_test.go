package flightsql

import (
	"math/rand"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// poke sends bytes to every call that takes some, in every place that takes them. What comes back does not matter, only that something does.
func (c *client) poke(b []byte) {
	d := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: b}
	svc := c.Client.Client
	svc.GetFlightInfo(c.ctx, d)
	svc.GetSchema(c.ctx, d)
	svc.PollFlightInfo(c.ctx, d)
	if s, err := svc.DoGet(c.ctx, &flight.Ticket{Ticket: b}); err == nil {
		for _, err := s.Recv(); err == nil; _, err = s.Recv() {
		}
	}
	if s, err := svc.ListFlights(c.ctx, &flight.Criteria{Expression: b}); err == nil {
		s.Recv()
	}
	if s, err := svc.Handshake(c.ctx); err == nil {
		s.Send(&flight.HandshakeRequest{Payload: b, ProtocolVersion: uint64(len(b))})
		s.CloseSend()
		s.Recv()
	}
	if s, err := svc.DoExchange(c.ctx); err == nil {
		s.Send(&flight.FlightData{FlightDescriptor: d, DataHeader: b, DataBody: b})
		s.CloseSend()
		s.Recv()
	}
	for _, name := range []string{flight.CancelFlightInfoActionType, flight.RenewFlightEndpointActionType, flight.SetSessionOptionsActionType,
		flight.GetSessionOptionsActionType, upstream.CreatePreparedStatementActionType, upstream.ClosePreparedStatementActionType, upstream.CancelQueryActionType,
		upstream.BeginTransactionActionType, upstream.EndTransactionActionType, upstream.BeginSavepointActionType, upstream.EndSavepointActionType,
		upstream.CreatePreparedSubstraitPlanActionType, string(b)} {
		if s, err := svc.DoAction(c.ctx, &flight.Action{Type: name, Body: b}); err == nil {
			s.Recv()
		}
	}
	c.put(&flight.FlightData{FlightDescriptor: d, DataHeader: b, DataBody: b}, &flight.FlightData{DataHeader: b, DataBody: b})
	c.put(&flight.FlightData{DataHeader: b})
	c.put()
}

// put sends messages to DoPut and gives the status.
func (c *client) put(messages ...*flight.FlightData) error {
	s, err := c.Client.Client.DoPut(c.ctx)
	if err != nil {
		return err
	}
	for _, m := range messages {
		s.Send(m)
	}
	s.CloseSend()
	for {
		if _, err := s.Recv(); err != nil {
			return err
		}
	}
}

// bound gives the messages of parameters as a client sends them.
func bound(t testing.TB, d *flight.FlightDescriptor) (out []*flight.FlightData) {
	r := &recorder{out: &out}
	w := flight.NewRecordWriter(r, ipc.WithSchema(int64Batch().Schema()))
	w.SetFlightDescriptor(d)
	if err := w.Write(int64Batch(1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return out
}

type recorder struct{ out *[]*flight.FlightData }

func (r *recorder) Send(d *flight.FlightData) error {
	*r.out = append(*r.out, proto.Clone(d).(*flight.FlightData))
	return nil
}

func pack(t testing.TB, m proto.Message) []byte {
	a, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// seeds are well-formed messages of every kind.
func seeds(t testing.TB) [][]byte {
	name := "x"
	code := int32(4)
	out := [][]byte{nil, []byte("SELECT 1"), []byte("\xff")}
	for _, m := range []proto.Message{&pb.CommandStatementQuery{Query: "SELECT 1", TransactionId: []byte("t")}, &pb.CommandStatementUpdate{Query: "SET a.b=1"},
		&pb.CommandPreparedStatementQuery{PreparedStatementHandle: []byte("h")}, &pb.CommandPreparedStatementUpdate{PreparedStatementHandle: []byte("h")},
		&pb.CommandGetCatalogs{}, &pb.CommandGetDbSchemas{Catalog: &name}, &pb.CommandGetTables{IncludeSchema: true, TableTypes: []string{"x"}}, &pb.CommandGetTableTypes{},
		&pb.CommandGetSqlInfo{Info: []uint32{0, 517, 99999}}, &pb.CommandGetXdbcTypeInfo{DataType: &code}, &pb.CommandGetPrimaryKeys{Table: name},
		&pb.CommandGetCrossReference{PkTable: name}, &pb.CommandStatementIngest{Table: name}, &pb.CommandStatementSubstraitPlan{}, &pb.TicketStatementQuery{StatementHandle: make([]byte, 60)},
		&pb.ActionCreatePreparedStatementRequest{Query: "ECHO ?"}, &pb.ActionClosePreparedStatementRequest{}, &pb.ActionCancelQueryRequest{Info: []byte{1}}} {
		out = append(out, pack(t, m))
	}
	for _, m := range []proto.Message{&pb.ActionBeginTransactionRequest{}, &pb.ActionEndTransactionRequest{TransactionId: []byte("t"), Action: 1}, &pb.ActionBeginSavepointRequest{TransactionId: []byte("t"), Name: "s"},
		&pb.ActionEndSavepointRequest{SavepointId: []byte("s"), Action: 2}, &pb.ActionCreatePreparedSubstraitPlanRequest{}, &pb.CommandGetExportedKeys{Table: name}, &pb.CommandGetImportedKeys{Table: name}} {
		out = append(out, pack(t, m))
	}
	for _, m := range []proto.Message{&flight.CancelFlightInfoRequest{Info: &flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{{}}}}, &flight.RenewFlightEndpointRequest{},
		&flight.SetSessionOptionsRequest{SessionOptions: map[string]*flight.SessionOptionValue{"": nil, "a.b": {}}}, &flight.GetSessionOptionsRequest{}, &pb.BasicAuth{Username: "u", Password: "p"}} {
		raw, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, raw)
	}
	return out
}

func TestNoMessageKillsTheServer(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	rng := rand.New(rand.NewSource(1))
	for _, seed := range seeds(t) {
		c.poke(seed)
		for range 3 {
			if b := append([]byte(nil), seed...); len(b) > 0 {
				b[rng.Intn(len(b))] ^= byte(1 << rng.Intn(8))
				c.poke(b[:1+rng.Intn(len(b))])
			}
		}
	}
	alive := w.connect()
	alive.query("SELECT 1")
}

func TestDoPutWithoutADescriptor(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	for _, messages := range [][]*flight.FlightData{{{DataHeader: []byte("x")}}, {{}}, {}} {
		wantCode(t, c.put(messages...), codes.InvalidArgument, "first message")
	}
	wantCode(t, c.put(&flight.FlightData{FlightDescriptor: &flight.FlightDescriptor{Path: []string{"x"}}}), codes.InvalidArgument, "")
	c.query("SELECT 1")
}

func TestBrokenParametersAreTheClientsFault(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	p, err := c.Prepare(c.ctx, "ECHO ?")
	check(t, err)
	d := descriptor(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: p.Handle()})
	good := bound(t, d)
	for part := range good {
		for at := 0; at < len(good[part].DataHeader); at += 3 {
			bad := bound(t, d)
			bad[part].DataHeader[at] ^= 0xff
			if err := c.put(bad...); err != nil && err.Error() != "EOF" {
				wantCode(t, err, codes.InvalidArgument, "")
			}
		}
		cut := bound(t, d)
		cut[part].DataHeader = cut[part].DataHeader[:len(cut[part].DataHeader)/2]
		if err := c.put(cut...); err.Error() != "EOF" {
			wantCode(t, err, codes.InvalidArgument, "")
		}
	}
	// Nothing but the descriptor: there are no columns.
	if err := c.put(&flight.FlightData{FlightDescriptor: d}); err.Error() != "EOF" {
		t.Fatal(err)
	}
	c.query("SELECT 1")
}

func FuzzMessages(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		w := start(t, nil)
		c := w.connect()
		begin := time.Now()
		c.poke(b)
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
		c.query("SELECT 1")
	})
}
