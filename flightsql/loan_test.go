package flightsql

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/session"
)

// newServer makes a Server whose calls come from anybody; it is for tests that bring their own service.
func newServer(t testing.TB, mem memory.Allocator) *Server {
	keyring, err := auth.NewKeyring(time.Now, []byte(strings.Repeat("k", auth.MinKey)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Engine: &fakeEngine{}, Sessions: session.NewStore(session.StoreConfig{}), Auth: auth.AnonymousOnly{}, Keyring: keyring})
	if err != nil {
		t.Fatal(err)
	}
	if mem != nil {
		s.mem = mem
	}
	return s
}

// poisoned overwrites memory that is freed, so that a message with it is wrong.
type poisoned struct{ *memory.CheckedAllocator }

func (p poisoned) Free(b []byte) {
	for i := range b {
		b[i] = 0xdd
	}
	p.CheckedAllocator.Free(b)
}

// lending is a service whose tickets are what its stream does:
//
//	rows    sends eight batches, each cut in two
//	endless sends until it is stopped
//	fail    sends two, then an error
type lending struct {
	pb.UnimplementedFlightServiceServer
	server *Server
	mem    poisoned
	seed   arrow.RecordBatch
	calls  sync.WaitGroup
}

var lendingTypes = []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean, arrow.ListOf(arrow.BinaryTypes.String)}

func (l *lending) DoGet(t *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	l.calls.Add(1)
	defer l.calls.Done()
	to := l.server.newSender(stream, l.seed.Schema(), form{})
	n := map[string]int{"rows": 8, "endless": 1 << 30, "fail": 2}[string(t.Ticket)]
	for range n {
		b := copyBatch(l.mem, l.seed)
		if err := sendAndRelease(to, b); err != nil {
			return err
		}
	}
	if string(t.Ticket) == "fail" {
		return errors.New("no more")
	}
	return to.finish()
}

// copyBatch makes a new batch in mem.
func copyBatch(mem memory.Allocator, b arrow.RecordBatch) arrow.RecordBatch {
	columns := make([]arrow.Array, b.NumCols())
	for i, c := range b.Columns() {
		var err error
		if columns[i], err = array.Concatenate([]arrow.Array{c}, mem); err != nil {
			panic(err)
		}
		defer columns[i].Release()
	}
	return array.NewRecordBatch(b.Schema(), columns, b.NumRows())
}

