package predicate

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// batch is columns by field id, and the same values row by row for the model (nil: null).
type batch struct {
	fields []Field
	arrays map[int]arrow.Array
	rows   map[int][]any
}

func (b *batch) Column(f Field) (arrow.Array, error) { return b.arrays[f.ID], nil }

func (b *batch) release() {
	for _, a := range b.arrays {
		a.Release()
	}
}

var types = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, &arrow.Decimal128Type{Precision: 38, Scale: 4},
	arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Timestamp_ms,
	arrow.FixedWidthTypes.Timestamp_us, &arrow.TimestampType{Unit: arrow.Nanosecond},
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
	&arrow.FixedSizeBinaryType{ByteWidth: 3}, extensions.NewUUIDType(), arrow.Null,
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.PrimitiveTypes.Int64},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.PrimitiveTypes.Float64},
}

var (
	someInts   = []int64{0, 1, -1, 2, 7, 100, -100, 127, -128, 1 << 15, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32}
	someFloats = []float64{0, math.Copysign(0, -1), 1, -1, 1.5, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, 0.1, math.SmallestNonzeroFloat64}
	someTexts  = []string{"", "a", "ab", "abc", "b", "é", "\xff", "\x00", "a\x00", "日本", "%"}
)

// value draws a value of a type as the model holds it: what Literal.Value would be.
func value(r *rand.Rand, t arrow.DataType) any {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return value(r, t.ValueType)
	case arrow.ExtensionType:
		return value(r, t.StorageType())
	case *arrow.BooleanType:
		return r.Intn(2) == 0
	case *arrow.Float32Type:
		return float64(float32(someFloats[r.Intn(len(someFloats))]))
	case *arrow.Float64Type:
		return someFloats[r.Intn(len(someFloats))]
	case *arrow.Decimal128Type:
		n := decimal128.FromI64(someInts[r.Intn(len(someInts))])
		if r.Intn(3) == 0 {
			n = n.Mul(decimal128.FromI64(1 << 40))
		}
		return n
	case *arrow.StringType, *arrow.LargeStringType:
		return someTexts[r.Intn(len(someTexts))]
	case *arrow.BinaryType, *arrow.LargeBinaryType:
		return []byte(someTexts[r.Intn(len(someTexts))])
	case *arrow.FixedSizeBinaryType:
		out := make([]byte, t.ByteWidth)
		out[r.Intn(len(out))] = byte(r.Intn(3) * 100)
		return out
	case *arrow.Uint8Type:
		return int64(uint8(someInts[r.Intn(len(someInts))]))
	case *arrow.Int8Type:
		return int64(int8(someInts[r.Intn(len(someInts))]))
	case *arrow.Uint16Type, *arrow.Int16Type:
		return int64(int16(someInts[r.Intn(len(someInts))])) & 0x7fff
	case *arrow.Int32Type, *arrow.Date32Type, *arrow.Uint32Type:
		return int64(int32(someInts[r.Intn(len(someInts))])) & 0x7fffffff
	case *arrow.Uint64Type:
		return someInts[r.Intn(len(someInts))] & math.MaxInt64
	}
	return someInts[r.Intn(len(someInts))]
}

func add(b array.Builder, v any) {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.Int8Builder:
		b.Append(int8(v.(int64)))
	case *array.Int16Builder:
		b.Append(int16(v.(int64)))
	case *array.Int32Builder:
		b.Append(int32(v.(int64)))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Uint8Builder:
		b.Append(uint8(v.(int64)))
	case *array.Uint16Builder:
		b.Append(uint16(v.(int64)))
	case *array.Uint32Builder:
		b.Append(uint32(v.(int64)))
	case *array.Uint64Builder:
		b.Append(uint64(v.(int64)))
	case *array.Float32Builder:
		b.Append(float32(v.(float64)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.Decimal128Builder:
		b.Append(v.(decimal128.Num))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.(int64)))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v.(int64)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(int64)))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.LargeStringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.FixedSizeBinaryBuilder:
		b.Append(v.([]byte))
	case *extensions.UUIDBuilder:
		b.StorageBuilder().(*array.FixedSizeBinaryBuilder).Append(v.([]byte))
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(v.(string)); err != nil {
			panic(err)
		}
	case *array.Int64DictionaryBuilder:
		if err := b.Append(v.(int64)); err != nil {
			panic(err)
		}
	case *array.Float64DictionaryBuilder:
		if err := b.Append(v.(float64)); err != nil {
			panic(err)
		}
	default:
		panic(fmt.Sprintf("no builder %T", b))
	}
}

