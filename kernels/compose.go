package kernels

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// Compose makes one Reader of several that read the same row group: routes has one entry per column of it, and readers stand in the order
// in which the names of their decoders first appear in routes. Select asks the readers one after the other, each for what those before it
// left over. Close closes them all.
func Compose(routes []Route, readers ...Reader) Reader {
	byName := map[string]int{}
	c := &composed{readers: readers, of: make([]int, len(routes))}
	for i, r := range routes {
		if _, known := byName[r.Decoder]; !known {
			byName[r.Decoder] = len(byName)
		}
		c.of[i] = byName[r.Decoder]
	}
	if len(byName) > len(readers) {
		c.err = fault.New(fault.Internal, "compose: %d decoders in the routes and %d readers", len(byName), len(readers))
	}
	if len(readers) == 1 && c.err == nil {
		return readers[0]
	}
	return c
}

type composed struct {
	readers []Reader
	of      []int // column → reader
	err     error
}

func (c *composed) Select(ctx context.Context, p predicate.Expr, in *Selection) (predicate.Expr, *Selection, error) {
	if c.err != nil {
		return nil, nil, c.err
	}
	for _, r := range c.readers {
		if p == nil {
			break
		}
		var err error
		if p, in, err = r.Select(ctx, p, in); err != nil {
			return nil, nil, err
		}
	}
	return p, in, nil
}

func (c *composed) Read(ctx context.Context, columns []int, sel *Selection, from, n int64) (arrow.RecordBatch, error) {
	if c.err != nil {
		return nil, c.err
	}
	rows := sel.Slice(from, n).Count()
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for reader := range c.readers {
		var own, places []int
		for place, column := range columns {
			if c.of[column] == reader {
				own, places = append(own, column), append(places, place)
			}
		}
		if len(own) == 0 {
			continue
		}
		batch, err := c.readers[reader].Read(ctx, own, sel, from, n)
		if err != nil {
			return nil, err
		}
		defer batch.Release()
		if batch.NumRows() != rows || int(batch.NumCols()) != len(own) {
			return nil, fault.New(fault.Internal, "compose: a reader gave %d rows of %d columns, not %d of %d", batch.NumRows(), batch.NumCols(), rows, len(own))
		}
		for i, place := range places {
			fields[place], arrays[place] = batch.Schema().Field(i), batch.Column(i)
		}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, rows), nil
}

// Park parks those that can be.
func (c *composed) Park() {
	for _, r := range c.readers {
		Park(r)
	}
}

func (c *composed) Close() error {
	var errs []error
	for _, r := range c.readers {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}
