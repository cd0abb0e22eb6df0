package conformance

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// liar is a bad server that lies in the messages themselves, where a library for servers would keep it from doing so.
type liar struct {
	flight.FlightServer
	rows *bad
}

func startLiar(t *testing.T) Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &bad{rows: oneColumn(arrow.PrimitiveTypes.Int32, "[1, 2, 3]")}
	b.schema = b.rows.Schema()
	s := flight.NewServerWithMiddleware(nil)
	s.InitListener(l)
	s.RegisterFlightService(&liar{flightsql.NewFlightServer(b), b})
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	t.Cleanup(func() { s.Shutdown(); <-done })
	return Target{Address: l.Addr().String(), Credentials: insecure.NewCredentials()}
}

// GetFlightInfo lies about what there is to fetch.
func (l *liar) GetFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	info, err := l.FlightServer.GetFlightInfo(ctx, d)
	if err != nil {
		return nil, err
	}
	info.Schema = nil // the stream's counts
	switch text := string(d.Cmd); {
	case strings.Contains(text, "no ticket"):
		info.Endpoint = []*flight.FlightEndpoint{{}}
	case strings.Contains(text, "garbage for a schema"):
		info.Schema = []byte(strings.Repeat("\xff\x00\x10", 100))
	case strings.Contains(text, "no endpoint"):
		info.Endpoint = nil
	case strings.Contains(text, "unprintable"):
		return nil, status.Error(codes.Internal, "\x00\x1b[31m<script>\xff\ufffe")
	case strings.Contains(text, "long-winded"):
		return nil, status.Error(codes.Internal, strings.Repeat("on and on ", 1<<19))
	}
	return info, nil
}

// DoGet lies about rows.
func (l *liar) DoGet(ticket *flight.Ticket, out flight.FlightService_DoGetServer) error {
	text := string(ticket.Ticket)
	switch {
	case strings.Contains(text, "nothing at all"):
		return nil
	case strings.Contains(text, "message too large"):
		return send(out, wide(mostMessage+1<<20))
	case strings.Contains(text, "large for ever"):
		return send(out, wide(16<<20), forEver)
	case strings.Contains(text, "empty for ever"):
		return send(out, oneColumn(arrow.PrimitiveTypes.Int32, "[]"), forEver)
	case strings.Contains(text, "error behind the rows"):
		if err := send(out, l.rows.rows); err != nil {
			return err
		}
		return status.Error(codes.DataLoss, "the last rows are lost")
	case strings.Contains(text, "offsets outside"):
		return forged(out, threeWords(), numbers(0, 1, 2, 3), numbers(0, 1, 2, 1<<30))
	case strings.Contains(text, "offsets backwards"):
		return forged(out, threeWords(), numbers(0, 1, 2, 3), numbers(0, 3, 1, 2))
	case strings.Contains(text, "unpacks to more"):
		return forged(out, l.rows.rows, sized(12), sized(1<<40), ipc.WithZstd())
	case strings.Contains(text, "unpacks to less than nothing"):
		return forged(out, l.rows.rows, sized(12), sized(-5), ipc.WithZstd())
	case strings.Contains(text, "dictionary too short"):
		return forged(out, encoded(), numbers(0, 1, 0), numbers(0, 1, 7))
	case strings.Contains(text, "noise"):
		return out.Send(&flight.FlightData{DataHeader: []byte(strings.Repeat("noise", 50)), DataBody: []byte("noise")})
	}
	return l.FlightServer.DoGet(ticket, out)
}

// DoAction lies about prepared statements.
func (l *liar) DoAction(a *flight.Action, out flight.FlightService_DoActionServer) error {
	text := string(a.Body)
	switch {
	case strings.Contains(text, "prepares nothing"):
		return nil
	case strings.Contains(text, "prepares noise"):
		return out.Send(&flight.Result{Body: []byte("noise")})
	case strings.Contains(text, "prepares garbage"):
		var packed anypb.Any
		if err := packed.MarshalFrom(&pb.ActionCreatePreparedStatementResult{PreparedStatementHandle: []byte("h"), DatasetSchema: []byte("\x00\xff garbage")}); err != nil {
			return err
		}
		body, err := proto.Marshal(&packed)
		if err != nil {
			return err
		}
		return out.Send(&flight.Result{Body: body})
	case strings.Contains(text, "prepares for ever"):
		<-out.Context().Done()
		return out.Context().Err()
	}
	return l.FlightServer.DoAction(a, out)
}

// forEver makes send send the batch until nobody listens.
const forEver = true

func send(out flight.FlightService_DoGetServer, b arrow.RecordBatch, again ...bool) error {
	w := flight.NewRecordWriter(out, ipc.WithSchema(b.Schema()))
	defer w.Close()
	for {
		if err := w.Write(b); err != nil || len(again) == 0 {
			return err
		}
	}
}

// wide is a batch of one row and of so many bytes.
func wide(bytes int) arrow.RecordBatch {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Append(strings.Repeat("x", bytes))
	return batchOf(b.NewArray())
}

func batchOf(a arrow.Array) arrow.RecordBatch {
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "n", Type: a.DataType(), Nullable: true}}, nil), []arrow.Array{a}, int64(a.Len()))
}

// recorder keeps the messages of a stream.
type recorder struct {
	flight.FlightService_DoGetServer
	sent []*flight.FlightData
}

func (r *recorder) Send(d *flight.FlightData) error {
	r.sent = append(r.sent, proto.Clone(d).(*flight.FlightData))
	return nil
}

