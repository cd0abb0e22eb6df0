package conformance

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	_ "github.com/apache/arrow-go/v18/arrow/extensions" // so that a uuid arrives as one
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
)

// Path is the way a statement travels.
type Path string

// The ways: CommandStatementQuery for everything; CommandStatementUpdate for effects; prepared, which looks at is_update.
const (
	PathQuery    Path = "query"
	PathUpdate   Path = "update"
	PathPrepared Path = "prepared"
)

// Paths are all of them, in the order they are run.
func Paths() []Path { return []Path{PathQuery, PathUpdate, PathPrepared} }

// Target is a server to ask.
type Target struct {
	Address       string
	Credentials   credentials.TransportCredentials // of the transport
	Authorization string                           // header value sent with every call; empty: none
	Cookies       bool                             // keep cookies; without, a server has to know its client otherwise
	Options       []grpc.DialOption                // further options of the connection
}

// Client is one session: one connection of its own.
type Client struct {
	sql    *flightsql.Client
	target Target
}

// Connect makes a session; close it.
func (t Target) Connect(ctx context.Context) (*Client, error) {
	var middleware []flight.ClientMiddleware
	if t.Cookies {
		middleware = append(middleware, flight.NewClientCookieMiddleware())
	}
	options := append([]grpc.DialOption{grpc.WithTransportCredentials(t.Credentials),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32))}, t.Options...)
	sql, err := flightsql.NewClientCtx(ctx, t.Address, nil, middleware, options...)
	if err != nil {
		return nil, err
	}
	sql.Alloc = memory.DefaultAllocator
	return &Client{sql: sql, target: t}, nil
}

// Close ends the session's connection.
func (c *Client) Close() error { return c.sql.Close() }

// Flight is the client underneath, for calls that statements do not make. Pass it contexts that Context gave.
func (c *Client) Flight() *flightsql.Client { return c.sql }

// Context adds what every call of this client carries.
func (c *Client) Context(ctx context.Context) context.Context {
	if c.target.Authorization == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", c.target.Authorization)
}

// Question is one statement.
type Question struct {
	SQL       string
	Path      Path
	Arguments arrow.RecordBatch // one row, a column for each parameter; then the path is prepared
	Elsewhere bool              // fetch over another connection than the one that planned
}

// Answer is what came. Release it.
type Answer struct {
	Schema    *arrow.Schema
	Batches   []arrow.RecordBatch
	Endpoints int
	Update    bool // the server took it for an update: there is neither schema nor batch
}

// Release gives the batches back.
func (a *Answer) Release() {
	for _, b := range a.Batches {
		b.Release()
	}
	a.Batches = nil
}

// Rows counts them.
func (a *Answer) Rows() (n int64) {
	for _, b := range a.Batches {
		n += b.NumRows()
	}
	return n
}

// Effect runs a statement that is there for its effect.
func (c *Client) Effect(ctx context.Context, path Path, sql string) error {
	if path == PathUpdate {
		_, err := c.sql.ExecuteUpdate(c.Context(ctx), sql)
		return err
	}
	answer, err := c.Ask(ctx, Question{SQL: sql, Path: path})
	if err != nil {
		return err
	}
	answer.Release()
	return nil
}

// Ask runs a statement and fetches all that it gives. On the prepared path what the server calls an update is run as one.
func (c *Client) Ask(ctx context.Context, q Question) (*Answer, error) {
	ctx = c.Context(ctx)
	if q.Path == PathPrepared || q.Arguments != nil {
		return c.askPrepared(ctx, q)
	}
	info, err := c.sql.Execute(ctx, q.SQL)
	if err != nil {
		return nil, err
	}
	return c.fetch(ctx, info, q.Elsewhere)
}

func (c *Client) askPrepared(ctx context.Context, q Question) (*Answer, error) {
	p, err := c.sql.Prepare(ctx, q.SQL)
	if err != nil {
		return nil, err
	}
	if q.Arguments != nil {
		p.SetParameters(q.Arguments)
	}
	if update, known := p.IsUpdate(); known && update {
		_, err := p.ExecuteUpdate(ctx)
		return &Answer{Update: true}, errors.Join(err, p.Close(ctx))
	}
	info, err := p.Execute(ctx)
	closeErr := p.Close(ctx) // before the rows are read: a ticket must stand alone
	if err != nil {
		return nil, err
	}
	if closeErr != nil {
		return nil, closeErr
	}
	if said := p.DatasetSchema(); said != nil {
		if planned, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator); err != nil || !planned.Equal(said) {
			return nil, &mismatch{"another schema was announced when the statement was prepared", fmt.Sprint(said), fmt.Sprint(planned)}
		}
	}
	return c.fetch(ctx, info, q.Elsewhere)
}

func (c *Client) fetch(ctx context.Context, info *flight.FlightInfo, elsewhere bool) (*Answer, error) {
	schema, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	reader := c
	if elsewhere {
		if reader, err = c.target.Connect(ctx); err != nil {
			return nil, err
		}
		defer reader.Close()
	}
	out := &Answer{Schema: schema, Endpoints: len(info.Endpoint)}
	for _, endpoint := range info.Endpoint {
		if err := reader.read(ctx, endpoint.Ticket, out); err != nil {
			out.Release()
			return nil, err
		}
	}
	return out, nil
}

func (c *Client) read(ctx context.Context, ticket *flight.Ticket, out *Answer) error {
	reader, err := c.sql.DoGet(ctx, ticket)
	if err != nil {
		return err
	}
	defer reader.Release()
	if !reader.Schema().Equal(out.Schema) {
		return &mismatch{"the stream's schema is not the promised one", out.Schema.String(), reader.Schema().String()}
	}
	for reader.Next() {
		batch := reader.RecordBatch()
		batch.Retain()
		out.Batches = append(out.Batches, batch)
	}
	return reader.Err()
}
