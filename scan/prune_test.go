package scan

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/predicate"
)

func column(typ arrow.DataType) predicate.Field {
	return predicate.Field{ID: 1, Path: []string{"c"}, Type: typ}
}

func compared(typ arrow.DataType, op predicate.Op, v any) predicate.Expr {
	return predicate.Comparison{Op: op, Field: column(typ), Value: predicate.Literal{Type: typ, Value: v}}
}

// TestBoundsKeepWhatMayMatch: keep is what must hold; where leave is set, the file must go as well.
func TestBoundsKeepWhatMayMatch(t *testing.T) {
	str, dbl, long := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64
	floats := known{Lower: 1.0, Upper: 2.0}
	noNaN := known{Lower: 1.0, Upper: 2.0, NaNs: none}
	for _, c := range []struct {
		name string
		k    known
		e    predicate.Expr
		keep bool
	}{
		{"above the upper bound NaN may hide", floats, compared(dbl, predicate.Gt, 5.0), true},
		{"unless there is none", noNaN, compared(dbl, predicate.Gt, 5.0), false},
		{"NaN itself", floats, compared(dbl, predicate.Eq, math.NaN()), true},
		{"NaN that is not there", noNaN, compared(dbl, predicate.Eq, math.NaN()), false},
		{"nothing is greater than NaN", floats, compared(dbl, predicate.Gt, math.NaN()), false},
		{"everything is below NaN", noNaN, compared(dbl, predicate.Lt, math.NaN()), true},
		{"below the lower bound NaN does not hide", floats, compared(dbl, predicate.Lt, 1.0), false},
		{"negative zero equals zero", known{Lower: math.Copysign(0, -1), Upper: math.Copysign(0, -1), NaNs: none}, compared(dbl, predicate.Eq, 0.0), true},
		{"zero is not below zero", known{Lower: math.Copysign(0, -1), Upper: 5.0}, compared(dbl, predicate.Lt, 0.0), false},
		{"a NaN bound tells nothing", known{Lower: math.NaN(), Upper: math.NaN(), NaNs: none}, compared(dbl, predicate.Eq, 3.0), true},
		{"text above a bound cut short", known{Lower: "a", Upper: "abc"}, compared(str, predicate.Eq, "abcd"), true},
		{"text above the bound", known{Lower: "a", Upper: "abc"}, compared(str, predicate.Eq, "abd"), false},
		{"greater than a bound cut short", known{Lower: "a", Upper: "abc"}, compared(str, predicate.Gt, "abcz"), true},
		{"prefix above", known{Lower: "a", Upper: "abc"}, predicate.StartsWith{Field: column(str), Prefix: "abd"}, false},
		{"prefix longer than the bound", known{Lower: "a", Upper: "ab"}, predicate.StartsWith{Field: column(str), Prefix: "abd"}, true},
		{"prefix below", known{Lower: "b", Upper: "c"}, predicate.StartsWith{Field: column(str), Prefix: "ab"}, false},
		{"no values", known{Values: none}, compared(long, predicate.NotEq, int64(1)), false},
		{"NOT of a comparison drops nulls too", known{Values: none}, predicate.Not{Expr: compared(long, predicate.Eq, int64(1))}, false},
		{"no nulls", known{Nulls: none}, predicate.IsNull{Field: column(long)}, false},
		{"NOT IN with NULL is never true", known{}, predicate.Not{Expr: predicate.In{Field: column(long), HasNull: true,
			Values: []predicate.Literal{{Type: long, Value: int64(1)}}}}, false},
		{"unequal to the one value", known{Lower: int64(1), Upper: int64(1), Exact: true}, compared(long, predicate.NotEq, int64(1)), false},
		{"unequal to another value", known{Lower: int64(1), Upper: int64(1), Exact: true}, compared(long, predicate.NotEq, int64(2)), true},
		{"NOT IN of the one value", known{Lower: int64(1), Exact: true}, predicate.Not{Expr: predicate.In{Field: column(long),
			Values: []predicate.Literal{{Type: long, Value: int64(2)}, {Type: long, Value: int64(1)}}}}, false},
		{"NOT LIKE of the one value", known{Lower: "abc", Exact: true}, predicate.Not{Expr: predicate.StartsWith{Field: column(str), Prefix: "ab"}}, false},
		{"unequal is never ruled out by bounds", known{Lower: int64(1), Upper: int64(1)}, compared(long, predicate.NotEq, int64(1)), true},
		{"nothing known", known{}, compared(long, predicate.Eq, int64(1)), true},
	} {
		if got := mayMatch(c.e, func(predicate.Field) (known, bool) { return c.k, true }); got != c.keep {
			t.Errorf("%s: %s over %+v: %v, want %v", c.name, c.e, c.k, got, c.keep)
		}
	}
}

