package scan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/scan/parquet"
	"github.com/skua-data/skua/storage"
	"github.com/skua-data/skua/storage/local"
)

// writeAs writes rows as write does, with keys and values in the footer.
func (p *tableOfFiles) writeAs(name string, fields []arrow.Field, rows string, told ...string) {
	p.t.Helper()
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(rows))
	if err != nil {
		p.t.Fatal(err)
	}
	defer batch.Release()
	out := &bytes.Buffer{}
	w, err := pqarrow.NewFileWriter(batch.Schema(), out, pq.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(batch)
	}
	for i := 0; err == nil && i < len(told); i += 2 {
		err = w.AppendKeyValueMetadata(told[i], told[i+1])
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.put(name, out.Bytes())
}

func equal(name string, v any) func(func(string) predicate.Field) predicate.Expr {
	return func(of func(string) predicate.Field) predicate.Expr {
		return predicate.Comparison{Op: predicate.Eq, Field: of(name), Value: predicate.Literal{Type: of(name).Type, Value: v}}
	}
}

func TestSmallIntegersOfPlainFiles(t *testing.T) {
	p := newTableOfFiles(t, []iceberg.NestedField{fileColumn(1, "b", anInt), fileColumn(2, "s", anInt), fileColumn(3, "l", &iceberg.ListType{ElementID: 5, Element: anInt}), fileColumn(4, "p", anInt)}, "p")
	p.files.Types = map[int]string{1: "tinyint", 2: "smallint", 5: "tinyint", 4: "smallint"}
	fields := []arrow.Field{bare("b", arrow.PrimitiveTypes.Int8), bare("s", arrow.PrimitiveTypes.Int32), bare("l", arrow.ListOf(arrow.PrimitiveTypes.Int8))}
	p.write("p=07/f", fields, `[{"b": 1, "s": -300, "l": [1, null, -128]}, {"b": -128, "s": 300}]`)
	p.write("p=-8/f", fields[2:], `[{"l": [5]}]`)
	source, err := p.open().Source(t.Context(), Reference{})
	if err != nil {
		t.Fatal(err)
	}
	if got := source.Schema().String(); strings.Count(got, "int8") != 2 || strings.Count(got, "int16") != 2 {
		t.Errorf("%s", got)
	}
	d, err := p.open().Describe("")
	if err != nil || d.Columns[0].Type != "tinyint" || d.Columns[1].Type != "smallint" || d.Columns[2].Type != "array<tinyint>" || d.Columns[3].Type != "smallint" {
		t.Errorf("%+v, %v", d.Columns, err)
	}
	if got := p.read("b,s,l,p", nil); got != "[-128,300,null,7] [1,-300,[1,null,-128],7] [null,null,[5],-8]" {
		t.Errorf("%s", got)
	}
	for _, c := range []struct {
		column string
		value  int64
		rows   string
	}{{"b", 1, "[-300]"}, {"s", 300, "[300]"}, {"p", 7, "[-300] [300]"}, {"p", -8, "[null]"}, {"b", 5, ""}} {
		if got := p.read("s", equal(c.column, c.value)); got != c.rows {
			t.Errorf("%s = %d: %s, want %s", c.column, c.value, got, c.rows)
		}
	}
	p.write("p=1/f", fields[1:2], `[{"s": 40000}]`)
	if got := p.read("s", nil); !strings.Contains(got, "40000 is out of the range of int16") {
		t.Errorf("a value that is too large: %s", got)
	}
	p.write("p=40000/f", fields[1:2], `[{"s": 1}]`)
	if got := p.read("b", nil); !strings.Contains(got, `the value "40000" of p is no smallint`) {
		t.Errorf("a partition that is too large: %s", got)
	}
}

