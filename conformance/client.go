package conformance

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
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
}

// client is one session: one connection of its own.
type client struct {
	sql    *flightsql.Client
	target Target
}

func (t Target) connect(ctx context.Context) (*client, error) {
	var middleware []flight.ClientMiddleware
	if t.Cookies {
		middleware = append(middleware, flight.NewClientCookieMiddleware())
	}
	sql, err := flightsql.NewClientCtx(ctx, t.Address, nil, middleware, grpc.WithTransportCredentials(t.Credentials),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return nil, err
	}
	sql.Alloc = memory.DefaultAllocator
	return &client{sql: sql, target: t}, nil
}

func (c *client) close() error { return c.sql.Close() }

func (c *client) with(ctx context.Context) context.Context {
	if c.target.Authorization == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", c.target.Authorization)
}

// effect runs a statement for its effect.
func (c *client) effect(ctx context.Context, path Path, sql string) error {
	ctx = c.with(ctx)
	switch path {
	case PathUpdate:
		_, err := c.sql.ExecuteUpdate(ctx, sql)
		return err
	case PathPrepared:
		p, err := c.sql.Prepare(ctx, sql)
		if err != nil {
			return err
		}
		defer p.Close(ctx)
		if update, known := p.IsUpdate(); known && update {
			_, err = p.ExecuteUpdate(ctx)
			return err
		}
		info, err := p.Execute(ctx)
		if err != nil {
			return err
		}
		_, err = c.fetch(ctx, info)
		return err
	}
	_, err := c.query(ctx, path, sql)
	return err
}

// query runs a statement for its rows.
func (c *client) query(ctx context.Context, path Path, sql string) (*result, error) {
	ctx = c.with(ctx)
	if path != PathPrepared {
		info, err := c.sql.Execute(ctx, sql)
		if err != nil {
			return nil, err
		}
		return c.fetch(ctx, info)
	}
	p, err := c.sql.Prepare(ctx, sql)
	if err != nil {
		return nil, err
	}
	info, err := p.Execute(ctx)
	closeErr := p.Close(ctx) // before the rows are read: a ticket must stand alone
	if err != nil {
		return nil, err
	}
	if closeErr != nil {
		return nil, closeErr
	}
	return c.fetch(ctx, info)
}

// result is what came, as text.
type result struct {
	schema *arrow.Schema
	rows   []string
}

func (c *client) fetch(ctx context.Context, info *flight.FlightInfo) (*result, error) {
	schema, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	out := &result{schema: schema}
	for _, endpoint := range info.Endpoint {
		if err := c.read(ctx, endpoint.Ticket, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *client) read(ctx context.Context, ticket *flight.Ticket, out *result) error {
	reader, err := c.sql.DoGet(ctx, ticket)
	if err != nil {
		return err
	}
	defer reader.Release()
	if !reader.Schema().Equal(out.schema) {
		return &mismatch{"the stream's schema is not the promised one", out.schema.String(), reader.Schema().String()}
	}
	for reader.Next() {
		out.rows = append(out.rows, rowsOf(reader.RecordBatch())...)
	}
	return reader.Err()
}

var escaper = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// rowsOf gives each row of a batch as tab-separated text.
func rowsOf(b arrow.RecordBatch) []string {
	out := make([]string, b.NumRows())
	cells := make([]string, b.NumCols())
	for row := range out {
		for i, column := range b.Columns() {
			cells[i] = cell(column, row)
		}
		out[row] = strings.Join(cells, "\t")
	}
	return out
}

func cell(column arrow.Array, row int) string {
	if column.IsNull(row) {
		return "NULL"
	}
	text := column.ValueStr(row)
	if _, ok := column.(*array.String); ok && (text == "" || text == "NULL") {
		return `"` + text + `"`
	}
	return escaper.Replace(text)
}

// schemaText spells a schema as scripts do: name type, with ! where no null can be.
func schemaText(s *arrow.Schema) string {
	fields := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		fields[i] = escaper.Replace(f.Name) + " " + typeText(f.Type)
		if !f.Nullable {
			fields[i] += "!"
		}
	}
	return strings.Join(fields, ", ")
}

// typeText spells a type by Spark's word where there is one, so that scripts read like SQL.
func typeText(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.StringType:
		return "string"
	case *arrow.Int32Type:
		return "int"
	case *arrow.Int64Type:
		return "bigint"
	case *arrow.BooleanType:
		return "boolean"
	case *arrow.Date32Type:
		return "date"
	case *arrow.TimestampType:
		name := "timestamp"
		if t.TimeZone == "" {
			name = "timestamp_ntz"
		}
		if t.Unit == arrow.Microsecond {
			return name
		}
		return name + "(" + t.Unit.String() + ")"
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	}
	return strings.ReplaceAll(t.String(), ", ", ",")
}