func TestPartitionsKeepWhatMayMatch(t *testing.T) {
	date, ts, str, i32, i64 := arrow.FixedWidthTypes.Date32, timestampUTC, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	exact := func(v any) known {
		return known{Nulls: none, Values: some, NaNs: none, Lower: v, Upper: v, Exact: true}
	}
	for _, c := range []struct {
		name string
		t    iceberg.Transform
		k    known
		e    predicate.Expr
		keep bool
	}{
		{"hour before 1970", iceberg.HourTransform{}, exact(int64(-1)), compared(ts, predicate.Eq, int64(-1)), true},
		{"rounded up by an old writer", iceberg.HourTransform{}, exact(int64(0)), compared(ts, predicate.Eq, int64(-1)), true},
		{"another hour", iceberg.HourTransform{}, exact(int64(5)), compared(ts, predicate.Eq, int64(-1)), false},
		{"month of a date", iceberg.MonthTransform{}, exact(int64(637)), compared(date, predicate.Eq, int64(19400)), true},
		{"less than the first of a truncation", iceberg.TruncateTransform{Width: 10}, exact(int64(10)), compared(i32, predicate.Lt, int64(10)), false},
		{"less than the second of it", iceberg.TruncateTransform{Width: 10}, exact(int64(10)), compared(i32, predicate.Lt, int64(11)), true},
		{"more than the last of a truncation", iceberg.TruncateTransform{Width: 10}, exact(int64(10)), compared(i32, predicate.Gt, int64(19)), false},
		{"before the first day of a month", iceberg.MonthTransform{}, exact(int64(1)), compared(date, predicate.Lt, int64(31)), false},
		{"year above", iceberg.YearTransform{}, exact(int64(50)), compared(date, predicate.Gt, int64(19400)), false},
		{"year of the bound", iceberg.YearTransform{}, exact(int64(53)), compared(date, predicate.Gt, int64(19400)), true},
		{"truncated text", iceberg.TruncateTransform{Width: 2}, exact("ab"), compared(str, predicate.Eq, "abc"), true},
		{"truncated text, less", iceberg.TruncateTransform{Width: 2}, exact("ab"), compared(str, predicate.Lt, "abc"), true},
		{"truncated text, greater", iceberg.TruncateTransform{Width: 2}, exact("ab"), compared(str, predicate.Gt, "abc"), true},
		{"other truncated text", iceberg.TruncateTransform{Width: 2}, exact("aa"), compared(str, predicate.Gt, "abc"), false},
		{"NOT LIKE of a truncated prefix", iceberg.TruncateTransform{Width: 2}, exact("he"), predicate.Not{Expr: predicate.StartsWith{Field: column(str), Prefix: "hello"}}, true},
		{"NOT LIKE of all that was kept", iceberg.TruncateTransform{Width: 2}, exact("he"), predicate.Not{Expr: predicate.StartsWith{Field: column(str), Prefix: "he"}}, false},
		{"unequal to a truncated value", iceberg.TruncateTransform{Width: 2}, exact("he"), compared(str, predicate.NotEq, "he"), true},
		{"truncation that wrapped around", iceberg.TruncateTransform{Width: 10}, exact(int64(2147483646)), compared(i32, predicate.Lt, int64(0)), true},
		{"truncation that wrapped around before a promotion", iceberg.TruncateTransform{Width: 3}, exact(int64(2147483647)), compared(i64, predicate.Eq, int64(-2147483648)), true},
		{"the smallest of longs beside a truncation that may have wrapped around", iceberg.TruncateTransform{Width: 1}, known{Lower: int64(math.MinInt64), Upper: int64(1 << 31), Values: some},
			compared(i64, predicate.Eq, int64(math.MinInt64)), true},
		{"truncation of longs near the largest int", iceberg.TruncateTransform{Width: 3}, exact(int64(2147483647)), compared(i64, predicate.Gt, int64(2147483650)), false},
		{"negative truncation", iceberg.TruncateTransform{Width: 10}, exact(int64(-10)), compared(i32, predicate.Eq, int64(-3)), true},
		{"void", iceberg.VoidTransform{}, known{Nulls: some, Values: none}, compared(i32, predicate.Eq, int64(3)), true},
		{"null partition", iceberg.BucketTransform{NumBuckets: 4}, known{Nulls: some, Values: none}, compared(i32, predicate.NotEq, int64(3)), false},
		{"buckets have no order", iceberg.BucketTransform{NumBuckets: 4}, exact(int64(0)), compared(i32, predicate.Gt, int64(3)), true},
	} {
		f := specField{ID: 1000, Source: 1, Transform: c.t}
		typ := predicate.Fields(c.e)[0].Type
		if got := f.mayMatch(c.e, c.k, typ); got != c.keep {
			t.Errorf("%s: %s over %+v: %v, want %v", c.name, c.e, c.k, got, c.keep)
		}
	}
}

