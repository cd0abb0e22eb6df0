//go:build cgo

package duckdb

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// written are the types whose vectors we write ourselves, and one that the engine converts between them.
func written() []arrow.Field {
	var out []arrow.Field
	for i, t := range []arrow.DataType{arrow.BinaryTypes.String, &arrow.Decimal128Type{Precision: 4, Scale: 1}, arrow.PrimitiveTypes.Int64, &arrow.Decimal128Type{Precision: 9, Scale: 2},
		arrow.BinaryTypes.Binary, &arrow.Decimal128Type{Precision: 18}, &arrow.Decimal128Type{Precision: 19, Scale: 3}} {
		out = append(out, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: t})
	}
	return out
}

// TestVectorsHoldWhatBatchesHold reads texts of every short length, decimals up to their last digit and nulls, from batches with offsets and of more rows than a
// vector has.
func TestVectorsHoldWhatBatchesHold(t *testing.T) {
	for _, nulls := range []int{0, 4} {
		r := rand.New(rand.NewPCG(7, uint64(nulls)))
		f := newFixture(t)
		m := newTable(t, "[]", 1, written()...)
		whole := edges(m.schema, r, 9000, nulls)
		for at := int64(0); at < whole.NumRows(); {
			n := min(1+r.Int64N(3000), whole.NumRows()-at)
			m.add(whole.NewSlice(at, at+n))
			at += n
		}
		f.tables["written"] = m
		got, err := f.rows(t.Context(), "SELECT * FROM written ORDER BY c2")
		if err != nil {
			t.Fatal(err)
		}
		want, err := whole.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		have, wanted := strings.Split(strings.ReplaceAll(strings.Trim(got, "[]"), "] [", ","), "},{"), strings.Split(strings.Trim(string(want), "[]\n"), "},{")
		if len(have) != len(wanted) {
			t.Fatalf("%d rows, want %d", len(have), len(wanted))
		}
		for i := range have {
			if strings.TrimSpace(have[i]) != strings.TrimSpace(wanted[i]) {
				t.Fatalf("row %d: %s, want %s", i, have[i], wanted[i])
			}
		}
	}
}

// edges gives rows whose third column numbers them; of the other values one in so many is null, 0: none.
func edges(schema *arrow.Schema, r *rand.Rand, rows, nulls int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	text := []rune("aé€z01234567890123456789")
	for i := range rows {
		for c, builder := range b.Fields() {
			if nulls > 0 && c != 2 && r.IntN(nulls) == 0 {
				builder.AppendNull()
				continue
			}
			switch builder := builder.(type) {
			case *array.Decimal128Builder:
				builder.Append(edge(r, schema.Field(c).Type.(*arrow.Decimal128Type).Precision))
			case *array.Int64Builder:
				builder.Append(int64(i))
			case *array.StringBuilder:
				from := r.IntN(4)
				builder.Append(string(text[from : from+i%20]))
			case *array.BinaryBuilder:
				builder.Append([]byte(strings.Repeat("\x00\xffx", 10)[:i%30]))
			}
		}
	}
	return b.NewRecordBatch()
}

// TestDecimalsOfTooManyDigitsAreRefused: none becomes another number.
func TestDecimalsOfTooManyDigitsAreRefused(t *testing.T) {
	for _, digits := range []int32{4, 9, 18} {
		f := newFixture(t)
		field := arrow.Field{Name: "d", Type: &arrow.Decimal128Type{Precision: digits}}
		m := newTable(t, "[]", 1, field)
		b := array.NewDecimal128Builder(memory.DefaultAllocator, field.Type.(*arrow.Decimal128Type))
		b.Append(decimal128.FromI64(1))
		b.Append(decimal128.New(1, 1))
		column := b.NewArray()
		m.batches = []arrow.RecordBatch{array.NewRecordBatch(m.schema, []arrow.Array{column}, 2)}
		f.tables["wrong"] = m
		if got, err := f.rows(t.Context(), "SELECT sum(d) AS s FROM wrong"); err == nil || !strings.Contains(err.Error(), "more digits") {
			t.Errorf("%d digits: %s, %v", digits, got, err)
		}
		nulls := array.NewData(column.DataType(), 2, []*memory.Buffer{memory.NewBufferBytes([]byte{1}), column.Data().Buffers()[1]}, nil, 1, 0)
		m.batches = []arrow.RecordBatch{array.NewRecordBatch(m.schema, []arrow.Array{array.MakeFromData(nulls)}, 2)}
		if got, err := f.rows(t.Context(), "SELECT max(d) AS s FROM wrong"); err != nil || !strings.Contains(got, "1") {
			t.Errorf("%d digits, what lies under a null: %s, %v", digits, got, err)
		}
	}
}

// edge gives a number of up to so many digits, often one at the ends of its range or of a whole number's.
func edge(r *rand.Rand, digits int32) decimal128.Num {
	largest := decimal128.GetMaxValue(digits)
	switch r.IntN(4) {
	case 0:
		return largest
	case 1:
		return largest.Negate()
	case 2:
		return decimal128.FromI64(r.Int64N(9999) - 5000)
	}
	return decimal128.FromI64(r.Int64() % 9999)
}
