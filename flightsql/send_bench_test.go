package flightsql

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// drainAddress tells a child process of the benchmark which server to read, so that its CPU time is not the server's.
const drainAddress = "SKUA_DRAIN_ADDRESS"

func TestMain(m *testing.M) {
	if address := os.Getenv(drainAddress); address != "" {
		if err := drain(context.Background(), address); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func drain(ctx context.Context, address string) error {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		return err
	}
	defer conn.Close()
	stream, err := pb.NewFlightServiceClient(conn).DoGet(ctx, &flight.Ticket{})
	if err != nil {
		return err
	}
	for err == nil {
		_, err = stream.Recv()
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// gigabyte is a service whose stream is about one GB of batches in memory.
type gigabyte struct {
	pb.UnimplementedFlightServiceServer
	server   *Server
	upstream bool
	batch    arrow.RecordBatch
}

func (g *gigabyte) DoGet(_ *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	write, finish := g.server.newSender(stream, g.batch.Schema(), form{}).send, func() error { return nil }
	if g.upstream {
		w := flight.NewRecordWriter(stream, ipc.WithSchema(g.batch.Schema()))
		write, finish = w.Write, w.Close
	}
	for range g.times() {
		if err := write(g.batch); err != nil {
			return err
		}
	}
	return finish()
}

func (g *gigabyte) times() int64 { return 1e9 / g.size() }
func (g *gigabyte) size() int64  { return batchSize(g.batch, 0, g.batch.NumRows()) }

// BenchmarkSend measures the server's CPU time to send batches that are in memory, with frames and with the upstream writer, over loopback to
// another process.
func BenchmarkSend(b *testing.B) {
	types := []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.String, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date32}
	for range 8 {
		types = append(types, arrow.PrimitiveTypes.Int64)
	}
	batch := randomBatch(memory.DefaultAllocator, rand.New(rand.NewPCG(1, 2)), 16_000, 0, types...)
	b.Run("frames", func(b *testing.B) { benchmarkSend(b, &gigabyte{batch: batch}) })
	b.Run("upstream", func(b *testing.B) { benchmarkSend(b, &gigabyte{batch: batch, upstream: true}) })
}

func benchmarkSend(b *testing.B, g *gigabyte) {
	g.server = newServer(b, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer(g.server.Options()...)
	pb.RegisterFlightServiceServer(server, g)
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(listener) }()
	defer func() { server.Stop(); <-served }()
	before := cpuTime(b)
	for b.Loop() {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), drainAddress+"="+listener.Addr().String())
		if out, err := child.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	b.SetBytes(g.times() * g.size())
	b.ReportMetric((cpuTime(b)-before)/float64(b.N)/(float64(g.times()*g.size())/1e9), "cpu-s/GB")
}

// cpuTime is what this process has used so far, in seconds.
func cpuTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