func TestTextsOfALengthArePadded(t *testing.T) {
	deep := &iceberg.StructType{FieldList: []iceberg.NestedField{fileColumn(5, "d", aString)}}
	p := newTableOfFiles(t, []iceberg.NestedField{fileColumn(1, "c", aString), fileColumn(2, "v", aString), fileColumn(3, "n", deep),
		fileColumn(4, "m", &iceberg.MapType{KeyID: 6, KeyType: aString, ValueID: 7, ValueType: aString}), fileColumn(8, "p", aString)}, "p")
	p.files.Types = map[int]string{1: "char(4)", 2: "varchar(4)", 5: "char(2)", 6: "char(3)", 8: "char(2)"}
	fields := []arrow.Field{bare("c", arrow.BinaryTypes.String), bare("v", arrow.BinaryTypes.String), bare("n", arrow.StructOf(bare("d", arrow.BinaryTypes.String))),
		bare("m", arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String))}
	p.write("p=x/f", fields, `[{"c": "ab", "v": "ab", "n": {"d": "q"}, "m": [{"key": "k", "value": "w"}]}, {"c": "äö", "v": "x"}, {"c": "longer"}, {"v": "null"}]`)
	const want = `["ab  ","ab",["q "],[["k  ","w"]],"x "] ["longer",null,null,null,"x "] ["äö  ","x",null,null,"x "] [null,"null",null,null,"x "]`
	if got := p.read("c,v,n,m,p", nil); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, c := range []struct{ column, value, rows string }{
		{"c", "ab  ", `["ab  "]`}, {"c", "ab", ""}, {"n.d", "q ", `["ab  "]`}, {"v", "x", `["äö  "]`}, {"p", "x ", `["ab  "] ["longer"] ["äö  "] [null]`}, {"p", "x", ""},
	} {
		if got := p.read("c", equal(c.column, c.value)); got != c.rows {
			t.Errorf("%s = %q: %s, want %s", c.column, c.value, got, c.rows)
		}
	}
	d, err := p.open().Describe("")
	if err != nil || d.Columns[0].Type != "char(4)" || d.Columns[2].Type != "struct<d:char(2)>" || d.Columns[3].Type != "map<char(3),string>" {
		t.Errorf("%+v, %v", d.Columns, err)
	}
}

