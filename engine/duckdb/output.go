//go:build cgo

package duckdb

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/engine/duckdb/dialect"
	"github.com/skua-data/skua/fault"
)

// The engine's numbers of types that its Arrow types do not tell apart.
const (
	typeHugeint = 16
	typeUUID    = 27
)

type allocator = memory.Allocator

// output says what the columns of a result are to the client, and what they are made of.
type output struct {
	engine *arrow.Schema
	schema *arrow.Schema
	kinds  []int
}

// newOutput gives the columns their types: those of a scan where there is a choice. names are theirs as the statement spells them, if there is one
// for each, and named gives those of the others. Sums of whole numbers are whole numbers of 64 bits. tables are the statement's.
func newOutput(native *arrow.Schema, kinds []int, pushed pushdown, names []string, named func(string) string, tables map[int]*input) *output {
	fields := make([]arrow.Field, native.NumFields())
	for i, f := range native.Fields() {
		t := outputType(f.Type)
		switch {
		case kinds[i] == typeHugeint:
			t = arrow.PrimitiveTypes.Int64
		case kinds[i] == typeUUID:
			t = extensions.NewUUIDType()
		case pushed.decimals[i] != nil && t.ID() == arrow.DECIMAL128:
			t = pushed.decimals[i]
		case pushed.kept[i] != nil:
			t = merged(t, pushed.kept[i])
		}
		fields[i] = arrow.Field{Name: named(f.Name), Type: t, Nullable: true}
		if len(names) == len(fields) && names[i] != "" {
			fields[i].Name = names[i]
		}
		if from, ok := pushed.from[i]; ok && tables[from] != nil {
			fields[i].Metadata = engine.OriginMetadata(tables[from].table.Parts)
		}
	}
	return &output{engine: native, schema: arrow.NewSchema(fields, nil), kinds: kinds}
}

// outputType gives the type of a column as a scan would have it.
func outputType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return &arrow.TimestampType{Unit: t.Unit, TimeZone: "UTC"}
		}
	case *arrow.StructType:
		if isEngineVariant(t) {
			return arrow.StructOf(arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary})
		}
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = arrow.Field{Name: fieldName(f.Name, i), Type: outputType(f.Type), Nullable: true}
		}
		return arrow.StructOf(fields...)
	case *arrow.ListType:
		return arrow.ListOfField(arrow.Field{Name: "element", Type: outputType(t.Elem()), Nullable: true})
	case *arrow.MapType:
		return arrow.MapOfFields(arrow.Field{Name: "key", Type: outputType(t.KeyType())}, arrow.Field{Name: "value", Type: outputType(t.ItemType()), Nullable: true})
	}
	return t
}

// fieldName gives the name of field i of a struct. Those of a row, (a, b), have none, and clients cannot tell fields of one name apart: they get the
// names that Spark's struct function gives.
func fieldName(engine string, i int) string {
	if engine == "" {
		return fmt.Sprint("col", i+1)
	}
	return dialect.Spelled(engine)
}

// gathering collects the engine's small batches into one.
type gathering struct {
	output *output
	chunks []arrow.RecordBatch
	rows   int64
}

// A batch has up to so many rows, or bytes.
const (
	batchRows  = 64 << 10
	batchBytes = 2 << 20
)

func newGathering(o *output) *gathering { return &gathering{output: o} }

func (g *gathering) add(chunk arrow.RecordBatch) {
	g.chunks = append(g.chunks, chunk)
	g.rows += chunk.NumRows()
}

// full reports whether enough was gathered, by the size of the first chunk.
func (g *gathering) full() bool {
	if g.rows == 0 {
		return false
	}
	size := int64(0)
	for _, c := range g.chunks[0].Columns() {
		size += int64(c.Data().SizeInBytes())
	}
	return g.rows >= batchRows || size*int64(len(g.chunks)) >= batchBytes
}

func (g *gathering) release() {
	for _, c := range g.chunks {
		c.Release()
	}
}

// batch gives what was gathered; nil: nothing.
func (g *gathering) batch(mem allocator) (arrow.RecordBatch, error) {
	if g.rows == 0 {
		return nil, nil
	}
	columns := make([]arrow.Array, g.output.schema.NumFields())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range columns {
		column, err := g.column(i, mem)
		if err != nil {
			return nil, err
		}
		columns[i] = column
	}
	return array.NewRecordBatch(g.output.schema, columns, g.rows), nil
}

// column joins the parts of one column and gives it its type. The engine's memory is copied in any case, so that it is on the account.
func (g *gathering) column(i int, mem allocator) (arrow.Array, error) {
	parts := make([]arrow.Array, len(g.chunks))
	for j, c := range g.chunks {
		parts[j] = c.Column(i)
	}
	joined, err := array.Concatenate(parts, mem)
	if err != nil {
		return nil, fault.New(fault.Internal, "join rows of the SQL engine: %w", err)
	}
	defer joined.Release()
	t := g.output.schema.Field(i).Type
	switch {
	case g.output.kinds[i] == typeHugeint:
		return wholeNumbers(joined, mem)
	case g.output.kinds[i] == typeUUID:
		return uuids(joined, mem)
	}
	if err := fits(joined, t); err != nil {
		return nil, err
	}
	d, err := shaped(joined.Data(), t, mem)
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

// fits refuses decimals of more digits than their type has.
func fits(a arrow.Array, t arrow.DataType) error {
	d, ok := a.(*array.Decimal128)
	if !ok || d.DataType().(*arrow.Decimal128Type).Precision <= t.(*arrow.Decimal128Type).Precision {
		return nil
	}
	for i := range d.Len() {
		if d.IsValid(i) && !d.Value(i).FitsInPrecision(t.(*arrow.Decimal128Type).Precision) {
			return overflow(t)
		}
	}
	return nil
}

func overflow(t arrow.DataType) error {
	return fault.New(fault.Invalid, "a value does not fit into %s", t).With("ARITHMETIC_OVERFLOW", "22003")
}

// wholeNumbers narrows 128 bits to 64.
func wholeNumbers(a arrow.Array, mem allocator) (arrow.Array, error) {
	in, ok := a.(*array.Decimal128)
	if !ok {
		return nil, fault.New(fault.Internal, "a sum came as %s", a.DataType())
	}
	b := array.NewInt64Builder(mem)
	defer b.Release()
	b.Reserve(in.Len())
	for i := range in.Len() {
		if in.IsNull(i) {
			b.AppendNull()
			continue
		}
		v := in.Value(i)
		if v != decimal128.FromI64(int64(v.LowBits())) {
			return nil, overflow(arrow.PrimitiveTypes.Int64)
		}
		b.Append(int64(v.LowBits()))
	}
	return b.NewArray(), nil
}
