package predicate

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
)

func field(id int, t arrow.DataType, path ...string) Field { return Field{id, path, t} }

func integer(id int) Field { return field(id, arrow.PrimitiveTypes.Int64, string(rune('a'+id))) }

func is(op Op, id int, v int64) Expr {
	return Comparison{op, integer(id), Literal{arrow.PrimitiveTypes.Int64, v}}
}

func in(id int, hasNull bool, values ...int64) In {
	out := In{Field: integer(id), HasNull: hasNull}
	for _, v := range values {
		out.Values = append(out.Values, Literal{arrow.PrimitiveTypes.Int64, v})
	}
	return out
}

func TestSimplify(t *testing.T) {
	a, b, c := is(Lt, 0, 1), is(Eq, 1, 2), is(GtEq, 2, 3)
	for _, x := range []struct {
		e           Expr
		want, where string // where empty: as want
	}{
		{True, "TRUE", ""},
		{Not{Null}, "NULL", "FALSE"},
		{Not{a}, "`a` >= 1", ""},
		{Not{Not{a}}, "`a` < 1", ""},
		{Not{And{a, b}}, "`a` >= 1 OR `b` <> 2", ""},
		{Not{Or{a, Not{b}}}, "`a` >= 1 AND `b` = 2", ""},
		{And{a, And{b, a}}, "`a` < 1 AND `b` = 2", ""},
		{Or{Or{a, b}, And{a, b}}, "`a` < 1 OR `b` = 2 OR `a` < 1 AND `b` = 2", ""},
		{And{a, True}, "`a` < 1", ""},
		{And{a, False}, "FALSE", ""},
		{And{a, Null}, "`a` < 1 AND NULL", "FALSE"},
		{Or{a, Null}, "`a` < 1 OR NULL", "`a` < 1"},
		{Or{a, Not{False}}, "TRUE", ""},
		{Or{False, False}, "FALSE", ""},
		{And{Or{a, b}, c}, "(`a` < 1 OR `b` = 2) AND `c` >= 3", ""},
		{in(0, false, 1), "`a` = 1", ""},
		{in(0, false, 1, 1), "`a` = 1", ""},
		{in(0, false, 1, 2, 1), "`a` IN (1, 2)", ""},
		{Not{in(0, false, 1)}, "`a` <> 1", ""},
		{Not{in(0, false, 1, 2)}, "`a` NOT IN (1, 2)", ""},
		{Not{in(0, true, 1, 2)}, "`a` NOT IN (1, 2, NULL)", "FALSE"},
		{in(0, true, 1), "`a` IN (1, NULL)", "`a` = 1"},
		{in(0, true), "NULL", "FALSE"},
		{in(0, false), "FALSE", ""},
		{Not{IsNull{integer(0)}}, "`a` IS NOT NULL", ""},
		{Or{Not{IsNull{integer(0)}}, Null}, "`a` IS NOT NULL OR NULL", "`a` IS NOT NULL"},
		{And{IsNull{integer(0)}, Null}, "`a` IS NULL AND NULL", "FALSE"},
		{Not{IsNaN{field(1, arrow.PrimitiveTypes.Float64, "x")}}, "NOT (isnan(`x`))", ""},
	} {
		if got := Simplify(x.e).String(); got != x.want {
			t.Errorf("%s simplifies to %s, want %s", x.e, got, x.want)
		}
		if x.where == "" {
			x.where = x.want
		}
		if got := Where(x.e).String(); got != x.where {
			t.Errorf("%s filters as %s, want %s", x.e, got, x.where)
		}
	}
}

func TestSimplifyFindsZerosEqual(t *testing.T) {
	f := field(1, arrow.PrimitiveTypes.Float64, "x")
	e := In{Field: f, Values: []Literal{{f.Type, 0.0}, {f.Type, math.Copysign(0, -1)}, {f.Type, math.NaN()}, {f.Type, math.NaN()}}}
	if got := Simplify(e).(In); len(got.Values) != 2 {
		t.Errorf("%s simplifies to %s", e, got)
	}
}

