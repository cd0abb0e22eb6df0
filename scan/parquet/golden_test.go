package parquet

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/kernels/kernelstest"
)

// natural gives the type in which a file's field is read without any promotion; fields without ids are numbered by position.
func natural(e *element) arrow.DataType {
	switch e.kind {
	case kernels.Struct:
		return arrow.StructOf(naturalFields(e)...)
	case kernels.List:
		return arrow.ListOfField(naturalField(e.children[0], 1))
	case kernels.Map:
		key := naturalField(e.children[0], 1)
		key.Nullable = false
		return arrow.MapOfFields(key, naturalField(e.children[1], 2))
	}
	switch t := e.column.LogicalType().(type) {
	case schema.DateLogicalType:
		return arrow.FixedWidthTypes.Date32
	case schema.TimeLogicalType:
		return &arrow.Time64Type{Unit: arrow.Microsecond}
	case schema.TimestampLogicalType:
		if t.TimeUnit() == schema.TimeUnitNanos {
			return &arrow.TimestampType{Unit: arrow.Nanosecond}
		}
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case schema.DecimalLogicalType:
		return &arrow.Decimal128Type{Precision: t.Precision(), Scale: t.Scale()}
	case schema.IntLogicalType:
		if t.BitWidth() == 32 && !t.IsSigned() {
			return arrow.PrimitiveTypes.Int64
		}
	case schema.StringLogicalType:
		return arrow.BinaryTypes.String
	case schema.UUIDLogicalType:
		return extensions.NewUUIDType()
	}
	switch e.column.PhysicalType() {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case parquet.Types.Int32:
		return arrow.PrimitiveTypes.Int32
	case parquet.Types.Int64:
		return arrow.PrimitiveTypes.Int64
	case parquet.Types.Int96:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Types.FixedLenByteArray:
		return &arrow.FixedSizeBinaryType{ByteWidth: e.column.TypeLength()}
	}
	return arrow.BinaryTypes.Binary
}

func naturalField(e *element, position int) arrow.Field {
	if e.id != noID {
		position = e.id
	}
	return kernelstest.Field(position, e.name, natural(e), true)
}

func naturalFields(e *element) []arrow.Field {
	out := make([]arrow.Field, len(e.children))
	for i, c := range e.children {
		out[i] = naturalField(c, i+1)
	}
	return out
}

// readRows reads a whole file and writes each row as the golden files do.
func readRows(t testing.TB, f *File, want []arrow.Field, names *NameMapping) []string {
	t.Helper()
	columns := matched(t, f, want, names)
	var out []string
	for _, g := range f.RowGroups(0, math.MaxInt64, nil, nil) {
		r, err := NewFallback().Open(context.Background(), f.RowGroup(g.Ordinal, columns))
		if err != nil {
			t.Fatal(err)
		}
		all := make([]int, len(columns))
		for i := range all {
			all[i] = i
		}
		for from := int64(0); from < g.Rows; from += 7 {
			batch, err := r.Read(context.Background(), all, kernels.All(g.Rows), from, 7)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, rowTexts(batch)...)
			batch.Release()
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func rowTexts(batch arrow.RecordBatch) []string {
	out := make([]string, batch.NumRows())
	for row := range out {
		values := make([]any, batch.NumCols())
		for i := range values {
			values[i] = golden(batch.Column(i), row)
		}
		text, _ := json.Marshal(values)
		out[row] = string(text)
	}
	return out
}

func golden(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int32:
		return a.Value(i)
	case *array.Int64:
		return a.Value(i)
	case *array.Float32:
		return floatText(float64(a.Value(i)))
	case *array.Float64:
		return floatText(a.Value(i))
	case *array.Date32:
		return int32(a.Value(i))
	case *array.Time64:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Decimal128:
		return a.Value(i).ToString(0)
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return hex.EncodeToString(a.Value(i))
	case *array.FixedSizeBinary:
		return hex.EncodeToString(a.Value(i))
	case *extensions.UUIDArray:
		v := a.Value(i)
		return hex.EncodeToString(v[:])
	case *array.Map:
		out := []any{}
		from, to := a.ValueOffsets(i)
		for j := int(from); j < int(to); j++ {
			out = append(out, []any{golden(a.Keys(), j), golden(a.Items(), j)})
		}
		return out
	case *array.List:
		out := []any{}
		from, to := a.ValueOffsets(i)
		for j := int(from); j < int(to); j++ {
			out = append(out, golden(a.ListValues(), j))
		}
		return out
	case *array.Struct:
		out := make([]any, a.NumField())
		for c := range out {
			out[c] = golden(a.Field(c), i)
		}
		return out
	}
	return "?" + a.DataType().String()
}

// floatText spells numbers so that equal ones are spelled alike here and in the golden files.
func floatText(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func TestFilesOfOtherWritersReadAsPyarrowReadsThem(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f := openTestFile(t, path)
			raw, err := os.ReadFile(strings.TrimSuffix(path, ".parquet") + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSpace(string(raw)), "\n")
			got := readRows(t, f, naturalFields(f.root), nil)
			if len(got) != len(want) {
				t.Fatalf("%d rows, want %d", len(got), len(want))
			}
			for i := range want {
				if canonical(t, got[i]) != canonical(t, want[i]) {
					t.Errorf("row %d is\n%s\nwant\n%s", i, got[i], want[i])
				}
			}
		})
	}
}

func openTestFile(t testing.TB, path string) *File {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return openBytes(t, raw)
}

// canonical evens out how two JSON writers spell the same value, the text of floating point numbers included.
func canonical(t *testing.T, text string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, _ := json.Marshal(respell(v))
	return string(out)
}

func respell(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = respell(v[i])
		}
		return v
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil && strings.ContainsAny(v, ".eNni") {
			return floatText(f)
		}
	}
	return v
}