// TestPartitionsTellOfTheirOwnTransform: a test of a transformed column is asked of partition fields of that very transform and column only.
func TestPartitionsTellOfTheirOwnTransform(t *testing.T) {
	id := predicate.Field{ID: 1, Path: []string{"id"}, Type: arrow.PrimitiveTypes.Int64}
	equals := func(v int64) predicate.Expr {
		return predicate.Comparison{Op: predicate.Eq, Field: predicate.Field{ID: -1, Type: arrow.PrimitiveTypes.Int32}, Value: predicate.Literal{Type: arrow.PrimitiveTypes.Int32, Value: v}}
	}
	exact := func(v int64) known {
		return known{Lower: v, Upper: v, Exact: true, Nulls: none, Values: some, NaNs: none}
	}
	bucket, cut := iceberg.BucketTransform{NumBuckets: 4}, iceberg.TruncateTransform{Width: 10}
	for _, c := range []struct {
		name   string
		field  specField
		k      known
		term   string
		e      predicate.Expr
		wanted bool
	}{
		{"its bucket", specField{Source: 1, Transform: bucket}, exact(3), "bucket[4]", equals(3), true},
		{"another bucket", specField{Source: 1, Transform: bucket}, exact(2), "bucket[4]", equals(3), false},
		{"other numbers of buckets", specField{Source: 1, Transform: bucket}, exact(2), "bucket[8]", equals(3), true},
		{"another column", specField{Source: 2, Transform: bucket}, exact(2), "bucket[4]", equals(3), true},
		{"a bucket that is excluded", specField{Source: 1, Transform: bucket}, exact(3), "bucket[4]", predicate.Not{Expr: equals(3)}, false},
		{"buckets between others", specField{Source: 1, Transform: bucket}, known{Lower: int64(0), Upper: int64(2), Values: some}, "bucket[4]", equals(3), false},
		{"nulls have no bucket", specField{Source: 1, Transform: bucket}, known{Nulls: some, Values: none}, "bucket[4]", equals(3), false},
		{"another or the column itself", specField{Source: 1, Transform: iceberg.IdentityTransform{}}, exact(7), "bucket[4]",
			predicate.Or{Left: equals(3), Right: compared(id.Type, predicate.Eq, int64(7))}, true},
		{"its truncation", specField{Source: 1, Transform: cut}, exact(20), "truncate[10]", equals(20), true},
		{"another truncation", specField{Source: 1, Transform: cut}, exact(20), "truncate[10]", equals(30), false},
		{"a truncation that may have wrapped around", specField{Source: 1, Transform: cut}, exact(math.MaxInt64 - 5), "truncate[10]", equals(30), true},
		{"void", specField{Source: 1, Transform: iceberg.VoidTransform{}}, known{Nulls: some, Values: none}, "bucket[4]", equals(3), true},
	} {
		facts := partitionFacts{spec: &spec{Fields: []specField{c.field}}, terms: []Term{{ID: -1, Source: id, Transform: c.term}},
			value: func(specField, int) (known, bool) { return c.k, true }}
		if got := facts.mayMatch(c.e); got != c.wanted {
			t.Errorf("%s: %v, want %v", c.name, got, c.wanted)
		}
	}
}

