package flightsql

import (
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

// readParameters reads what a client binds into one batch. It is nil when there are no columns; columns without a row give a batch of no rows. Every array is
// checked, since it comes from outside. The caller releases.
func (s *Server) readParameters(r flight.MessageReader) (_ arrow.RecordBatch, err error) {
	defer fault.Recover(&err, fault.Invalid, "read parameters")
	schema := r.Schema()
	switch {
	case schema == nil && errors.Is(r.Err(), io.EOF):
		return nil, nil
	case schema == nil:
		return nil, badParameters(r.Err())
	case schema.NumFields() == 0:
		return nil, nil
	}
	var batches []arrow.RecordBatch
	defer func() {
		for _, b := range batches {
			b.Release()
		}
	}()
	var size int64
	for r.Next() {
		b := r.RecordBatch()
		if err := validate(b); err != nil {
			return nil, badParameters(err)
		}
		b.Retain()
		batches = append(batches, b)
		if size += batchSize(b, 0, b.NumRows()); size > int64(s.config.Limits.MaxReceive) {
			return nil, fault.New(fault.Exhausted, "the parameters have more than %d bytes", s.config.Limits.MaxReceive).Change("skua.flight.max-receive-size")
		}
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
		return nil, badParameters(err)
	}
	return s.joinBatches(schema, batches)
}

// validate checks every array.
func validate(b arrow.RecordBatch) error {
	for _, c := range b.Columns() {
		data := checkable(c.Data())
		checked := array.MakeFromData(data)
		err := array.ValidateFull(checked)
		checked.Release()
		data.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// checkable gives arrays of the null type, at whatever depth, the buffer that the check wants and no stream has. The caller releases.
func checkable(data arrow.ArrayData) arrow.ArrayData {
	if data.DataType().ID() == arrow.DICTIONARY {
		data.Retain()
		return data
	}
	buffers := data.Buffers()
	if data.DataType().ID() == arrow.NULL {
		buffers = []*memory.Buffer{nil}
	}
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, child := range data.Children() {
		children[i] = checkable(child)
		defer children[i].Release()
	}
	return array.NewData(data.DataType(), data.Len(), buffers, children, data.NullN(), data.Offset())
}

// badParameters blames the client, unless the error is the call's own end.
func badParameters(err error) error {
	if fault.Is(err, fault.Canceled) || fault.Is(err, fault.Deadline) {
		return err
	}
	return fault.New(fault.Invalid, "read parameters: %w", err)
}

func (s *Server) joinBatches(schema *arrow.Schema, batches []arrow.RecordBatch) (arrow.RecordBatch, error) {
	if len(batches) == 1 {
		batches[0].Retain()
		return batches[0], nil
	}
	columns := make([]arrow.Array, schema.NumFields())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	rows := int64(0)
	for _, b := range batches {
		rows += b.NumRows()
	}
	for i, f := range schema.Fields() {
		pieces := make([]arrow.Array, len(batches))
		for j, b := range batches {
			pieces[j] = b.Column(i)
		}
		var err error
		if len(pieces) == 0 {
			columns[i] = array.MakeArrayOfNull(s.mem, f.Type, 0)
		} else if columns[i], err = array.Concatenate(pieces, s.mem); err != nil {
			return nil, badParameters(err)
		}
	}
	return array.NewRecordBatch(schema, columns, rows), nil
}

// parameterSchema is what clients are told of a statement's parameters, never nil. A parameter of unknown type is called text, since JDBC cannot bind
// the null type; a timestamp is called one of milliseconds, since JDBC writes milliseconds into it, whatever its unit. Clients of Java are told javaParameter's types.
func parameterSchema(schema *arrow.Schema, java bool) (*arrow.Schema, error) {
	if schema == nil || schema.NumFields() == 0 {
		return arrow.NewSchema(nil, nil), nil
	}
	fields := make([]arrow.Field, schema.NumFields())
	for i, f := range schema.Fields() {
		typ, err := wireType(f.Type)
		if err != nil {
			return nil, err
		}
		switch t := typ.(type) {
		case *arrow.NullType:
			typ = arrow.BinaryTypes.String
		case *arrow.TimestampType:
			typ = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: t.TimeZone}
		}
		if java {
			typ = javaParameter(typ)
		}
		fields[i] = arrow.Field{Name: f.Name, Type: typ, Nullable: true}
	}
	return arrow.NewSchema(fields, nil), nil
}
