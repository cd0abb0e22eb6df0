package flightsql

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/skua-data/skua/engine"
)

// list asks for a metadata command: FlightInfo, GetSchema and the stream must agree.
func (c *client) list(command proto.Message, want *arrow.Schema) []string {
	c.t.Helper()
	d := descriptor(c.t, command)
	info, err := c.Client.Client.GetFlightInfo(c.ctx, d)
	check(c.t, err)
	schema, err := c.Client.Client.GetSchema(c.ctx, d)
	check(c.t, err)
	for _, raw := range [][]byte{info.Schema, schema.Schema} {
		got, err := flight.DeserializeSchema(raw, memory.DefaultAllocator)
		check(c.t, err)
		if !got.Equal(want) {
			c.t.Errorf("%T has %s, want %s", command, got, want)
		}
	}
	return c.fetch(info)
}

func TestListings(t *testing.T) {
	w := start(t, nil)
	w.engine.tables = []engine.TableEntry{{Catalog: "lake", Schema: "a", Name: "t", Type: "TABLE", Columns: arrow.NewSchema(nil, nil)},
		{Catalog: "lake", Schema: "a.b", Name: "t", Type: "TABLE"}, {Catalog: "lake", Schema: "a", Name: "v", Type: "VIEW"},
		{Catalog: "lake", Schema: "a", Name: "keyed", Type: "TABLE"}}
	c := w.connect()
	name, unknown := "lake", "nowhere"
	code := int32(pb.XdbcDataType_XDBC_TIMESTAMP)
	for _, row := range []struct {
		command proto.Message
		schema  *arrow.Schema
		want    []string
	}{
		{&pb.CommandGetCatalogs{}, schema_ref.Catalogs, []string{"lake", "other"}},
		{&pb.CommandGetDbSchemas{}, schema_ref.DBSchemas, []string{"lake|a", "lake|a.b", "other|a", "other|a.b"}},
		{&pb.CommandGetDbSchemas{Catalog: &name}, schema_ref.DBSchemas, []string{"lake|a", "lake|a.b"}},
		{&pb.CommandGetDbSchemas{Catalog: &unknown}, schema_ref.DBSchemas, nil},
		{&pb.CommandGetTables{}, schema_ref.Tables, []string{"lake|a|t|TABLE", "lake|a.b|t|TABLE", "lake|a|v|VIEW", "lake|a|keyed|TABLE"}},
		{&pb.CommandGetTables{TableTypes: []string{"BASE TABLE"}}, schema_ref.Tables, []string{"lake|a|t|TABLE", "lake|a.b|t|TABLE", "lake|a|keyed|TABLE"}},
		{&pb.CommandGetTables{TableTypes: []string{"SYNONYM"}}, schema_ref.Tables, nil},
		{&pb.CommandGetTableTypes{}, schema_ref.TableTypes, []string{"TABLE", "VIEW"}},
		{&pb.CommandGetPrimaryKeys{Table: "t"}, schema_ref.PrimaryKeys, nil},
		{&pb.CommandGetPrimaryKeys{Catalog: &name, Table: "keyed"}, schema_ref.PrimaryKeys, []string{"lake|a|keyed|id|1|(null)"}},
		{&pb.CommandGetExportedKeys{Table: "t"}, schema_ref.ExportedKeys, nil},
		{&pb.CommandGetImportedKeys{Table: "t"}, schema_ref.ImportedKeys, nil},
		{&pb.CommandGetCrossReference{PkTable: "t"}, schema_ref.CrossReference, nil},
	} {
		if got := c.list(row.command, row.schema); !slices.Equal(got, row.want) {
			t.Errorf("%T: %q, want %q", row.command, got, row.want)
		}
	}
	if all := c.list(&pb.CommandGetXdbcTypeInfo{}, schema_ref.XdbcTypeInfo); len(all) != len(sqlTypes) {
		t.Errorf("%d types", len(all))
	}
	one := c.list(&pb.CommandGetXdbcTypeInfo{DataType: &code}, schema_ref.XdbcTypeInfo)
	if len(one) != 2 || !strings.HasPrefix(one[0], "TIMESTAMP|93|26|TIMESTAMP '|'|") {
		t.Errorf("types %q", one)
	}
	if w.sessions.Len() != 0 {
		t.Error("listings made a session")
	}
}