// TestBucketsFollowTheSpecification uses the hash values of the specification's appendix B.
func TestBucketsFollowTheSpecification(t *testing.T) {
	const all = math.MaxInt32
	bucket := iceberg.BucketTransform{NumBuckets: all}
	for _, c := range []struct {
		v    any
		typ  arrow.DataType
		hash int32
	}{
		{int64(34), arrow.PrimitiveTypes.Int32, 2017239379},
		{int64(34), arrow.PrimitiveTypes.Int64, 2017239379},
		{int64(17486), arrow.FixedWidthTypes.Date32, -653330422},
		{int64(81068000000), time64us, -662762989},
		{int64(1510871468000000), timestampNTZ, -2047944441},
		{int64(1510871468000001), timestampUTC, -1207196810},
		{int64(1510871468000001001), timestampNs, -1207196810},
		{decimal128.FromI64(1420), &arrow.Decimal128Type{Precision: 9, Scale: 2}, -500754589},
		{"iceberg", arrow.BinaryTypes.String, 1210000089},
		{[]byte{0, 1, 2, 3}, arrow.BinaryTypes.Binary, -188683207},
	} {
		got, ok := transformed(bucket, c.v, c.typ)
		if want := int64(c.hash&math.MaxInt32) % all; !ok || got != want {
			t.Errorf("bucket of %v (%s) is %v, want %d", c.v, c.typ, got, want)
		}
	}
}

func TestDecodedBoundsOfPromotedColumns(t *testing.T) {
	for _, c := range []struct {
		raw  []byte
		typ  arrow.DataType
		want any
		ok   bool
	}{
		{[]byte{0xff, 0xff, 0xff, 0xff}, arrow.PrimitiveTypes.Int64, int64(-1), true},
		{[]byte{0, 0, 0x80, 0x3f}, arrow.PrimitiveTypes.Float64, 1.0, true},
		{[]byte{1, 0, 0, 0}, timestampNTZ, int64(86400e6), true},
		{[]byte{0xff}, &arrow.Decimal128Type{Precision: 20, Scale: 2}, decimal128.FromI64(-1), true},
		{[]byte{1, 2, 3}, arrow.PrimitiveTypes.Int64, nil, false},
		{make([]byte, 17), &arrow.Decimal128Type{Precision: 38}, nil, false},
		{nil, arrow.BinaryTypes.String, nil, false},
	} {
		got, ok := decodeBound(c.raw, c.typ)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%x as %s: %v %v, want %v", c.raw, c.typ, got, ok, c.want)
		}
	}
}

func TestDeletesReachTheirFilesOnly(t *testing.T) {
	x := newDeleteIndex()
	x.byTuple["0|a"] = []*deleteFile{{Path: "newer", Sequence: 4}, {Path: "all", Sequence: 3}}
	x.byPath["f/b1"] = []*deleteFile{{Path: "named", Sequence: 3}}
	x.equality["0|a"] = []*deleteFile{{Path: "eq", Sequence: 3, kind: equalityDelete}}
	x.global = []*deleteFile{{Path: "eq-all", Sequence: 3, kind: equalityDelete}}
	x.vectors["f/v"] = []*deleteFile{{Path: "dv", Sequence: 3, kind: deletionVector}}
	x.sort()
	for _, c := range []struct {
		path, tuple string
		sequence    int64
		want        string
	}{
		{"f/b1", "0|a", 3, "[all newer named]"},
		{"f/b1", "0|a", 2, "[eq-all eq all newer named]"},
		{"f/b1", "0|a", 4, "[newer]"},
		{"f/b1", "0|a", 5, "[]"},
		{"f/b2", "0|b", 2, "[eq-all]"},
		{"f/v", "0|a", 3, "[dv]"},
		{"f/v", "0|a", 1, "[eq-all eq dv]"},
	} {
		list, err := x.of(candidate{fileEntry: &fileEntry{Path: c.path, Sequence: c.sequence}, tuple: c.tuple})
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, d := range list {
			names = append(names, d.Path)
		}
		if got := asText(names); got != c.want {
			t.Errorf("%s of %s at %d: %s, want %s", c.path, c.tuple, c.sequence, got, c.want)
		}
	}
	if _, err := x.of(candidate{fileEntry: &fileEntry{Path: "f/v", Sequence: 4}, tuple: "0|a"}); err == nil {
		t.Error("a deletion vector older than its file passed")
	}
	x.vectors["f/v"] = append(x.vectors["f/v"], x.vectors["f/v"][0])
	if _, err := x.of(candidate{fileEntry: &fileEntry{Path: "f/v", Sequence: 3}, tuple: "0|a"}); err == nil {
		t.Error("two deletion vectors for one file passed")
	}
}