// newBatch draws a batch whose arrays are slices at odd offsets.
func newBatch(r *rand.Rand, mem memory.Allocator, rows int) *batch {
	out := &batch{arrays: map[int]arrow.Array{}, rows: map[int][]any{}}
	for id, t := range types {
		nulls := r.Intn(3) // none, some, many
		b := array.NewBuilder(mem, t)
		before, after := r.Intn(70), r.Intn(10)
		values := make([]any, 0, rows)
		for i := range before + rows + after {
			var v any
			if t.ID() != arrow.NULL && (nulls == 0 || r.Intn(4) >= nulls) {
				v = value(r, t)
			}
			if v == nil {
				b.AppendNull()
			} else {
				add(b, v)
			}
			if i >= before && i < before+rows {
				values = append(values, v)
			}
		}
		whole := b.NewArray()
		b.Release()
		out.arrays[id] = array.NewSlice(whole, int64(before), int64(before+rows))
		whole.Release()
		field := t
		if d, ok := t.(*arrow.DictionaryType); ok {
			field = d.ValueType
		}
		out.fields = append(out.fields, Field{ID: id, Path: []string{fmt.Sprint("c", id)}, Type: field})
		out.rows[id] = values
	}
	return out
}

// expression draws an expression of a depth.
func expression(r *rand.Rand, b *batch, depth int) Expr {
	if depth > 0 {
		switch r.Intn(4) {
		case 0:
			return And{expression(r, b, depth-1), expression(r, b, depth-1)}
		case 1:
			return Or{expression(r, b, depth-1), expression(r, b, depth-1)}
		case 2:
			return Not{expression(r, b, depth-1)}
		}
	}
	f := b.fields[r.Intn(len(b.fields))]
	literal := func() Literal { return Literal{f.Type, value(r, f.Type)} }
	switch n := r.Intn(10); {
	case n == 0:
		return Constant(r.Intn(3))
	case n == 1 || f.Type.ID() == arrow.NULL:
		return IsNull{f}
	case n == 2 && arrow.IsFloating(f.Type.ID()):
		return IsNaN{f}
	case n == 3 && arrow.IsBaseBinary(f.Type.ID()):
		return StartsWith{f, someTexts[r.Intn(len(someTexts))]}
	case n < 7:
		in := In{Field: f, HasNull: r.Intn(4) == 0}
		for range 1 + r.Intn(7) {
			in.Values = append(in.Values, literal())
		}
		return in
	}
	return Comparison{Op(r.Intn(6)), f, literal()}
}

// model gives true, false or null of one row, by the book.
func model(e Expr, b *batch, row int) Constant {
	switch e := e.(type) {
	case Constant:
		return e
	case And:
		l, r := model(e.Left, b, row), model(e.Right, b, row)
		if l == False || r == False {
			return False
		}
		if l == Null || r == Null {
			return Null
		}
		return True
	case Or:
		return invert(model(And{Not{e.Left}, Not{e.Right}}, b, row))
	case Not:
		return invert(model(e.Expr, b, row))
	case IsNull:
		return truthOf(b.rows[e.Field.ID][row] == nil)
	case IsNaN:
		f, _ := b.rows[e.Field.ID][row].(float64)
		return truthOf(math.IsNaN(f))
	}
	f, _ := fieldOf(e)
	v := b.rows[f.ID][row]
	if v == nil {
		return Null
	}
	switch e := e.(type) {
	case Comparison:
		c := order3(v, e.Value.Value)
		return truthOf([]bool{c == 0, c != 0, c < 0, c <= 0, c > 0, c >= 0}[e.Op])
	case In:
		for _, l := range e.Values {
			if order3(v, l.Value) == 0 {
				return True
			}
		}
		if e.HasNull {
			return Null
		}
		return False
	case StartsWith:
		if s, ok := v.([]byte); ok {
			v = string(s)
		}
		return truthOf(strings.HasPrefix(v.(string), e.Prefix))
	}
	panic("unknown")
}

