package scan

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// where reads columns of the rows for which a filter of one column holds.
func (m *madeTable) where(columns, name string, op predicate.Op, value any) []string {
	m.t.Helper()
	source, err := m.open().Source(m.t.Context(), Reference{})
	if err != nil {
		m.t.Fatal(err)
	}
	var ids []int
	for _, c := range strings.Split(columns, ",") {
		ids = append(ids, m.idOf(source, c))
	}
	id := m.idOf(source, name)
	field := paths(append(source.Schema().Fields(), source.MetadataColumns().Fields()...))[id]
	typ := field.Field.Type
	e := predicate.Comparison{Op: op, Field: predicate.Field{ID: id, Path: field.Names, Type: typ}, Value: predicate.Literal{Type: typ, Value: value}}
	batch, err := readAll(m.t.Context(), source, Request{Fields: ids, Filter: e, Limit: -1})
	if err != nil {
		m.t.Fatal(err)
	}
	defer batch.Release()
	return rowsOf(batch)
}

func (m *madeTable) wantWhere(columns, name string, op predicate.Op, value any, rows ...string) {
	m.t.Helper()
	if got := m.where(columns, name, op, value); !slices.Equal(got, rows) {
		m.t.Errorf("%s where %s %v %v: %s, want %s", columns, name, op, value, got, rows)
	}
}

func TestDefaultsOfEveryType(t *testing.T) {
	for _, c := range []struct{ typ, text, want string }{
		{"boolean", "true", "true"}, {"int", "-2147483648", "-2147483648"}, {"long", "9223372036854775807", `"9223372036854775807"`},
		{"long", "-9007199254740993", `"-9007199254740993"`}, {"float", "0.1", `"` + hexFloat(float64(float32(0.1))) + `"`}, {"double", "1e300", `"` + hexFloat(1e300) + `"`},
		{"double", `"NaN"`, `"nan"`}, {"double", "-0.0", `"` + hexFloat(negativeZero()) + `"`}, {"decimal(38,10)", `"1234567890123456789012345678.0123456789"`, `"1234567890123456789012345678.0123456789"`},
		{"date", `"0001-01-01"`, "-719162"}, {"date", `"+10000-01-01"`, "2932897"}, {"time", `"23:59:59.999999"`, `"86399999999"`}, {"time", `"10:15"`, `"36900000000"`},
		{"timestamp", `"1969-12-31T23:59:59.999999"`, `"-1"`}, {"timestamptz", `"1970-01-01T01:00:00+01:00"`, `"0"`}, {"string", `"é\u0000☃"`, `"é\u0000☃"`},
		{"binary", `"00ff"`, `"AP8="`}, {"fixed[2]", `"00ff"`, `"AP8="`}, {"uuid", `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`, `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`},
		{`{"type":"list","element-id":5,"element":"long","element-required":false}`, `[1,null,9007199254740993]`, `["1",null,"9007199254740993"]`},
		{`{"type":"map","key-id":5,"key":"string","value-id":6,"value":"date","value-required":false}`, `{"keys":["a"],"values":["1970-01-02"]}`, `[["a",1]]`},
		{`{"type":"struct","fields":[{"id":5,"name":"x","required":false,"type":"int"},{"id":6,"name":"y","required":true,"type":"string","initial-default":"own"}]}`, `{"5":3}`, `[3,"own"]`},
		{`{"type":"struct","fields":[{"id":5,"name":"x","required":false,"type":"int"}]}`, `{}`, `[null]`},
	} {
		t.Run(c.typ+" "+c.text, func(t *testing.T) {
			typ := c.typ
			if typ[0] != '{' {
				typ = `"` + typ + `"`
			}
			old := `{"id":1,"name":"id","required":false,"type":"int"},{"id":7,"name":"st","required":false,"type":{"type":"struct","fields":[{"id":8,"name":"a","required":false,"type":"int"}`
			m := makeTable(t, old+`]}}`, old+`,{"id":9,"name":"b","required":false,"type":`+strings.NewReplacer(`"id":5`, `"id":15`, `"id":6`, `"id":16`, `-id":5`, `-id":15`, `-id":6`, `-id":16`).Replace(typ)+
				`,"initial-default":`+strings.Replace(c.text, `"5"`, `"15"`, 1)+`}]}},{"id":4,"name":"v","required":true,"type":`+typ+`,"initial-default":`+c.text+`}`)
			m.commit(madeFile{fields: []arrow.Field{idOnly[0], withID(7, "st", arrow.StructOf(withID(8, "a", int32Type)))}, rows: `[{"id":1,"st":{"a":5}},{"id":2,"st":null}]`})
			m.want("id,v", "[1,"+c.want+"]", "[2,"+c.want+"]")
			m.want("st,id", "[[5,"+c.want+"],1]", "[null,2]")
			m.want("st.b", "["+c.want+"]", "[null]")
		})
	}
}

