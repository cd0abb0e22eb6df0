package flightsql

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/skua-data/skua/auth"
	"github.com/skua-data/skua/session"
)

// world is a server in memory with a fake engine.
type world struct {
	t        *testing.T
	engine   *fakeEngine
	server   *Server
	sessions *session.Store
	listener *bufconn.Listener
	now      time.Time
}

func start(t *testing.T, change func(*Config)) *world {
	t.Helper()
	w := &world{t: t, engine: &fakeEngine{}, listener: bufconn.Listen(1 << 16), now: time.Now()}
	now := func() time.Time { return w.now }
	keyring, err := auth.NewKeyring(now, []byte(strings.Repeat("k", auth.MinKey)))
	check(t, err)
	w.sessions = session.NewStore(session.StoreConfig{Now: now, Idle: 40 * time.Minute})
	config := Config{Engine: w.engine, Sessions: w.sessions, Auth: auth.AnonymousOnly{}, Keyring: keyring, Version: "0.1.0", Now: now}
	if change != nil {
		change(&config)
	}
	w.server, err = New(config)
	check(t, err)
	g := grpc.NewServer(w.server.Options()...)
	w.server.Register(g)
	served := make(chan struct{})
	go func() { defer close(served); g.Serve(w.listener) }()
	t.Cleanup(func() { g.Stop(); <-served })
	return w
}

// client is one connection, with headers on every call.
type client struct {
	*upstream.Client
	t    *testing.T
	conn *grpc.ClientConn
	ctx  context.Context
}

func (w *world) dial(ctx context.Context, _ string) (net.Conn, error) {
	return w.listener.DialContext(ctx)
}

func (w *world) connect(headers ...string) *client {
	w.t.Helper()
	conn, err := grpc.NewClient("passthrough:///skua", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(w.dial),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(4<<20)))
	check(w.t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	w.t.Cleanup(func() { cancel(); conn.Close() })
	return &client{&upstream.Client{Client: flight.NewClientFromConn(conn, nil), Alloc: memory.DefaultAllocator}, w.t, conn,
		metadata.AppendToOutgoingContext(ctx, headers...)}
}

// login does a Handshake and gives a client with its token.
func (w *world) login(headers ...string) *client {
	w.t.Helper()
	c := w.connect(headers...)
	md, err := handshake(c)
	check(w.t, err)
	token := md.Get("authorization")
	if len(token) != 1 || !strings.HasPrefix(token[0], "Bearer ") {
		w.t.Fatalf("no bearer token in the header: %v", md)
	}
	return w.connect("authorization", token[0])
}

func handshake(c *client) (metadata.MD, error) {
	stream, err := c.Client.Client.Handshake(c.ctx)
	if err != nil {
		return nil, err
	}
	md, err := stream.Header()
	if err != nil {
		return nil, err
	}
	stream.CloseSend()
	if _, err := stream.Recv(); status.Code(err) != codes.OK && err.Error() != "EOF" {
		return nil, err
	}
	return md, nil
}

// query runs a text on the query path and gives its rows as text, and the FlightInfo.
func (c *client) query(sql string) ([]string, *flight.FlightInfo) {
	c.t.Helper()
	info, err := c.Execute(c.ctx, sql)
	check(c.t, err)
	return c.fetch(info), info
}

func (c *client) fetch(info *flight.FlightInfo) (rows []string) {
	c.t.Helper()
	for _, e := range info.Endpoint {
		got, err := c.read(e.Ticket, info.Schema)
		check(c.t, err)
		rows = append(rows, got...)
	}
	return rows
}

// read reads a ticket and compares the stream's schema with the one announced.
func (c *client) read(ticket *flight.Ticket, announced []byte) (rows []string, err error) {
	r, err := c.DoGet(c.ctx, ticket)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	if announced != nil {
		want, err := flight.DeserializeSchema(announced, memory.DefaultAllocator)
		check(c.t, err)
		if !want.Equal(r.Schema()) || !want.Metadata().Equal(r.Schema().Metadata()) {
			c.t.Errorf("stream's schema %s, announced %s", r.Schema(), want)
		}
	}
	for r.Next() {
		rows = append(rows, rowTexts(r.RecordBatch())...)
	}
	return rows, r.Err()
}

func rowTexts(b arrow.RecordBatch) (rows []string) {
	for i := range int(b.NumRows()) {
		values := make([]string, b.NumCols())
		for j, column := range b.Columns() {
			values[j] = column.ValueStr(i)
		}
		rows = append(rows, strings.Join(values, "|"))
	}
	return rows
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, want codes.Code, text string) {
	t.Helper()
	if status.Code(err) != want || err != nil && !strings.Contains(err.Error(), text) {
		t.Fatalf("got %v, want %s with %q", err, want, text)
	}
}

func int64Batch(values ...int64) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "p", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(values, nil)
	return b.NewRecordBatch()
}