// forged sends a batch in whose values some bytes were replaced.
func forged(out flight.FlightService_DoGetServer, b arrow.RecordBatch, from, to []byte, options ...ipc.Option) error {
	kept := &recorder{}
	w := flight.NewRecordWriter(kept, append(options, ipc.WithSchema(b.Schema()))...)
	if err := w.Write(b); err != nil {
		return err
	}
	last := kept.sent[len(kept.sent)-1]
	if !bytes.Contains(last.DataBody, from) {
		return status.Errorf(codes.Internal, "the test's batch does not hold %v", from)
	}
	last.DataBody = bytes.Replace(last.DataBody, from, to, 1)
	for _, d := range kept.sent {
		if err := out.Send(d); err != nil {
			return err
		}
	}
	return nil
}

// numbers are 32-bit numbers as they lie in a buffer.
func numbers(list ...int32) []byte { return arrow.Int32Traits.CastToBytes(list) }

// sized is how a compressed buffer begins that unpacks to so many bytes.
func sized(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

// threeWords is a column of strings.
func threeWords() arrow.RecordBatch { return oneColumn(arrow.BinaryTypes.String, `["a", "b", "c"]`) }

// encoded is a column of two words in a dictionary.
func encoded() arrow.RecordBatch {
	return oneColumn(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, `["one", "two", "one"]`)
}

// Handshake lets nobody in, and does not say so.
func (l *liar) Handshake(stream flight.FlightService_HandshakeServer) error {
	<-stream.Context().Done()
	return stream.Context().Err()
}

// TestALiarFailsTheCaseAndTheRunGoesOn: nothing that a server sends ends the program, fills its memory or passes.
func TestALiarFailsTheCaseAndTheRunGoesOn(t *testing.T) {
	faults := map[string]string{
		"no ticket":                    "an endpoint without a ticket",
		"no endpoint":                  "no schema",
		"garbage for a schema":         "could not read message schema",
		"unprintable":                  "<script>",
		"long-winded":                  "bytes)",
		"nothing at all":               "the stream ended at once",
		"message too large":            "received message larger than max",
		"large for ever":               "the answer is too large",
		"empty for ever":               "DeadlineExceeded",
		"error behind the rows":        "the last rows are lost",
		"offsets outside":              "out of bounds",
		"offsets backwards":            "cannot be read",
		"unpacks to more":              "more than the 268435456",
		"unpacks to less than nothing": "out of range",
		"dictionary too short":         "cannot be read",
		"prepares nothing":             "preparing gave nothing",
		"prepares noise":               "invalid wire-format data",
		"prepares garbage":             "could not read message schema",
		"prepares for ever":            "DeadlineExceeded",
		"noise":                        "could not create flight reader",
	}
	target := startLiar(t)
	for fault, want := range faults {
		config := Config{Connect: target.Sessions(), StepTimeout: time.Minute}
		if want == "DeadlineExceeded" {
			config.StepTimeout = 3 * time.Second
		}
		if strings.HasPrefix(fault, "prepares") {
			config.Cell.Path = PathPrepared
		}
		outcomes := Run(t.Context(), config, badScript(t, fault))
		if len(outcomes) != 2 || outcomes[1].Status != Passed {
			t.Errorf("%s: the next case: %v", fault, outcomes)
			continue
		}
		text := strings.Join(outcomes[0].Failures, "\n")
		if outcomes[0].Status != Failed || !strings.Contains(text, want) || len(text) > 4*mostShown {
			t.Errorf("%s: %s, expected %q: %.400s", fault, outcomes[0].Status, want, text)
		}
	}
}

// TestALoginWithoutEndFailsTheCase: a server may keep a client in the handshake.
func TestALoginWithoutEndFailsTheCase(t *testing.T) {
	target := startLiar(t)
	target.User, target.Password = "ana", "secret"
	outcomes := Run(t.Context(), Config{Connect: target.Sessions(), StepTimeout: time.Second}, badScript(t, "fine"))
	for _, o := range outcomes {
		if text := strings.Join(o.Failures, ""); o.Status != Failed || !strings.Contains(text, "connect: ") || !o.Timeout || strings.Contains(text, "secret") {
			t.Errorf("%s: %s: %s", o.Case, o.Status, text)
		}
	}
}

// TestAConnectionThatIsCutAnywhereFailsTheCase cuts what the server sends after every so many bytes, until all of it comes through.
func TestAConnectionThatIsCutAnywhereFailsTheCase(t *testing.T) {
	behind := startBad(t)
	for _, path := range Paths() {
		passed, limit := false, int64(0)
		for ; !passed && limit < 1<<16; limit += 23 {
			target := behind
			target.Address = cutAfter(t, behind.Address, limit)
			outcomes := Run(t.Context(), Config{Connect: target.Sessions(), Cell: Cell{Path: path}, StepTimeout: 20 * time.Second}, badScript(t, "fine"))
			passed = true
			for _, o := range outcomes {
				if o.Status == Passed {
					continue
				}
				if passed = false; o.Timeout || !strings.Contains(strings.Join(o.Failures, ""), "Unavailable") {
					t.Fatalf("%s cut after %d bytes: %+v", path, limit, o)
				}
			}
		}
		if !passed {
			t.Errorf("%s: it never came through", path)
		}
	}
}

// cutAfter passes connections on to an address, and cuts each once the server has sent so many bytes.
func cutAfter(t *testing.T, address string, limit int64) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := net.Dial("tcp", address)
				if err != nil {
					return
				}
				defer out.Close()
				go func() { _, _ = io.Copy(out, in) }() // it ends with the connections
				_, _ = io.CopyN(in, out, limit)
			}()
		}
	}()
	return l.Addr().String()
}
