package conformance

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	_ "github.com/apache/arrow-go/v18/arrow/extensions" // so that a uuid arrives as one
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Path is the way a statement travels.
type Path string

// The ways: CommandStatementQuery for everything; CommandStatementUpdate for effects; prepared, which looks at is_update, and executed once or twice.
const (
	PathQuery    Path = "query"
	PathUpdate   Path = "update"
	PathPrepared Path = "prepared"
	PathTwice    Path = "twice" // prepared once, executed twice: both must give the same, and what other values gave before must not matter
)

// Paths are all of them, in the order they are run.
func Paths() []Path { return []Path{PathQuery, PathUpdate, PathPrepared, PathTwice} }

// Session is one client's session with a server, whatever the client's language. It is used by one goroutine.
type Session interface {
	// Ask runs a statement and fetches all that it gives.
	Ask(ctx context.Context, q Question) (*Answer, error)
	// Effect runs a statement that is there for its effect.
	Effect(ctx context.Context, path Path, sql string) error
	// Call makes a metadata call.
	Call(ctx context.Context, name string, args []string) (*Answer, error)
	Close() error
}

// Connector makes sessions.
type Connector func(ctx context.Context) (Session, error)

// Sessions makes sessions of the Go client.
func (t Target) Sessions() Connector {
	return func(ctx context.Context) (Session, error) { return t.Connect(ctx) }
}

// Target is a server to ask.
type Target struct {
	Address        string
	Credentials    credentials.TransportCredentials // of the transport
	Authorization  string                           // header value sent with every call; empty: none
	User, Password string                           // of a login at connect, whose token is then sent; without User there is none
	Cookies        bool                             // keep cookies; without, a server has to know its client otherwise
	Options        []grpc.DialOption                // further options of the connection
}

// Client is one session: one connection of its own.
type Client struct {
	sql           *flightsql.Client
	target        Target
	authorization string
}

// Connect makes a session; close it.
func (t Target) Connect(ctx context.Context) (*Client, error) {
	var middleware []flight.ClientMiddleware
	if t.Cookies {
		middleware = append(middleware, flight.NewClientCookieMiddleware())
	}
	options := append([]grpc.DialOption{grpc.WithTransportCredentials(t.Credentials),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(mostMessage))}, t.Options...)
	sql, err := flightsql.NewClientCtx(ctx, t.Address, nil, middleware, options...)
	if err != nil {
		return nil, err
	}
	sql.Alloc = newBounded()
	c := &Client{sql: sql, target: t, authorization: t.Authorization}
	if err := c.login(ctx); err != nil {
		return nil, errors.Join(err, sql.Close())
	}
	return c, nil
}

// login changes user and password for a token. A server without such a handshake is sent both with every call.
func (c *Client) login(ctx context.Context) error {
	if c.target.User == "" {
		return nil
	}
	in, err := c.sql.Client.AuthenticateBasicToken(ctx, c.target.User, c.target.Password)
	switch {
	case status.Code(err) == codes.Unimplemented:
		c.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(c.target.User+":"+c.target.Password))
	case err != nil:
		return err
	default:
		if headers, _ := metadata.FromOutgoingContext(in); len(headers.Get("authorization")) > 0 {
			all := headers.Get("authorization")
			c.authorization = all[len(all)-1]
		}
	}
	return nil
}

// Close ends the session's connection.
func (c *Client) Close() error { return c.sql.Close() }

// Flight is the client underneath, for calls that statements do not make. Pass it contexts that Context gave.
func (c *Client) Flight() *flightsql.Client { return c.sql }

// Context adds what every call of this client carries.
func (c *Client) Context(ctx context.Context) context.Context {
	if c.authorization == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", c.authorization)
}

// Question is one statement.
type Question struct {
	SQL       string
	Path      Path
	Arguments arrow.RecordBatch // one row, a column for each parameter; then the path is prepared
	Texts     []string          // the same as TYPE VALUE lines, for clients that are no part of this program
	Elsewhere bool              // fetch over another connection than the one that planned
	Keep      bool              // keep a prepared statement's handle until its rows were read, for servers whose tickets do not outlive it
	Varies    bool              // its rows may differ from one execution to the next, as what took how long does
}

// Answer is what came. Release it.
type Answer struct {
	Schema    *arrow.Schema
	Batches   []arrow.RecordBatch
	Endpoints int
	Update    bool  // the server took it for an update: there is neither schema nor batch
	Text      *Text // from a client that gives texts, instead of Schema and Batches

	bytes uint64 // of Batches
}

