package shell

import (
	"context"
	"strings"
	"unicode"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// answer hands what a server sends to an output, unless it turns out to be the answer of a statement that has an effect and no rows of its own.
type answer struct {
	output
	effect   effect
	schema   *arrow.Schema
	rows     int64
	affected int64
}

// effect is whether a statement has one, as far as the server told.
type effect int

const (
	untold effect = iota
	rowsOnly
	hasEffect
)

// query runs a statement on the query path and hands every batch to out. It gives the number of rows, or -1 for a statement with an effect.
func (c *client) query(ctx context.Context, text string, out output, progress *progress) (rows int64, err error) {
	c.lost = false
	defer func() {
		c.lost = c.answered && status.Code(err) == codes.Unauthenticated
		c.answered = c.answered || err == nil
	}()
	ctx = c.with(ctx)
	kind, err := c.effectOf(ctx, text)
	if err != nil {
		return 0, err
	}
	info, err := c.sql.Execute(ctx, text)
	if err != nil {
		return 0, err
	}
	a := &answer{output: out, effect: kind}
	progress.expect(info.TotalRecords)
	defer progress.follow(ctx, func(ctx context.Context) (float64, bool) { return c.share(ctx, info) })()
	for _, endpoint := range info.Endpoint {
		if err := c.fetch(ctx, endpoint.Ticket, a, progress); err != nil {
			return a.rows, err
		}
	}
	if a.schema == nil && len(info.Schema) > 0 {
		schema, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
		if err != nil {
			return 0, err
		}
		if err := a.begin(schema); err != nil {
			return 0, err
		}
	}
	return a.finish()
}

// pollPrefix stands in front of a statement's id where Skua is asked how much of it was read. Other servers do not know it, and say so.
const pollPrefix = "skua-poll:"

// share asks how much of a statement its server has read; false: it does not say, or all was read.
func (c *client) share(ctx context.Context, info *flight.FlightInfo) (float64, bool) {
	if len(info.Endpoint) == 0 || len(info.Endpoint[0].AppMetadata) == 0 {
		return 0, false
	}
	asked := pollPrefix + string(info.Endpoint[0].AppMetadata)
	polled, err := c.sql.Client.PollFlightInfo(ctx, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(asked)})
	if err != nil || polled.Progress == nil || polled.FlightDescriptor == nil {
		return 0, false
	}
	return polled.GetProgress(), true
}

// effectOf asks the server whether a statement has an effect. It does not ask about words that begin queries, nor servers that prepare nothing twice.
func (c *client) effectOf(ctx context.Context, text string) (effect, error) {
	switch firstWord(text) {
	case "SELECT", "WITH", "VALUES", "FROM", "TABLE", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "":
		return rowsOnly, nil
	}
	prepared, err := c.sql.Prepare(ctx, text)
	switch status.Code(err) {
	case codes.OK:
	case codes.Unauthenticated, codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return untold, err
	default:
		return untold, nil // running it tells what is wrong with it, if anything is
	}
	// A handle that stays open is the server's to forget.
	defer func() { _ = prepared.Close(ctx) }()
	update, told := prepared.IsUpdate()
	switch {
	case !told:
		return untold, nil
	case update:
		return hasEffect, nil
	}
	return rowsOnly, nil
}

// firstWord is the keyword a statement begins with, in upper case; empty if it begins with something else, a parenthesis say.
func firstWord(text string) string {
	text = text[blank(text):]
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(text)
	}
	return strings.ToUpper(text[:end])
}

func (c *client) fetch(ctx context.Context, ticket *flight.Ticket, a *answer, progress *progress) error {
	reader, err := c.sql.DoGet(ctx, ticket)
	if err != nil {
		return err
	}
	defer reader.Release()
	if err := a.begin(reader.Schema()); err != nil {
		return err
	}
	for reader.Next() {
		if err := a.add(reader.RecordBatch(), progress); err != nil {
			return err
		}
	}
	return reader.Err()
}

// begin takes the schema, the first time. A server that did not say what kind of statement it is answers one with an effect by a count alone.
func (a *answer) begin(schema *arrow.Schema) error {
	if a.schema != nil {
		return nil
	}
	a.schema = schema
	if a.effect == untold && counts(schema) {
		a.effect = hasEffect
	}
	if a.effect == hasEffect {
		return nil
	}
	return a.start(schema)
}

func counts(schema *arrow.Schema) bool {
	return schema.NumFields() == 1 && schema.Field(0).Name == "affected_rows" && schema.Field(0).Type.ID() == arrow.INT64
}

func (a *answer) add(b arrow.RecordBatch, progress *progress) error {
	if a.effect == hasEffect {
		if counts(a.schema) {
			column := b.Column(0).(*array.Int64)
			for i := range column.Len() {
				a.affected += max(0, column.Value(i))
			}
		}
		return nil
	}
	a.rows += b.NumRows()
	progress.at(a.rows)
	return a.batch(b, progress)
}

func (a *answer) finish() (int64, error) {
	if a.effect == hasEffect {
		return -1, a.done(a.affected)
	}
	return a.rows, a.end()
}