func negativeZero() float64 { return math.Copysign(0, -1) }

func TestDefaultsInFilters(t *testing.T) {
	old := `{"id":1,"name":"id","required":false,"type":"int"},{"id":7,"name":"st","required":false,"type":{"type":"struct","fields":[{"id":8,"name":"a","required":false,"type":"int"}`
	m := makeTable(t, old+`]}}`, old+`,{"id":9,"name":"b","required":false,"type":"long","initial-default":9007199254740993}]}},{"id":4,"name":"v","required":false,"type":"int","initial-default":7}`)
	st := arrow.StructOf(withID(8, "a", int32Type))
	m.commit(madeFile{fields: []arrow.Field{idOnly[0], withID(7, "st", st)}, rows: `[{"id":1,"st":{"a":5}},{"id":2,"st":null}]`})
	st = arrow.StructOf(withID(9, "b", int64Type), withID(8, "a", int32Type))
	m.commit(madeFile{fields: []arrow.Field{idOnly[0], withID(7, "st", st), withID(4, "v", int32Type)}, rows: `[{"id":3,"st":{"a":5,"b":null},"v":null},{"id":4,"st":{"a":6,"b":1},"v":8}]`})
	m.wantWhere("id", "v", predicate.Eq, int64(7), "[1]", "[2]")
	m.wantWhere("id", "v", predicate.Gt, int64(7), "[4]")
	m.wantWhere("id", "v", predicate.NotEq, int64(7), "[4]")
	m.wantWhere("id", "st.b", predicate.Eq, int64(9007199254740993), "[1]")
	m.wantWhere("id", "st.b", predicate.Lt, int64(9007199254740993), "[4]")
	m.wantWhere("id,st.b", "st.a", predicate.Eq, int64(5), `[1,"9007199254740993"]`, "[3,null]")
}

func TestDefaultsThatDoNotFitAreErrors(t *testing.T) {
	for _, c := range []struct{ typ, text string }{
		{"int", "2147483648"}, {"int", "1.5"}, {"long", `"7"`}, {"string", "7"}, {"decimal(9,2)", `"1.234"`}, {"decimal(4,2)", `"123.45"`}, {"date", `"2020-02-30"`},
		{"time", `"25:00"`}, {"timestamp", `"2020-01-01T00:00:00Z"`}, {"timestamptz", `"2020-01-01T00:00:00"`}, {"uuid", `"f79c"`}, {"fixed[2]", `"00"`}, {"binary", `"0"`}, {"boolean", "1"},
	} {
		m := makeTable(t, `{"id":1,"name":"id","required":false,"type":"int"},{"id":4,"name":"v","required":false,"type":"`+c.typ+`","initial-default":`+c.text+`}`)
		m.commit(madeFile{fields: idOnly, rows: `[{"id":1}]`})
		if got, err := m.read("v"); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "column v") {
			t.Errorf("%s %s: %s, %v", c.typ, c.text, got, err)
		}
		m.want("id", "[1]")
	}
}

func TestARequiredColumnThatAFileLacksIsAnError(t *testing.T) {
	m := makeTable(t, `{"id":1,"name":"id","required":false,"type":"int"},{"id":4,"name":"must","required":true,"type":"int"}`)
	m.commit(madeFile{fields: idOnly, rows: `[{"id":1}]`})
	if _, err := m.read("id", "must"); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "must") || !strings.Contains(err.Error(), "00001.parquet") {
		t.Errorf("%v", err)
	}
	m.want("id", "[1]")
}