func TestTextsOfAnEnormousLengthAreRefused(t *testing.T) {
	s := NewScanner(Config{Stores: storage.NewMux([]storage.Kind{local.Kind}, storage.Map{}), Decoder: parquet.NewFallback()})
	for typ, good := range map[string]bool{"char(255)": true, "char(4096)": true, "char(4097)": false, "char(2000000000)": false, "varchar(2000000000)": true, "char(x)": true} {
		files := &catalogs.Files{Schema: iceberg.NewSchema(0, fileColumn(1, "c", aString)), Location: "file:/w", Types: map[int]string{1: typ}}
		_, err := s.Table(t.Context(), &catalogs.Table{Catalog: "made", Identifier: []string{"t"}, Kind: catalogs.KindFiles, Format: "parquet", Files: files})
		if (err == nil) != good || err != nil && !fault.Is(err, fault.Unsupported) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

func TestGregorianDays(t *testing.T) {
	civil := func(y int, m time.Month, d int) int64 { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400 }
	for _, c := range []struct{ julian, want int64 }{
		{0, 0}, {-141427, civil(1582, 10, 15)}, {-141428, civil(1582, 10, 4)}, {-141429, civil(1582, 10, 3)}, {-719164, civil(1, 1, 1)}, {-719165, civil(0, 12, 31)},
		// 1000-02-29, which there is in the Julian calendar alone, and the days beside it.
		{-354222, civil(1000, 2, 28)}, {-354221, civil(1000, 3, 1)}, {-354220, civil(1000, 3, 1)}, {-208121, civil(1400, 3, 1)}, {-208120, civil(1400, 3, 1)},
	} {
		if got := gregorianDay(c.julian); got != c.want {
			t.Errorf("%d: %d, want %d", c.julian, got, c.want)
		}
	}
	// The differences that Spark documents for the first days of periods.
	for day, shift := range map[int64]int64{-719164: 2, -682945: 1, -646420: 0, -609895: -1, -536845: -2, -500320: -3, -463795: -4, -390745: -5, -354220: -6, -317695: -7, -244645: -8, -208120: -9, -171595: -10} {
		if got := gregorianDay(day) - day; got != shift {
			t.Errorf("day %d is shifted by %d, want %d", day, got, shift)
		}
	}
}

func TestOldDatesOfPlainFiles(t *testing.T) {
	fields := []arrow.Field{bare("d", arrow.FixedWidthTypes.Date32), bare("at", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}), bare("l", arrow.ListOf(arrow.FixedWidthTypes.Date32)),
		bare("wall", &arrow.TimestampType{Unit: arrow.Microsecond})}
	// Days of the Gregorian calendar as JSON spells them; a file of the Julian one has the numbers ten days on for the same day and time of 1582.
	const old = `[{"d": "1582-10-14", "at": -12219336000000000, "l": ["1582-10-14", "2020-01-01"], "wall": -12219336000000000}, {"d": "2020-01-01", "at": 1577836800000000}, {}]`
	const asIs = `[-141428,"-12219336000000000",[-141428,18262],"-12219336000000000"] [18262,"1577836800000000",null,null] [null,null,null,null]`
	const moved = `[-141438,"-12220200000000000",[-141438,18262],"-12219336000000000"] [18262,"1577836800000000",null,null] [null,null,null,null]`
	mode := func(key, value string) []Option {
		return []Option{{Name: key, Value: value, Scope: "session", Key: "the.key"}}
	}
	for _, c := range []struct {
		name    string
		told    []string
		options []Option
		want    string
	}{
		{"nobody tells", nil, nil, asIs},
		{"Spark", []string{versionKey, "3.5.1"}, mode(datetimeRebaseOption, "LEGACY"), asIs},
		{"Spark 2", []string{versionKey, "2.4.8"}, nil, moved},
		{"Spark 3 in the old calendar", []string{versionKey, "3.5.1", legacyDatetimeKey, ""}, nil, moved},
		{"Spark in the old calendar and in UTC", []string{versionKey, "3.5.1", legacyDatetimeKey, "", zoneKey, "Etc/UTC"}, nil, moved},
		{"Spark in the old calendar elsewhere", []string{versionKey, "3.5.1", legacyDatetimeKey, "", zoneKey, "Europe/Zurich"}, nil, "the time zone Europe/Zurich"},
		{"the key alone says nothing", []string{legacyDatetimeKey, ""}, nil, asIs},
		{"asked for", nil, mode(datetimeRebaseOption, "legacy"), moved},
		{"refused", nil, mode(datetimeRebaseOption, "EXCEPTION"), "datetimeRebaseModeInRead to LEGACY"},
		{"no mode", nil, mode(datetimeRebaseOption, "maybe"), "the.key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTableOfFiles(t, []iceberg.NestedField{fileColumn(1, "d", iceberg.PrimitiveTypes.Date), fileColumn(2, "at", iceberg.PrimitiveTypes.TimestampTz),
				fileColumn(3, "l", &iceberg.ListType{ElementID: 5, Element: iceberg.PrimitiveTypes.Date}), fileColumn(4, "wall", iceberg.PrimitiveTypes.Timestamp)})
			p.options = c.options
			p.writeAs("f", fields, old, c.told...)
			got := p.read("d,at,l,wall", nil)
			if c.want[0] != '[' {
				if !strings.Contains(got, c.want) {
					t.Errorf("%s; want an error with %s", got, c.want)
				}
				if got := p.read("l", equal("d", int64(18262))); !strings.HasPrefix(got, "[") && c.name != "no mode" && c.name != "refused" {
					t.Errorf("columns and rows that are young: %s", got)
				}
				return
			}
			want := strings.Split(c.want, " ")
			slices.Sort(want)
			if got := strings.Split(got, " "); !slices.Equal(got, want) {
				t.Errorf("%s\nwant %s", got, want)
			}
			// Filters see the days as they are read, whatever statistics say.
			for _, day := range []int64{-141438, -141428, 18262} {
				has := 0
				for _, row := range want {
					if strings.HasPrefix(row, fmt.Sprintf("[%d,", day)) {
						has++
					}
				}
				if got := p.read("d", equal("d", day)); len(strings.Fields(got)) != has {
					t.Errorf("day %d: %s, want %d rows", day, got, has)
				}
			}
		})
	}
}