// lend starts a server with that service on a connection in memory.
func lend(t *testing.T) (l *lending, dial func() *grpc.ClientConn, stop func()) {
	l = &lending{mem: poisoned{memory.NewCheckedAllocator(memory.NewGoAllocator())}}
	l.server = newServer(t, l.mem)
	l.seed = randomBatch(memory.DefaultAllocator, rand.New(rand.NewPCG(3, 4)), 60_000, 0.1, lendingTypes...)
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer(append(l.server.Options(), grpc.WaitForHandlers(true))...)
	pb.RegisterFlightServiceServer(server, l)
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(listener) }()
	stop = func() { server.Stop(); <-served }
	t.Cleanup(stop)
	return l, func() *grpc.ClientConn {
		conn, err := grpc.NewClient("passthrough:///skua", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
		check(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn
	}, stop
}

// bodies are the bodies of the messages that one batch of the service is sent as.
func (l *lending) bodies(t *testing.T) (out [][]byte) {
	stream := &serialized{t: t}
	s := &sender{stream: stream, schema: l.seed.Schema(), mem: l.mem, loans: &loans{}}
	check(t, s.send(l.seed))
	for _, m := range stream.messages[1:] {
		var d flight.FlightData
		check(t, proto.Unmarshal(m, &d))
		out = append(out, d.DataBody)
	}
	if len(out) < 2 {
		t.Fatal("the batch is not cut")
	}
	return out
}

// receive reads up to n messages of a stream behind the schema and compares them with what was sent.
func receive(t *testing.T, stream pb.FlightService_DoGetClient, bodies [][]byte, n int) (got int, err error) {
	if _, err := stream.Recv(); err != nil {
		return 0, err
	}
	for ; got < n; got++ {
		d, err := stream.Recv()
		if err != nil {
			return got, err
		}
		if !bytes.Equal(d.DataBody, bodies[got%len(bodies)]) {
			t.Errorf("message %d is not what was sent", got)
		}
	}
	return got, nil
}

// nothingLeft waits until all memory is back.
func (l *lending) nothingLeft(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for l.mem.CurrentAlloc() != 0 && time.Now().Before(deadline) {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	l.mem.AssertSize(t, 0)
}

func TestMemoryIsLentUntilItIsSent(t *testing.T) {
	l, dial, _ := lend(t)
	bodies := l.bodies(t)
	var readers sync.WaitGroup
	for range 2 {
		client := pb.NewFlightServiceClient(dial())
		for range 2 {
			readers.Go(func() {
				stream, err := client.DoGet(t.Context(), &flight.Ticket{Ticket: []byte("rows")})
				if err != nil {
					t.Error(err)
					return
				}
				if n, err := receive(t, stream, bodies, 1<<30); err != io.EOF || n != 8*len(bodies) {
					t.Errorf("%d messages, then %v", n, err)
				}
			})
		}
	}
	readers.Wait()
	l.nothingLeft(t)
}

func TestNothingIsLeftOfStreamsThatAreCancelled(t *testing.T) {
	l, dial, _ := lend(t)
	bodies := l.bodies(t)
	client := pb.NewFlightServiceClient(dial())
	for i := range 24 {
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := client.DoGet(ctx, &flight.Ticket{Ticket: []byte("endless")})
		check(t, err)
		if i%4 > 0 {
			_, err = receive(t, stream, bodies, i%7)
			check(t, err)
		}
		cancel()
	}
	l.calls.Wait()
	l.nothingLeft(t)
}

func TestAStreamThatFailsSendsWhatItHas(t *testing.T) {
	l, dial, _ := lend(t)
	bodies := l.bodies(t)
	stream, err := pb.NewFlightServiceClient(dial()).DoGet(t.Context(), &flight.Ticket{Ticket: []byte("fail")})
	check(t, err)
	n, err := receive(t, stream, bodies, 1<<30)
	if n != 2*len(bodies) || status.Code(err) == codes.OK || err == io.EOF {
		t.Errorf("%d messages, then %v", n, err)
	}
	l.nothingLeft(t)
}

func TestNothingIsLeftOfConnectionsThatAreLost(t *testing.T) {
	l, dial, _ := lend(t)
	for range 10 {
		conn := dial()
		for range 3 {
			stream, err := pb.NewFlightServiceClient(conn).DoGet(t.Context(), &flight.Ticket{Ticket: []byte("endless")})
			check(t, err)
			_, err = stream.Recv()
			check(t, err)
		}
		conn.Close()
	}
	l.nothingLeft(t)
}

func TestNothingIsLeftOfAServerThatIsStopped(t *testing.T) {
	l, dial, stop := lend(t)
	for range 4 {
		stream, err := pb.NewFlightServiceClient(dial()).DoGet(t.Context(), &flight.Ticket{Ticket: []byte("endless")})
		check(t, err)
		_, err = stream.Recv()
		check(t, err)
	}
	stop()
	l.nothingLeft(t)
}

func TestASlowClientHoldsTwoBatches(t *testing.T) {
	l, dial, _ := lend(t)
	one := copyBatch(l.mem, l.seed)
	size := l.mem.CurrentAlloc()
	one.Release()
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := pb.NewFlightServiceClient(dial()).DoGet(ctx, &flight.Ticket{Ticket: []byte("endless")})
	check(t, err)
	for range 3 {
		time.Sleep(100 * time.Millisecond)
		if now := l.mem.CurrentAlloc(); now > 2*size+size/2 {
			t.Errorf("%d bytes are held, a batch has %d", now, size)
		}
		_, err := stream.Recv()
		check(t, err)
	}
	cancel()
	l.calls.Wait()
	l.nothingLeft(t)
}

// heldBatch is a frame of a new batch, as gRPC has it.
func heldBatch(t *testing.T, mem memory.Allocator, at *loans) *frame {
	b := copyBatch(mem, int64Batch(make([]int64, 1<<12)...))
	defer b.Release()
	f, err := newFrame(b, mem, at)
	check(t, err)
	return f
}

func TestALoanEndsWithItsLastBuffer(t *testing.T) {
	mem, at := memory.NewCheckedAllocator(memory.NewGoAllocator()), &loans{}
	f := heldBatch(t, mem, at)
	data, err := newCodec().Marshal(f)
	check(t, err)
	f.free()
	if mem.CurrentAlloc() == 0 || len(at.open) != 1 {
		t.Error("the loan ended before gRPC was done")
	}
	data.Free()
	if len(at.open) != 0 {
		t.Error("the loan is still watched")
	}
	mem.AssertSize(t, 0)
}

func TestALoanEndsWithItsConnection(t *testing.T) {
	mem, at := memory.NewCheckedAllocator(memory.NewGoAllocator()), &loans{}
	before, during := heldBatch(t, mem, at), heldBatch(t, mem, at)
	for _, f := range []*frame{before, during} {
		_, err := newCodec().Marshal(f)
		check(t, err)
	}
	before.free()
	at.end()
	if mem.CurrentAlloc() == 0 {
		t.Error("a frame that is being sent was freed")
	}
	during.free()
	mem.AssertSize(t, 0)
}

func TestALoanEndsWhenItsBuffersAreDropped(t *testing.T) {
	mem, at := memory.NewCheckedAllocator(memory.NewGoAllocator()), &loans{}
	f := heldBatch(t, mem, at)
	_, err := newCodec().Marshal(f)
	check(t, err)
	f.free()
	f = nil
	for deadline := time.Now().Add(10 * time.Second); mem.CurrentAlloc() != 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	mem.AssertSize(t, 0)
}