func TestIdentityPartitionsStandInForMissingColumns(t *testing.T) {
	m := makeTable(t, idAndName+`,{"id":7,"name":"st","required":false,"type":{"type":"struct","fields":[{"id":8,"name":"a","required":false,"type":"int"},{"id":9,"name":"p","required":false,"type":"string"}]}}`)
	m.specs = []string{`{"source-id":2,"field-id":1000,"name":"s","transform":"identity"},{"source-id":9,"field-id":1001,"name":"p","transform":"identity"}`}
	fields := []arrow.Field{idOnly[0], withID(7, "st", arrow.StructOf(withID(8, "a", int32Type)))}
	m.commit(madeFile{fields: fields, rows: `[{"id":1,"st":{"a":1}},{"id":2,"st":null}]`, partition: map[int]any{1000: "dev/app 1%2F", 1001: "in"}},
		madeFile{fields: fields, rows: `[{"id":3,"st":{"a":3}}]`, partition: map[int]any{1000: nil, 1001: nil}})
	m.want("id,s,st", `[1,"dev/app 1%2F",[1,"in"]]`, `[2,"dev/app 1%2F",null]`, `[3,null,[3,null]]`)
	m.wantWhere("id", "s", predicate.Eq, "dev/app 1%2F", "[1]", "[2]")
	m.wantWhere("id", "st.p", predicate.Eq, "in", "[1]")
	m.commit(madeFile{fields: nameOnly, rows: `[{"s":null}]`, keys: []int{2}, partition: map[int]any{1000: nil, 1001: nil}})
	m.want("id", "[1]", "[2]")
}

func TestContainersThatAFileLacksAreNull(t *testing.T) {
	m := makeTable(t, `{"id":1,"name":"id","required":false,"type":"int"},{"id":2,"name":"m","required":false,"type":{"type":"map","key-id":3,"key":"string","value-id":4,"value":{"type":"list","element-id":5,
		"element":"string","element-required":true},"value-required":false}},{"id":6,"name":"pos","required":false,"type":"string"},{"id":8,"name":"file_path","required":false,"type":"int"}`)
	lists := arrow.MapOfFields(arrow.Field{Name: "key", Type: textType, Metadata: idMetadata(3)}, withID(4, "value", arrow.ListOfField(withID(5, "element", textType))))
	m.commit(madeFile{fields: idOnly, rows: `[{"id":1}]`})
	m.commit(madeFile{fields: []arrow.Field{idOnly[0], withID(2, "m", lists), withID(6, "pos", textType), withID(8, "file_path", int32Type)},
		rows: `[{"id":2,"m":[{"key":"a","value":["x"]},{"key":"b","value":null},{"key":"c","value":[]}],"pos":"p","file_path":5},{"id":3,"m":[]},{"id":4,"m":null}]`})
	m.want("id,m,pos,file_path,_pos", `[1,null,null,null,"0"]`, `[2,[["a",["x"]],["b",null],["c",[]]],"p",5,"0"]`, `[3,[],null,null,"1"]`, `[4,null,null,null,"2"]`)
}

func TestPositionsThatAreNullAreErrors(t *testing.T) {
	m := makeTable(t, idAndName)
	m.commit(madeFile{fields: idAndNameFields, rows: `[{"id":1,"s":"x"}]`})
	m.commit(madeFile{positions: true, fields: []arrow.Field{withID(idDeletePath, "file_path", textType), withID(idDeletePos, "pos", int64Type)},
		rows: `[{"file_path":"` + m.location("00001.parquet") + `","pos":null}]`})
	if got, err := m.read("id"); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "00002.parquet") {
		t.Errorf("%s, %v", got, err)
	}
}

func TestUnknownFormatsAreRefusedByName(t *testing.T) {
	m := makeTable(t, idAndName)
	m.commit(madeFile{format: iceberg.OrcFile, raw: []byte("ORC"), records: 1})
	if _, err := m.read("id"); !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "ORC files are not supported") || !strings.Contains(err.Error(), "00001.orc") {
		t.Errorf("%v", err)
	}
}