// TestACatalogAskedForByNameAnswersOrFails: only listings over all catalogs leave out one that does not answer.
func TestACatalogAskedForByNameAnswersOrFails(t *testing.T) {
	w := start(t, nil)
	w.engine.away = "lake"
	w.engine.tables = []engine.TableEntry{{Catalog: "lake", Schema: "a", Name: "t", Type: "TABLE"}, {Catalog: "other", Schema: "a", Name: "t", Type: "TABLE"}}
	c := w.connect()
	lake, other, name, any := "lake", "other", "t", "%"
	for _, row := range []struct {
		command proto.Message
		want    []string // nil: unavailable
	}{
		{&pb.CommandGetDbSchemas{Catalog: &lake}, nil},
		{&pb.CommandGetDbSchemas{Catalog: &other}, []string{"other|a", "other|a.b"}},
		{&pb.CommandGetDbSchemas{}, []string{"other|a", "other|a.b"}},
		{&pb.CommandGetTables{Catalog: &lake}, nil},
		{&pb.CommandGetTables{Catalog: &lake, IncludeSchema: true}, nil},
		{&pb.CommandGetTables{Catalog: &other}, []string{"other|a|t|TABLE"}},
		{&pb.CommandGetTables{}, []string{"other|a|t|TABLE"}},
		{&pb.CommandGetTables{TableNameFilterPattern: &name}, []string{"lake|a|t|TABLE", "other|a|t|TABLE"}}, // what came of the current schema, which is looked at first
		{&pb.CommandGetPrimaryKeys{Catalog: &lake, Table: any}, nil},
	} {
		info, err := c.Client.Client.GetFlightInfo(c.ctx, descriptor(t, row.command))
		check(t, err)
		got, err := c.read(info.Endpoint[0].Ticket, nil)
		if row.want == nil && status.Code(err) != codes.Unavailable || row.want != nil && (err != nil || !slices.Equal(got, row.want)) {
			t.Errorf("%v: %q, %v", row.command, got, err)
		}
	}
}

func TestTypesOfTablesInLowerCase(t *testing.T) {
	w := start(t, nil)
	w.engine.tables = []engine.TableEntry{{Catalog: "lake", Schema: "a", Name: "t", Type: "TABLE"}}
	c := w.connect()
	c.query("SET " + tableTypesOption + "=lower")
	for _, filter := range [][]string{nil, {"table"}, {"TABLE"}, {"base table"}} {
		if got := c.list(&pb.CommandGetTables{TableTypes: filter}, schema_ref.Tables); !slices.Equal(got, []string{"lake|a|t|table"}) {
			t.Errorf("filter %q: %q", filter, got)
		}
	}
	if got := c.list(&pb.CommandGetTableTypes{}, schema_ref.TableTypes); !slices.Equal(got, []string{"table", "view"}) {
		t.Errorf("types %q", got)
	}
	adbc := w.withAgent("ADBC Flight SQL Driver v1.13.0")
	for _, set := range []struct{ option, want string }{{"auto", "table"}, {"upper", "TABLE"}, {"lower", "table"}} {
		adbc.query("SET " + tableTypesOption + "=" + set.option)
		if got := adbc.list(&pb.CommandGetTables{}, schema_ref.Tables); !slices.Equal(got, []string{"lake|a|t|" + set.want}) {
			t.Errorf("ADBC, %s: %q", set.option, got)
		}
	}
}

func TestTheCurrentSchemasTableComesFirst(t *testing.T) {
	w := start(t, nil)
	for i := range 3000 {
		w.engine.tables = append(w.engine.tables, engine.TableEntry{Catalog: "lake", Schema: fmt.Sprintf("s%d", i), Name: "t", Type: "TABLE"})
	}
	w.engine.tables = append(w.engine.tables, engine.TableEntry{Catalog: "lake", Schema: "a", Name: "t", Type: "TABLE"})
	c := w.connect()
	name := "t"
	got := c.list(&pb.CommandGetTables{TableNameFilterPattern: &name}, schema_ref.Tables)
	if len(got) != 3001 || got[0] != "lake|a|t|TABLE" || got[3000] != "lake|s2999|t|TABLE" {
		t.Errorf("%d tables, first %s", len(got), got[0])
	}
}

