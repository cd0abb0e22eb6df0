package flightsql

import (
	"encoding/hex"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// batch gives a batch in this form, of the schema that schema gives. The caller releases it; what does not change is shared.
func (f form) batch(in arrow.RecordBatch, schema *arrow.Schema, mem memory.Allocator) arrow.RecordBatch {
	columns := make([]arrow.Array, in.NumCols())
	for i, c := range in.Columns() {
		columns[i] = f.array(c, mem)
		defer columns[i].Release()
		if schema.Field(i).Type.ID() == arrow.DICTIONARY {
			columns[i] = encoded(columns[i], schema.Field(i).Type.(*arrow.DictionaryType), mem)
			defer columns[i].Release()
		}
	}
	return array.NewRecordBatch(schema, columns, in.NumRows())
}

// array gives an array in this form. Nested ones that stay nested keep their buffers, and their children are converted.
func (f form) array(in arrow.Array, mem memory.Allocator) arrow.Array {
	target := f.typ(in.DataType())
	if arrow.TypeEqual(target, in.DataType()) {
		in.Retain()
		return in
	}
	switch t := in.(type) {
	case array.ExtensionArray: // a uuid
		return uuidTexts(t.Storage().(*array.FixedSizeBinary), mem)
	case *array.Timestamp:
		return retyped(in, target, in.Data().Children())
	case *array.Decimal32, *array.Decimal64, *array.Decimal128, *array.Decimal256:
		return doubles(in, mem)
	}
	if target.ID() == arrow.STRING {
		return jsonTexts(in, mem)
	}
	children := make([]arrow.ArrayData, len(in.Data().Children()))
	for i, data := range in.Data().Children() {
		child := array.MakeFromData(data)
		converted := f.array(child, mem)
		child.Release()
		defer converted.Release()
		children[i] = converted.Data()
	}
	return retyped(in, target, children)
}

// retyped gives an array of the same buffers with another type and other children.
func retyped(in arrow.Array, target arrow.DataType, children []arrow.ArrayData) arrow.Array {
	d := in.Data()
	data := array.NewData(target, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
	defer data.Release()
	return array.MakeFromData(data)
}

func uuidTexts(in *array.FixedSizeBinary, mem memory.Allocator) arrow.Array {
	b := array.NewStringBuilder(mem)
	defer b.Release()
	b.Reserve(in.Len())
	b.ReserveData(36 * in.Len())
	for i := range in.Len() {
		if in.IsNull(i) {
			b.AppendNull()
			continue
		}
		b.Append(uuidText(in.Value(i)))
	}
	return b.NewArray()
}

// uuidText writes 16 bytes as RFC 9562 does.
func uuidText(v []byte) string {
	var text [36]byte
	at := 0
	for i, part := range [][]byte{v[:4], v[4:6], v[6:8], v[8:10], v[10:16]} {
		if i > 0 {
			text[at] = '-'
			at++
		}
		at += hex.Encode(text[at:], part)
	}
	return string(text[:])
}

func doubles(in arrow.Array, mem memory.Allocator) arrow.Array {
	b := array.NewFloat64Builder(mem)
	defer b.Release()
	b.Reserve(in.Len())
	scale := in.DataType().(arrow.DecimalType).GetScale()
	for i := range in.Len() {
		if in.IsNull(i) {
			b.AppendNull()
			continue
		}
		switch in := in.(type) {
		case *array.Decimal32:
			b.Append(in.Value(i).ToFloat64(scale))
		case *array.Decimal64:
			b.Append(in.Value(i).ToFloat64(scale))
		case *array.Decimal128:
			b.Append(in.Value(i).ToFloat64(scale))
		case *array.Decimal256:
			b.Append(in.Value(i).ToFloat64(scale))
		}
	}
	return b.NewArray()
}

func jsonTexts(in arrow.Array, mem memory.Allocator) arrow.Array {
	b := array.NewStringBuilder(mem)
	defer b.Release()
	b.Reserve(in.Len())
	var text []byte
	for i := range in.Len() {
		if in.IsNull(i) {
			b.AppendNull()
			continue
		}
		text = appendJSON(text[:0], in, i)
		b.BinaryBuilder.Append(text)
	}
	return b.NewArray()
}

// encoded gives strings as indices into the distinct ones of this batch.
func encoded(in arrow.Array, t *arrow.DictionaryType, mem memory.Allocator) arrow.Array {
	b := array.NewDictionaryBuilder(mem, t).(*array.BinaryDictionaryBuilder)
	defer b.Release()
	b.Reserve(in.Len())
	strings := in.(*array.String)
	for i := range in.Len() {
		if in.IsNull(i) {
			b.AppendNull()
			continue
		}
		if err := b.AppendString(strings.Value(i)); err != nil {
			panic(err) // only a value of another type is an error
		}
	}
	return b.NewArray()
}