func TestText(t *testing.T) {
	us := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	dec := &arrow.Decimal128Type{Precision: 9, Scale: 2}
	for _, x := range []struct {
		e    Expr
		want string
	}{
		{Comparison{Eq, field(1, dec, "st", "tick`s"), Literal{dec, decimal128.FromI64(-105)}}, "`st`.`tick``s` = -1.05"},
		{Comparison{Gt, field(1, arrow.FixedWidthTypes.Date32, "d"), Literal{arrow.FixedWidthTypes.Date32, int64(-719162)}}, "`d` > DATE '0001-01-01'"},
		{Comparison{Lt, field(1, us, "t"), Literal{us, int64(-1)}}, "`t` < TIMESTAMP '1969-12-31 23:59:59.999999Z'"},
		{Comparison{Lt, field(1, arrow.FixedWidthTypes.Time64us, "t"), Literal{arrow.FixedWidthTypes.Time64us, int64(3_600_000_001)}}, "`t` < TIME '01:00:00.000001'"},
		{Comparison{Lt, field(1, us, "t"), Literal{&arrow.TimestampType{Unit: arrow.Nanosecond}, int64(1)}}, "`t` < TIMESTAMP_NTZ '1970-01-01 00:00:00.000000001'"},
		{Comparison{Eq, field(1, arrow.BinaryTypes.String, "s"), Literal{arrow.BinaryTypes.String, `it's \`}}, `` + "`s` = 'it\\'s \\\\'"},
		{Comparison{Eq, field(1, arrow.BinaryTypes.Binary, "s"), Literal{arrow.BinaryTypes.Binary, []byte{1, 255}}}, "`s` = X'01FF'"},
		{Comparison{Eq, field(1, extensions.NewUUIDType(), "u"), Literal{extensions.NewUUIDType(), []byte("0123456789abcdef")}},
			"`u` = '30313233-3435-3637-3839-616263646566'"},
		{Comparison{Eq, field(1, arrow.PrimitiveTypes.Float32, "f"), Literal{arrow.PrimitiveTypes.Float32, math.NaN()}}, "`f` = float('NaN')"},
		{Comparison{Eq, field(1, arrow.PrimitiveTypes.Float32, "f"), Literal{arrow.PrimitiveTypes.Float32, float64(float32(0.1))}}, "`f` = 0.1"},
		{Comparison{Eq, field(1, arrow.PrimitiveTypes.Float64, "f"), Literal{arrow.PrimitiveTypes.Float64, 2.0}}, "`f` = 2.0"},
		{Comparison{Eq, field(1, arrow.PrimitiveTypes.Float64, "f"), Literal{arrow.PrimitiveTypes.Float64, 1e300}}, "`f` = 1E+300"},
		{Comparison{Eq, field(1, arrow.FixedWidthTypes.Boolean, "b"), Literal{arrow.FixedWidthTypes.Boolean, true}}, "`b` = true"},
		{StartsWith{field(1, arrow.BinaryTypes.String, "s"), `a_\`}, "`s` LIKE 'a\\\\_\\\\\\\\%'"},
		{Not{StartsWith{field(1, arrow.BinaryTypes.String, "s"), "a"}}, "`s` NOT LIKE 'a%'"},
	} {
		if got := x.e.String(); got != x.want {
			t.Errorf("%s, want %s", got, x.want)
		}
	}
}

func TestFieldsInOrderOfFirstUse(t *testing.T) {
	e := Or{And{is(Eq, 2, 1), Not{IsNull{integer(0)}}}, And{in(2, false, 1), StartsWith{field(9, arrow.BinaryTypes.String, "s"), "a"}}}
	var got []string
	for _, f := range Fields(e) {
		got = append(got, f.Path[0])
	}
	if s := strings.Join(got, ","); s != "c,a,s" {
		t.Errorf("fields %s", s)
	}
}

func TestDeepExpressions(t *testing.T) {
	var left, right Expr = is(Eq, 0, 0), is(Eq, 0, 0)
	for i := range int64(20_000) {
		left, right = And{left, is(NotEq, 0, i)}, Or{is(Eq, 0, i), right}
	}
	for _, e := range []Expr{left, right, Not{left}} {
		if n := strings.Count(Simplify(e).String(), "`a`"); n < 20_000 {
			t.Errorf("%d tests are left", n)
		}
	}
}

type lost struct{ array arrow.Array }

func (l lost) Column(Field) (arrow.Array, error) {
	if l.array == nil {
		return nil, fault.New(fault.Corrupt, "gone")
	}
	return l.array, nil
}

func TestEvaluateErrors(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	text := array.NewStringBuilder(mem)
	defer text.Release()
	text.AppendValues([]string{"a", "b"}, nil)
	strings := text.NewArray()
	defer strings.Release()
	for _, x := range []struct {
		e       Expr
		columns Columns
		kind    fault.Kind
	}{
		{is(Eq, 0, 1), lost{}, fault.Corrupt},
		{Or{Null, is(Eq, 0, 1)}, lost{}, fault.Corrupt},
		{is(Eq, 0, 1), lost{strings}, fault.Unsupported},
		{in(0, false, 1, 2, 3, 4, 5), lost{strings}, fault.Unsupported},
	} {
		out, err := Evaluate(x.e, 2, x.columns, mem)
		if out != nil || !fault.Is(err, x.kind) {
			t.Errorf("%s: %v, want %s", x.e, err, x.kind)
		}
	}
	if _, err := Evaluate(is(Eq, 0, 1), 3, lost{strings}, mem); !fault.Is(err, fault.Internal) {
		t.Errorf("too few values: %v", err)
	}
}