func TestSchemasOfTablesSayWhatDriversAskFor(t *testing.T) {
	w := start(t, nil)
	columns := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Metadata: arrow.NewMetadata([]string{"PARQUET:field_id", "REMARKS"}, []string{"1", "the key"})},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}, Nullable: true},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "nanos", Type: &arrow.TimestampType{Unit: arrow.Nanosecond}, Nullable: true},
		{Name: "instant", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, Nullable: true},
		{Name: "micros", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
		{Name: "nothing", Type: arrow.Null, Nullable: true},
		{Name: "shape", Type: arrow.BinaryTypes.Binary, Nullable: true, Metadata: arrow.NewMetadata([]string{"ARROW:extension:name", "ARROW:extension:metadata", "skua:type"}, []string{"geoarrow.wkb", "{}", "geometry"})},
	}, nil)
	w.engine.tables = []engine.TableEntry{{Catalog: "lake", Schema: "a", Name: "t", Type: "TABLE", Columns: columns}, {Catalog: "lake", Schema: "a", Name: "broken", Type: "TABLE"}}
	c := w.connect()
	info, err := c.GetTables(c.ctx, &upstream.GetTablesOpts{IncludeSchema: true})
	check(t, err)
	r, err := c.DoGet(c.ctx, info.Endpoint[0].Ticket)
	check(t, err)
	defer r.Release()
	if !r.Next() || !r.Schema().Equal(schema_ref.TablesWithIncludedSchema) {
		t.Fatalf("%v, %s", r.Err(), r.Schema())
	}
	raw := r.RecordBatch().Column(4).(*array.Binary)
	got, err := flight.DeserializeSchema(raw.Value(0), memory.DefaultAllocator)
	check(t, err)
	if e, ok := got.Field(7).Type.(arrow.ExtensionType); !ok || e.ExtensionName() != "geoarrow.wkb" {
		t.Errorf("a geometry is %s", got.Field(7))
	}
	if !arrow.TypeEqual(got.Field(0).Type, arrow.PrimitiveTypes.Int64) || got.Field(0).Nullable || !got.Field(1).Nullable {
		t.Errorf("schema %s", got)
	}
	for i, want := range []map[string]string{
		{upstream.TypeNameKey: "BIGINT", upstream.PrecisionKey: "19", upstream.ScaleKey: "0", upstream.RemarksKey: "the key", upstream.TableNameKey: "t", "PARQUET:field_id": ""},
		{upstream.TypeNameKey: "DECIMAL", upstream.PrecisionKey: "9", upstream.ScaleKey: "2", upstream.RemarksKey: ""},
		{upstream.TypeNameKey: "ARRAY", upstream.IsSearchableKey: "0"},
		{upstream.TypeNameKey: "TIMESTAMP_NTZ", upstream.PrecisionKey: "29", upstream.ScaleKey: "9"},
		{upstream.TypeNameKey: "TIMESTAMP", upstream.PrecisionKey: "29", upstream.ScaleKey: "9"},
		{upstream.TypeNameKey: "TIMESTAMP", upstream.PrecisionKey: "26", upstream.ScaleKey: "6"},
		{upstream.TypeNameKey: "VOID", upstream.PrecisionKey: ""},
		{upstream.TypeNameKey: "BINARY", "skua:type": ""},
	} {
		for key, value := range want {
			if have, _ := got.Field(i).Metadata.GetValue(key); have != value {
				t.Errorf("%s of %s is %q, want %q", key, got.Field(i).Name, have, value)
			}
		}
	}
	if broken, err := flight.DeserializeSchema(raw.Value(1), memory.DefaultAllocator); err != nil || broken.NumFields() != 0 {
		t.Errorf("the broken table has %v, %v", broken, err)
	}
}

func TestServerInfoHasTheMembersThatDriversRead(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	all := c.info()
	members := map[int][]upstream.SqlInfo{
		0: {0, 1, 2, 6, 7, 504, 513, 514, 529, 530, 531},
		1: {3, 4, 5, 9, 500, 501, 502, 506, 515, 516, 518, 519, 520, 521, 523, 524, 527, 532, 536, 537, 539, 556, 563, 565, 566, 572, 573, 574, 575, 576},
		2: {503, 505, 507, 541, 542, 543, 544, 545, 546, 547, 548, 549, 550, 551, 552, 553, 554, 555, 557, 558, 559, 560, 561, 562},
		3: {8, 100, 101, 522, 525, 526, 528, 533, 534, 535, 538, 540, 564, 567, 568, 569, 570, 571},
		4: {508, 509, 510, 511, 512},
		5: {517},
	}
	n := 0
	for member, codes := range members {
		for _, code := range codes {
			n++
			if got, ok := all[code]; !ok || got != member {
				t.Errorf("code %d: member %d (there: %v), want %d", code, got, ok, member)
			}
		}
	}
	if len(all) != n {
		t.Errorf("%d codes, want %d", len(all), n)
	}
	for code, name := range pb.SqlInfo_name { // those of the protocol that are only told where asked for are told, too
		if got := c.info(upstream.SqlInfo(code)); len(got) != 1 {
			t.Errorf("%s is not answered: %v", name, got)
		}
	}
	some := c.info(10, 9999, 8, 0)
	if len(some) != 3 || some[10] != 1 {
		t.Errorf("asked for 10, 9999, 8 and 0: %v", some)
	}
	if w.engine.prepared.Load() != 0 {
		t.Error("it cost a statement")
	}
}

// info gives the member of the union of each code.
func (c *client) info(codes ...upstream.SqlInfo) map[upstream.SqlInfo]int {
	c.t.Helper()
	info, err := c.GetSqlInfo(c.ctx, codes)
	check(c.t, err)
	r, err := c.DoGet(c.ctx, info.Endpoint[0].Ticket)
	check(c.t, err)
	defer r.Release()
	out := map[upstream.SqlInfo]int{}
	for r.Next() {
		names, values := r.RecordBatch().Column(0).(*array.Uint32), r.RecordBatch().Column(1).(*array.DenseUnion)
		for i := range names.Len() {
			out[upstream.SqlInfo(names.Value(i))] = int(values.TypeCode(i))
		}
	}
	check(c.t, r.Err())
	return out
}
