package conformance

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// bad is a server that answers three rows to everything, and does so wrongly where the statement names a fault.
type bad struct {
	flightsql.BaseServer
	connections connections
	schema      *arrow.Schema
	rows        arrow.RecordBatch
}

// connections are a listener's, so that they can be cut.
type connections struct {
	net.Listener
	mu   sync.Mutex
	open []net.Conn
}

func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.mu.Lock()
		c.open = append(c.open, conn)
		c.mu.Unlock()
	}
	return conn, err
}

func (c *connections) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		conn.Close()
	}
	c.open = nil
}

func oneColumn(t arrow.DataType, values string) arrow.RecordBatch {
	a, _, err := array.FromJSON(memory.DefaultAllocator, t, strings.NewReader(values))
	if err != nil {
		panic(err) // the values are constants below
	}
	defer a.Release()
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "n", Type: t, Nullable: true}}, nil), []arrow.Array{a}, int64(a.Len()))
}

func startBad(t *testing.T) Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &bad{rows: oneColumn(arrow.PrimitiveTypes.Int32, "[1, 2, 3]")}
	b.schema = b.rows.Schema()
	b.connections.Listener = l
	s := flight.NewServerWithMiddleware(nil)
	s.InitListener(&b.connections)
	s.RegisterFlightService(flightsql.NewFlightServer(b))
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	t.Cleanup(func() { b.connections.cut(); s.Shutdown(); <-done })
	return Target{Address: l.Addr().String(), Credentials: insecure.NewCredentials()}
}

func (b *bad) GetFlightInfoStatement(ctx context.Context, q flightsql.StatementQuery, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	text, total, schema := q.GetQuery(), int64(-1), b.schema
	switch {
	case strings.Contains(text, "hangs in planning"):
		<-ctx.Done()
		return nil, ctx.Err()
	case strings.Contains(text, "promises rows"):
		total = 3
	case strings.Contains(text, "refuses"):
		return nil, status.Error(codes.InvalidArgument, "no")
	}
	ticket, err := flightsql.CreateStatementQueryTicket([]byte(text))
	if err != nil {
		return nil, err
	}
	return &flight.FlightInfo{Schema: flight.SerializeSchema(schema, memory.DefaultAllocator), FlightDescriptor: d,
		Endpoint: []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: ticket}}}, TotalRecords: total, TotalBytes: -1}, nil
}

func (b *bad) CreatePreparedStatement(_ context.Context, r flightsql.ActionCreatePreparedStatementRequest) (flightsql.ActionCreatePreparedStatementResult, error) {
	return flightsql.ActionCreatePreparedStatementResult{Handle: []byte(r.GetQuery()), DatasetSchema: b.schema}, nil
}

func (b *bad) ClosePreparedStatement(context.Context, flightsql.ActionClosePreparedStatementRequest) error {
	return nil
}

// query is a statement of a text.
type query string

func (q query) GetQuery() string         { return string(q) }
func (q query) GetTransactionId() []byte { return nil }

func (b *bad) GetFlightInfoPreparedStatement(ctx context.Context, q flightsql.PreparedStatementQuery, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return b.GetFlightInfoStatement(ctx, query(q.GetPreparedStatementHandle()), d)
}

func (b *bad) DoGetStatement(ctx context.Context, q flightsql.StatementQueryTicket) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	text, schema := string(q.GetStatementHandle()), b.schema
	out := make(chan flight.StreamChunk, 4)
	go func() {
		defer close(out)
		switch {
		case strings.Contains(text, "lies about the schema"):
			out <- flight.StreamChunk{Data: oneColumn(arrow.PrimitiveTypes.Int64, "[1, 2, 3]")}
		case strings.Contains(text, "rows"):
			out <- flight.StreamChunk{Data: b.rows.NewSlice(0, 2)}
		case strings.Contains(text, "swaps"):
			out <- flight.StreamChunk{Data: oneColumn(arrow.PrimitiveTypes.Int32, "[1, 2, 4]")}
		case strings.Contains(text, "hangs in fetching"):
			out <- flight.StreamChunk{Data: b.rows.NewSlice(0, 1)}
			<-ctx.Done()
		case strings.Contains(text, "disconnects"):
			out <- flight.StreamChunk{Data: b.rows.NewSlice(0, 1)}
			b.connections.cut()
			<-ctx.Done()
		case strings.Contains(text, "never ends"):
			wide := oneColumn(arrow.PrimitiveTypes.Int32, "["+strings.TrimSuffix(strings.Repeat("7,", 1<<17), ",")+"]")
			for ctx.Err() == nil {
				wide.Retain()
				out <- flight.StreamChunk{Data: wide}
			}
		default:
			b.rows.Retain()
			out <- flight.StreamChunk{Data: b.rows}
		}
	}()
	if strings.Contains(text, "lies about the schema") {
		schema = oneColumn(arrow.PrimitiveTypes.Int64, "[]").Schema()
	}
	return schema, out, nil
}