func TestOldTimesOfTheTypeInt96(t *testing.T) {
	const day, noon = 2299161 - 1, 43200e9 // the last Julian day, 1582-10-04, which the Gregorian calendar calls 1582-10-14
	raw := func(told ...string) []byte {
		var value pq.Int96
		binary.LittleEndian.PutUint64(value[:8], noon)
		binary.LittleEndian.PutUint32(value[8:], day)
		root := schema.MustGroup(schema.NewGroupNode("schema", pq.Repetitions.Required, schema.FieldList{schema.NewInt96Node("at", pq.Repetitions.Optional, -1)}, -1))
		out := &bytes.Buffer{}
		w := file.NewParquetWriter(out, root)
		for i := 0; i < len(told); i += 2 {
			if err := w.AppendKeyValueMetadata(told[i], told[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		chunk, err := w.AppendRowGroup().NextColumn()
		if err == nil {
			_, err = chunk.(*file.Int96ColumnChunkWriter).WriteBatch([]pq.Int96{value}, []int16{1, 0}, nil)
		}
		if err == nil {
			err = chunk.Close()
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	const asIs, moved = `["-12219336000000000"] [null]`, `["-12220200000000000"] [null]`
	mode := func(key, value string) []Option {
		return []Option{{Name: key, Value: value, Scope: "session", Key: "the.key"}}
	}
	for _, c := range []struct {
		name    string
		told    []string
		options []Option
		want    string
	}{
		{"nobody tells", nil, nil, asIs},
		{"of Spark 3.0", []string{versionKey, "3.0.1"}, nil, moved},
		{"of Spark 3.1", []string{versionKey, "3.1.0", legacyDatetimeKey, ""}, nil, asIs},
		{"in the old calendar", []string{versionKey, "3.5.1", legacyInt96Key, ""}, nil, moved},
		{"asked for", nil, mode(int96RebaseOption, "LEGACY"), moved},
		{"asked for of others", nil, mode(datetimeRebaseOption, "LEGACY"), asIs},
		{"refused", nil, mode(int96RebaseOption, "EXCEPTION"), "int96RebaseModeInRead to LEGACY"},
	} {
		p := newTableOfFiles(t, []iceberg.NestedField{fileColumn(1, "at", iceberg.PrimitiveTypes.TimestampTz)})
		p.options = c.options
		p.put("f", raw(c.told...))
		if got := p.read("at", nil); got != c.want && (c.want[0] == '[' || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestPartitionsArePrunedByTheirValues: names are read as they are escaped, and values as their types.
func TestPartitionsArePrunedByTheirValues(t *testing.T) {
	texts := []string{"p=a", "p=a%3Db", "p=a%2Fb", "p=A", "p=__HIVE_DEFAULT_PARTITION__", "p=a%20", "p=%C3%A9", "p=a%25"}
	numbers := []string{"p=1", "p=01", "p=10", "p=-1", "p=+2", "p=__HIVE_DEFAULT_PARTITION__"}
	days := []string{"p=2026-01-01", "p=2026-1-1", "p=2026-01-02", "p=__HIVE_DEFAULT_PARTITION__"}
	for _, c := range []struct {
		typ     iceberg.Type
		folders []string
		value   any // nil: null is asked for
		want    string
	}{
		{aString, texts, "a", "p=a"}, {aString, texts, "a=b", "p=a%3Db"}, {aString, texts, "a/b", "p=a%2Fb"}, {aString, texts, "a ", "p=a%20"}, {aString, texts, "é", "p=%C3%A9"},
		{aString, texts, "a%", "p=a%25"}, {aString, texts, nil, "p=__HIVE_DEFAULT_PARTITION__"}, {aString, texts, "a%3Db", ""}, {aString, texts, "__HIVE_DEFAULT_PARTITION__", ""},
		{anInt, numbers, int64(1), "p=01 p=1"}, {anInt, numbers, int64(-1), "p=-1"}, {anInt, numbers, int64(2), "p=+2"}, {anInt, numbers, nil, "p=__HIVE_DEFAULT_PARTITION__"},
		{iceberg.PrimitiveTypes.Date, days, int64(20454), "p=2026-01-01 p=2026-1-1"}, {iceberg.PrimitiveTypes.Date, days, nil, "p=__HIVE_DEFAULT_PARTITION__"},
	} {
		for _, listed := range []bool{false, true} {
			p := newTableOfFiles(t, []iceberg.NestedField{fileColumn(1, "name", aString), fileColumn(2, "p", c.typ)}, "p")
			for _, folder := range c.folders {
				p.write(folder+"/f", []arrow.Field{bare("name", arrow.BinaryTypes.String)}, fmt.Sprintf(`[{"name": %q}]`, folder))
				if values, ok := catalogs.PartitionValues(folder, []string{"p"}); listed && ok {
					p.files.Listed = true
					p.partitions = append(p.partitions, catalogs.Partition{Name: folder, Values: values, Location: "file:" + p.dir + "/" + folder})
				}
			}
			filter := func(of func(string) predicate.Field) predicate.Expr { return predicate.IsNull{Field: of("p")} }
			if c.value != nil {
				filter = equal("p", c.value)
			}
			want := strings.Fields(c.want)
			for i, w := range want {
				want[i] = `["` + w + `"]`
			}
			if got := p.read("name", filter); got != strings.Join(want, " ") {
				t.Errorf("%s = %v, listed %v: %s, want %s", c.typ, c.value, listed, got, want)
			}
			asked := 0
			for _, names := range p.asked {
				asked += len(names)
			}
			if listed && asked != len(want) {
				t.Errorf("%s = %v: %d partitions were asked for, want %d: %q", c.typ, c.value, asked, len(want), p.asked)
			}
		}
	}
}