// Text is an answer as texts, spelled as scripts spell values.
type Text struct {
	Columns []string
	Rows    [][]string
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

// Ask runs a statement and fetches all that it gives. On the prepared paths what the server calls an update is run as one.
func (c *Client) Ask(ctx context.Context, q Question) (*Answer, error) {
	ctx = c.Context(ctx)
	if q.Path == PathPrepared || q.Path == PathTwice || q.Arguments != nil {
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
	if errors.Is(err, io.EOF) {
		return nil, &mismatch{"preparing gave nothing", "a prepared statement", "the end of the answer"}
	}
	if err != nil {
		return nil, err
	}
	if q.Path == PathTwice && q.Arguments != nil {
		c.otherValues(ctx, p, q)
	}
	first, err := c.execute(ctx, p, q)
	if err == nil && q.Keep && q.Path != PathTwice {
		answer, err := first.answer(ctx, c, q, nil)
		return answer, errors.Join(err, p.Close(ctx))
	}
	if err != nil || q.Path != PathTwice {
		return first.answer(ctx, c, q, errors.Join(err, p.Close(ctx))) // closed before the rows are read: a ticket must stand alone
	}
	once, err := first.answer(ctx, c, q, nil)
	if err != nil {
		return nil, errors.Join(err, p.Close(ctx))
	}
	second, err := c.execute(ctx, p, q)
	if !q.Keep {
		err = errors.Join(err, p.Close(ctx))
	}
	again, err := second.answer(ctx, c, q, err)
	if q.Keep {
		err = errors.Join(err, p.Close(ctx))
	}
	if err != nil {
		once.Release()
		return nil, fmt.Errorf("executed a second time: %w", err)
	}
	defer again.Release()
	if err := sameAnswers(once, again, q.Varies); err != nil {
		once.Release()
		return nil, err
	}
	return once, nil
}

// otherValues executes a statement with NULL for every value, so that a server which keeps the values that were bound first is found out. What comes of it does
// not matter.
func (c *Client) otherValues(ctx context.Context, p *flightsql.PreparedStatement, q Question) {
	nulls := make([]arrow.Array, q.Arguments.NumCols())
	for i, f := range q.Arguments.Schema().Fields() {
		nulls[i] = array.MakeArrayOfNull(memory.DefaultAllocator, f.Type, int(q.Arguments.NumRows()))
		defer nulls[i].Release()
	}
	q.Arguments = array.NewRecordBatch(q.Arguments.Schema(), nulls, q.Arguments.NumRows())
	defer q.Arguments.Release()
	if done, err := c.execute(ctx, p, q); err == nil {
		if answer, err := done.answer(ctx, c, q, nil); err == nil {
			answer.Release()
		}
	}
}

// executed is what a prepared statement gave: an update, or where its rows are.
type executed struct {
	update bool
	info   *flight.FlightInfo
}

func (c *Client) execute(ctx context.Context, p *flightsql.PreparedStatement, q Question) (executed, error) {
	if q.Arguments != nil {
		p.SetParameters(q.Arguments)
	}
	if update, told := p.IsUpdate(); told && update || !told && p.DatasetSchema() == nil {
		_, err := p.ExecuteUpdate(ctx)
		return executed{update: true}, err
	}
	info, err := p.Execute(ctx)
	if err != nil {
		return executed{}, err
	}
	if said := p.DatasetSchema(); said != nil && len(info.Schema) > 0 {
		if planned, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator); err != nil || !planned.Equal(said) {
			return executed{}, &mismatch{"another schema was announced when the statement was prepared", fmt.Sprint(said), fmt.Sprint(planned)}
		}
	}
	return executed{info: info}, nil
}

func (e executed) answer(ctx context.Context, c *Client, q Question, err error) (*Answer, error) {
	switch {
	case err != nil:
		return nil, err
	case e.update:
		return &Answer{Update: true}, nil
	}
	return c.fetch(ctx, e.info, q.Elsewhere)
}

// sameAnswers compares what a statement gave twice.
func sameAnswers(once, again *Answer, varies bool) error {
	if once.Update || again.Update {
		if once.Update != again.Update {
			return &mismatch{"executed a second time it is no longer what it was", fmt.Sprint("update: ", once.Update), fmt.Sprint("update: ", again.Update)}
		}
		return nil
	}
	if !once.Schema.Equal(again.Schema) {
		return &mismatch{"executed a second time it has another schema", once.Schema.String(), again.Schema.String()}
	}
	first, second := sorted(once.lines()), sorted(again.lines())
	if !varies && !slices.Equal(first, second) {
		return &mismatch{"executed a second time it gives other rows", strings.Join(first, " ⏎ "), strings.Join(second, " ⏎ ")}
	}
	return nil
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

func (c *Client) fetch(ctx context.Context, info *flight.FlightInfo, elsewhere bool) (*Answer, error) {
	var schema *arrow.Schema
	var err error
	if len(info.Schema) > 0 { // it may be left out; then the stream's counts
		if schema, err = flight.DeserializeSchema(info.Schema, memory.DefaultAllocator); err != nil {
			return nil, err
		}
	}
	reader := c
	if elsewhere {
		if reader, err = c.target.Connect(ctx); err != nil {
			return nil, err
		}
		defer reader.Close()
	}
	out := &Answer{Schema: schema, Endpoints: len(info.Endpoint)}
	for i, endpoint := range info.Endpoint {
		if endpoint.GetTicket() == nil {
			out.Release()
			return nil, &mismatch{"an endpoint without a ticket", "a ticket", fmt.Sprintf("none in endpoint %d of %d", i+1, len(info.Endpoint))}
		}
		if err := reader.read(ctx, endpoint.Ticket, out); err != nil {
			out.Release()
			return nil, err
		}
	}
	if out.Schema == nil {
		out.Release()
		return nil, &mismatch{"no schema", "one in the FlightInfo or in the stream", "none"}
	}
	if n := out.Rows(); info.TotalRecords >= 0 && n != info.TotalRecords {
		out.Release()
		return nil, &mismatch{"the rows are not as many as were promised", fmt.Sprint(info.TotalRecords), fmt.Sprint(n)}
	}
	return out, nil
}

func (c *Client) read(ctx context.Context, ticket *flight.Ticket, out *Answer) error {
	reader, err := c.sql.DoGet(ctx, ticket)
	if errors.Is(err, io.EOF) {
		return &mismatch{"the stream ended at once", "a schema and rows", "nothing"}
	}
	if err != nil {
		return err
	}
	defer reader.Release()
	if out.Schema == nil {
		out.Schema = reader.Schema()
	}
	if !reader.Schema().Equal(out.Schema) {
		return &mismatch{"the stream's schema is not the promised one", out.Schema.String(), reader.Schema().String()}
	}
	for reader.Next() {
		if err := out.keep(reader.RecordBatch()); err != nil {
			return err
		}
	}
	return reader.Err()
}