// badScript has a good case behind every bad one, so that a run that stops or stays broken is seen.
func badScript(t *testing.T, faults ...string) *Script {
	t.Helper()
	var text strings.Builder
	for _, f := range faults {
		for _, c := range [][2]string{{f, f}, {"well after " + f, "fine"}} {
			text.WriteString("case " + strings.ReplaceAll(c[0], " ", "-") + "\nrule none\nquery\nSELECT " + c[1] + "\n----\nn int\n1\n2\n3\n\n")
		}
	}
	s, err := Parse("bad.test", strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestABadServerFailsTheCaseAndTheRunGoesOn has a fault of every kind; each fails its case with what was expected and seen, and nothing else.
func TestABadServerFailsTheCaseAndTheRunGoesOn(t *testing.T) {
	faults := map[string]string{
		"lies about the schema": "the stream's schema is not the promised one",
		"promises rows":         "the rows are not as many as were promised",
		"drops rows":            "other rows: 2 where 3 are expected",
		"swaps":                 "other rows, the first that differs is number 3",
		"hangs in planning":     "DeadlineExceeded",
		"hangs in fetching":     "DeadlineExceeded",
		"disconnects":           "Unavailable",
		"never ends":            "the rows do not end",
		"refuses":               "InvalidArgument",
	}
	names := make([]string, 0, len(faults))
	for f := range faults {
		names = append(names, f)
	}
	target := startBad(t)
	script := badScript(t, names...)
	outcomes := Run(t.Context(), Config{Connect: target.Sessions(), StepTimeout: 3 * time.Second}, script)
	if len(outcomes) != 2*len(names) {
		t.Fatalf("%d outcomes", len(outcomes))
	}
	for _, o := range outcomes {
		want, planted := faults[strings.ReplaceAll(o.Case, "-", " ")]
		text := strings.Join(o.Failures, "\n")
		switch {
		case !planted && o.Status != Passed:
			t.Errorf("%s: %s: %s", o.Case, o.Status, text)
		case planted && (o.Status != Failed || !strings.Contains(text, want) || !strings.Contains(text, "line ")):
			t.Errorf("%s: %s, expected %q: %s", o.Case, o.Status, want, text)
		}
	}
}

// TestAServerThatNeverAnswersEndsTheRun: nobody waits for case after case.
func TestAServerThatNeverAnswersEndsTheRun(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // it takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	silent := Target{Address: l.Addr().String(), Credentials: insecure.NewCredentials()}
	outcomes := Run(t.Context(), Config{Connect: silent.Sessions(), StepTimeout: 200 * time.Millisecond, GiveUp: 2}, badScript(t, "a", "b", "c", "d"))
	for i, o := range outcomes {
		if o.Status != Failed {
			t.Errorf("%s: %s", o.Case, o.Status)
		}
		if told := strings.HasPrefix(strings.Join(o.Failures, ""), "not asked"); told != (i >= 2) {
			t.Errorf("case %d: %v", i, o.Failures)
		}
	}
	gone := Target{Address: "127.0.0.1:1", Credentials: insecure.NewCredentials()}
	for _, o := range Run(t.Context(), Config{Connect: gone.Sessions()}, badScript(t, "a")) {
		if o.Status != Failed || !strings.Contains(strings.Join(o.Failures, ""), "Unavailable") {
			t.Errorf("%s: %s: %v", o.Case, o.Status, o.Failures)
		}
	}
}

// TestDifferencesOfTwoServersAreShown asks the bad server the same twice: what it gives alike is no difference, whatever the script expects.
func TestDifferencesOfTwoServersAreShown(t *testing.T) {
	target := startBad(t)
	one := Config{Connect: target.Sessions()}
	other := one
	other.Profile = Reference()
	other.Profile.Names = []Rename{{"fine", "drops rows of"}}
	outcomes := Differ(t.Context(), one, other, badScript(t, "swaps"))
	for _, o := range outcomes {
		differs := strings.Contains(o.Case, "well")
		if (o.Status == Failed) != differs {
			t.Errorf("%s: %s: %v", o.Case, o.Status, o.Failures)
		}
		if text := strings.Join(o.Failures, ""); differs && (!strings.Contains(text, "one:   n int ⏎ 1 ⏎ 2 ⏎ 3") || !strings.Contains(text, "other: n int ⏎ 1 ⏎ 2")) {
			t.Errorf("%s: %s", o.Case, text)
		}
	}
}