func invert(c Constant) Constant {
	return map[Constant]Constant{True: False, False: True, Null: Null}[c]
}

func truthOf(b bool) Constant {
	if b {
		return True
	}
	return False
}

// order3 compares two values of a kind.
func order3(a, b any) int {
	switch a := a.(type) {
	case bool:
		return order3(int64(bit(a)), int64(bit(b.(bool))))
	case int64:
		return big.NewInt(a).Cmp(big.NewInt(b.(int64)))
	case float64:
		b := b.(float64)
		switch {
		case math.IsNaN(a) && math.IsNaN(b):
			return 0
		case math.IsNaN(a):
			return 1
		case math.IsNaN(b):
			return -1
		}
		return new(big.Float).SetFloat64(a).Cmp(new(big.Float).SetFloat64(b))
	case decimal128.Num:
		return a.BigInt().Cmp(b.(decimal128.Num).BigInt())
	case string:
		return bytes.Compare([]byte(a), []byte(b.(string)))
	case []byte:
		return bytes.Compare(a, b.([]byte))
	}
	panic(fmt.Sprintf("no order for %T", a))
}

func check(t *testing.T, e Expr, b *batch, rows int, mem memory.Allocator, same func(got, want Constant) bool, origin Expr) {
	t.Helper()
	got, err := Evaluate(e, rows, b, mem)
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	defer got.Release()
	nulls := 0
	for row := range rows {
		c := Null
		if got.IsValid(row) {
			c = truthOf(got.Value(row))
		} else {
			nulls++
		}
		if want := model(origin, b, row); !same(c, want) {
			f := Fields(origin)
			for _, f := range f {
				t.Logf("%v: %v", f, b.rows[f.ID][row])
			}
			t.Fatalf("row %d of %s: %s, want %s (%s)", row, e, c, want, origin)
		}
	}
	if nulls != got.NullN() {
		t.Fatalf("%s: %d nulls announced, %d found", e, got.NullN(), nulls)
	}
}

func exactly(got, want Constant) bool { return got == want }

func asFilter(got, want Constant) bool { return (got == True) == (want == True) }

func TestEvaluateAgreesWithTheModel(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	r := rand.New(rand.NewSource(7))
	for range 40 {
		rows := []int{0, 1, 63, 64, 65, 130, 200}[r.Intn(7)]
		b := newBatch(r, mem, rows)
		for range 60 {
			e := expression(r, b, r.Intn(4))
			check(t, e, b, rows, mem, exactly, e)
			check(t, Simplify(e), b, rows, mem, exactly, e)
			check(t, Negate(e), b, rows, mem, exactly, Not{e})
			check(t, Where(e), b, rows, mem, asFilter, e)
			check(t, Join(Conjuncts(e)), b, rows, mem, exactly, e)
		}
		b.release()
	}
}

func FuzzSimplifyKeepsTheOutcome(f *testing.F) {
	for i := range int64(20) {
		f.Add(i, 3)
	}
	f.Fuzz(func(t *testing.T, seed int64, depth int) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer mem.AssertSize(t, 0)
		r := rand.New(rand.NewSource(seed))
		b := newBatch(r, mem, 70)
		defer b.release()
		e := expression(r, b, max(0, depth%6))
		check(t, e, b, 70, mem, exactly, e)
		check(t, Simplify(e), b, 70, mem, exactly, e)
		check(t, Where(e), b, 70, mem, asFilter, e)
		normal(t, Simplify(e), false)
	})
}

// normal fails where Simplify left a Not in front of anything but IsNull, IsNaN, In and StartsWith, or a constant in a list.
func normal(t *testing.T, e Expr, inList bool) {
	t.Helper()
	switch e := e.(type) {
	case And:
		normal(t, e.Left, true)
		normal(t, e.Right, true)
	case Or:
		normal(t, e.Left, true)
		normal(t, e.Right, true)
	case Not:
		switch e.Expr.(type) {
		case IsNull, IsNaN, In, StartsWith:
		default:
			t.Errorf("Not stands before %s", e.Expr)
		}
	case Constant:
		if inList && e != Null {
			t.Errorf("%s stands in a list", e)
		}
	}
}
