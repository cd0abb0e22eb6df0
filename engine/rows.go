package engine

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// rowSource gives batches of rows: the scan's columns, or none, and the number of rows they stand for.
type rowSource interface {
	// next gives a batch that is good until the following call; false at the end.
	next() (rowBatch, bool)
	err() error
	release()
}

// rowBatch is what the outputs of some rows are made of.
type rowBatch struct {
	columns arrow.RecordBatch // nil: no scan
	rows    int64
	count   int64 // the value of count(*)
	values  []any // of aggregates, by output
}

// noRows is a source without rows.
type noRows struct{}

func (noRows) next() (rowBatch, bool) { return rowBatch{}, false }
func (noRows) err() error             { return nil }
func (noRows) release()               {}

// bareRows gives rows without columns, once.
type bareRows struct {
	noRows
	rows int64
}

func (b *bareRows) next() (rowBatch, bool) {
	n := b.rows
	b.rows = 0
	return rowBatch{rows: n}, n > 0
}

// counted gives one row that holds the number of rows, which is known or must be read.
type counted struct {
	reader array.RecordReader // nil: rows is known
	rows   int64
	done   bool
}

func (c *counted) next() (rowBatch, bool) {
	if c.done {
		return rowBatch{}, false
	}
	c.done = true
	for c.reader != nil && c.reader.Next() {
		c.rows += c.reader.RecordBatch().NumRows()
	}
	return rowBatch{rows: 1, count: c.rows}, c.err() == nil
}

func (c *counted) err() error {
	if c.reader == nil {
		return nil
	}
	return c.reader.Err()
}

func (c *counted) release() {
	if c.reader != nil {
		c.reader.Release()
	}
}

// scanned gives a scan's batches.
type scanned struct{ reader array.RecordReader }

func (s *scanned) next() (rowBatch, bool) {
	for s.reader.Next() {
		if b := s.reader.RecordBatch(); b.NumRows() > 0 {
			return rowBatch{columns: b, rows: b.NumRows()}, true
		}
	}
	return rowBatch{}, false
}

func (s *scanned) err() error { return s.reader.Err() }
func (s *scanned) release()   { s.reader.Release() }
