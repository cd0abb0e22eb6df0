package flightsql

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/protobuf/proto"
)

// columnTypes are all kinds of types that results have, and some that are nested in each other.
func columnTypes() []arrow.DataType {
	point := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true})
	return []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, &arrow.Decimal128Type{Precision: 38, Scale: 9}, arrow.FixedWidthTypes.Date32,
		arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Timestamp_us, &arrow.FixedSizeBinaryType{ByteWidth: 5}, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary,
		arrow.BinaryTypes.LargeString, arrow.Null, extensions.NewUUIDType(), point, arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.LargeListOf(arrow.BinaryTypes.String),
		arrow.ListOf(arrow.StructOf(arrow.Field{Name: "p", Type: point, Nullable: true}, arrow.Field{Name: "l", Type: arrow.ListOf(arrow.FixedWidthTypes.Boolean), Nullable: true})),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.ListOf(arrow.PrimitiveTypes.Int64)), arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int16), arrow.StructOf(),
	}
}

// fill appends n values, of which some are null.
func fill(b array.Builder, rng *rand.Rand, n int, nulls float64) {
	for range n {
		if rng.Float64() < nulls {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.StructBuilder:
			b.Append(true)
			for i := range b.NumField() {
				fill(b.FieldBuilder(i), rng, 1, nulls)
			}
		case *array.MapBuilder:
			b.Append(true)
			n := rng.IntN(3)
			fill(b.KeyBuilder(), rng, n, 0)
			fill(b.ItemBuilder(), rng, n, nulls)
		case *array.FixedSizeListBuilder:
			b.Append(true)
			fill(b.ValueBuilder(), rng, 3, nulls)
		case array.ListLikeBuilder:
			b.Append(true)
			fill(b.ValueBuilder(), rng, rng.IntN(4), nulls)
		case *array.BooleanBuilder:
			b.Append(rng.IntN(2) == 0)
		case *array.NullBuilder:
			b.AppendNull()
		case *array.StringBuilder:
			b.Append(strings.Repeat("é", rng.IntN(9)))
		case *array.LargeStringBuilder:
			b.Append(strings.Repeat("x", rng.IntN(9)))
		case *array.FixedSizeBinaryBuilder:
			b.Append([]byte("12345"))
		case *array.BinaryBuilder:
			b.Append([]byte(strings.Repeat("\x00\xff", rng.IntN(9))))
		case *array.Date32Builder:
			b.Append(arrow.Date32(rng.Int32()))
		default:
			b.AppendEmptyValue()
		}
	}
}

func randomBatch(mem memory.Allocator, rng *rand.Rand, rows int, nulls float64, types ...arrow.DataType) arrow.RecordBatch {
	fields := make([]arrow.Field, len(types))
	columns := make([]arrow.Array, len(types))
	for i, typ := range types {
		fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: typ, Nullable: true}
		b := array.NewBuilder(mem, typ)
		fill(b, rng, rows, nulls)
		columns[i] = b.NewArray()
		b.Release()
		defer columns[i].Release()
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(rows))
}

// serialized collects what a stream sends, in bytes, through the codec.
type serialized struct {
	flight.FlightService_DoGetServer
	t        testing.TB
	messages [][]byte
}

func (s *serialized) Send(d *flight.FlightData) error { return s.SendMsg(d) }
func (s *serialized) SendMsg(m any) error {
	buffers, err := newCodec().Marshal(m)
	if err != nil {
		s.t.Fatal(err)
	}
	defer buffers.Free()
	s.messages = append(s.messages, buffers.Materialize())
	return nil
}

// stock gives the messages that the upstream writer makes of a batch.
func stock(t testing.TB, b arrow.RecordBatch) [][]byte {
	out := &serialized{t: t}
	w := flight.NewRecordWriter(out, ipc.WithSchema(b.Schema()))
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return out.messages
}

func framed(t testing.TB, mem memory.Allocator, b arrow.RecordBatch) [][]byte {
	out := &serialized{t: t}
	s := &sender{stream: out, schema: b.Schema(), mem: mem, loans: &loans{}}
	if err := s.write(b); err != nil {
		t.Fatal(err)
	}
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	return out.messages
}

func TestFramesAreTheBytesOfTheUpstreamWriter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	compare := func(name string, whole arrow.RecordBatch) {
		t.Helper()
		n := whole.NumRows()
		for _, r := range [][2]int64{{0, n}, {0, n / 2}, {min(7, n), n}, {min(8, n), min(72, n)}, {n / 3, n/3 + min(n-n/3, 1)}, {n, n}} {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			part := whole.NewSlice(r[0], r[1])
			want, got := stock(t, part), framed(t, mem, part)
			if len(got) != len(want) {
				t.Fatalf("%s, rows %v: %d messages, want %d", name, r, len(got), len(want))
			}
			for i := range want {
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("%s, rows %v: message %d differs", name, r, i)
				}
			}
			part.Release()
			mem.AssertSize(t, 0)
		}
	}
	for _, rows := range []int{0, 1, 63, 64, 65, 1000, 20_000} {
		for _, nulls := range []float64{0, 0.3, 1} {
			for _, typ := range columnTypes() {
				compare(fmt.Sprintf("%s, %d rows, nulls %v", typ, rows, nulls), randomBatch(memory.DefaultAllocator, rng, rows, nulls, typ))
			}
		}
		compare(fmt.Sprintf("all types, %d rows", rows), randomBatch(memory.DefaultAllocator, rng, rows, 0.2, columnTypes()...))
		compare(fmt.Sprintf("no columns, %d rows", rows), array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, int64(rows)))
	}
}

func TestLargeBuffersAreLentAndNotCopied(t *testing.T) {
	b := int64Batch(make([]int64, 1<<17)...)
	defer b.Release()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	f, err := newFrame(b, mem, &loans{})
	check(t, err)
	defer f.free()
	values := b.Column(0).Data().Buffers()[1].Bytes()
	lent := f.buffers[1].ReadOnlyData()
	if len(f.buffers) != 2 || &lent[0] != &values[0] || len(lent) != 1<<20 {
		t.Errorf("%d buffers", len(f.buffers))
	}
	var d flight.FlightData
	check(t, proto.Unmarshal(f.buffers.Materialize(), &d))
	if !bytes.Equal(d.DataBody, lent) {
		t.Error("the body differs")
	}
}