// TestEqualityDeletesReachByValue: the counts and bounds of a data file and of a delete file, and whether they may meet.
func TestEqualityDeletesReachByValue(t *testing.T) {
	long := func(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
	real := func(f float64) []byte { return long(int64(math.Float64bits(f))) }
	type side struct {
		values, nulls, nans int64 // negative: unknown
		lower, upper        []byte
	}
	pack := func(s side) fileStats {
		c := &columnStats{counts: [3][]int64{{s.values}, {s.nulls}, {s.nans}}}
		if s.lower != nil {
			c.lower.put(0, s.lower)
		}
		if s.upper != nil {
			c.upper.put(0, s.upper)
		}
		return fileStats{all: &manifestStats{ids: []int{1}, columns: []*columnStats{c}}}
	}
	for _, c := range []struct {
		name       string
		typ        arrow.DataType
		data, gone side
		reach      bool
	}{
		{"ranges apart", arrow.PrimitiveTypes.Int64, side{3, 0, -1, long(1), long(5)}, side{1, 0, -1, long(6), long(9)}, false},
		{"ranges that touch", arrow.PrimitiveTypes.Int64, side{3, 0, -1, long(1), long(6)}, side{1, 0, -1, long(6), long(9)}, true},
		{"both have null", arrow.PrimitiveTypes.Int64, side{3, 1, -1, long(1), long(5)}, side{1, 1, -1, long(6), long(9)}, true},
		{"nulls unknown", arrow.PrimitiveTypes.Int64, side{3, -1, -1, long(1), long(5)}, side{1, -1, -1, long(6), long(9)}, true},
		{"only null in the data", arrow.PrimitiveTypes.Int64, side{3, 3, -1, nil, nil}, side{1, 0, -1, long(6), long(9)}, false},
		{"only null deleted", arrow.PrimitiveTypes.Int64, side{3, 0, -1, long(1), long(5)}, side{1, 1, -1, nil, nil}, false},
		{"a bound unknown", arrow.PrimitiveTypes.Int64, side{3, 0, -1, long(1), nil}, side{1, 0, -1, long(6), long(9)}, true},
		{"NaN on both sides", arrow.PrimitiveTypes.Float64, side{3, 0, 1, real(1), real(5)}, side{1, 0, 1, real(6), real(9)}, true},
		{"NaN on one side", arrow.PrimitiveTypes.Float64, side{3, 0, 1, real(1), real(5)}, side{1, 0, 0, real(6), real(9)}, false},
		{"NaN for a bound", arrow.PrimitiveTypes.Float64, side{3, 0, 0, real(1), real(5)}, side{1, 0, 1, real(math.NaN()), real(math.NaN())}, true},
		{"text under a bound cut short", arrow.BinaryTypes.String, side{3, 0, -1, []byte("a"), []byte("abc")}, side{1, 0, -1, []byte("abcd"), []byte("abcd")}, true},
		{"text above it", arrow.BinaryTypes.String, side{3, 0, -1, []byte("a"), []byte("abc")}, side{1, 0, -1, []byte("abd"), []byte("abd")}, false},
	} {
		d := &deleteFile{Keys: []int{1}, stats: pack(c.gone)}
		if got := canReach(d, pack(c.data), func(int) (arrow.DataType, bool) { return c.typ, true }); got != c.reach {
			t.Errorf("%s: %v, want %v", c.name, got, c.reach)
		}
	}
}
