package flightsql

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/flight"
	upstream "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/session"
)

// odd has a column of each type that a form changes, and one inside others.
func odd(t *testing.T, mem memory.Allocator) arrow.RecordBatch {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
		{Name: "amount", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}, Nullable: true},
		{Name: "id", Type: extensions.NewUUIDType(), Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.FixedWidthTypes.Timestamp_us), Nullable: true},
		{Name: "map", Type: arrow.MapOf(arrow.PrimitiveTypes.Int32, extensions.NewUUIDType()), Nullable: true},
		{Name: "struct", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
			arrow.Field{Name: `y"<`, Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true}), Nullable: true},
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b, _, err := array.RecordFromJSON(mem, schema, strings.NewReader(`[
		{"at":"2024-02-29T12:34:56.789012Z","amount":"1.50","id":"00000000-0000-0000-0000-00000000000a","list":["1970-01-01T00:00:00Z",null],
		 "map":[{"key":7,"value":"00000000-0000-0000-0000-00000000000b"}],"struct":{"x":0.5,"y\"<":"a\n\"ż<","b":"AAE="},"city":"Oslo","n":1},
		{"at":null,"amount":null,"id":null,"list":null,"map":null,"struct":null,"city":null,"n":2},
		{"at":"0001-01-01T00:00:00Z","amount":"-9999999999.99","id":"ffffffff-ffff-ffff-ffff-ffffffffffff","list":[],"map":[],"struct":{"x":null,"y\"<":null,"b":null},"city":"Oslo","n":3}]`))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFormsChangeWhatTheySay(t *testing.T) {
	plain := []string{
		`2024-02-29T12:34:56.789012Z|1.5|00000000-0000-0000-0000-00000000000a|["1970-01-01T00:00:00Z",null]|[{"key":7,"value":"00000000-0000-0000-0000-00000000000b"}]|{"b":"AAE=","x":0.5,"y\"\u003c":"a\n\"ż\u003c"}|Oslo|1`,
	}
	for name, c := range map[string]struct {
		form  form
		types string
		first string
	}{
		"none":     {form{}, "timestamp[us, tz=UTC] decimal(12, 2) extension<arrow.uuid> list map struct utf8 int64", plain[0]},
		"zoneless": {form{ZoneLess: true}, "timestamp[us] decimal(12, 2) extension<arrow.uuid> list map struct utf8 int64", ""},
		"uuids":    {form{TextUUIDs: true}, "timestamp[us, tz=UTC] decimal(12, 2) utf8 list map struct utf8 int64", ""},
		"doubles":  {form{Doubles: true}, "timestamp[us, tz=UTC] float64 extension<arrow.uuid> list map struct utf8 int64", ""},
		"json": {form{JSON: true}, "timestamp[us, tz=UTC] decimal(12, 2) extension<arrow.uuid> utf8 utf8 utf8 utf8 int64",
			`2024-02-29T12:34:56.789012Z|1.5|00000000-0000-0000-0000-00000000000a|["1970-01-01T00:00:00Z",null]|{"7":"00000000-0000-0000-0000-00000000000b"}|{"x":0.5,"y\"<":"a\n\"ż<","b":"AAE="}|Oslo|1`},
		"all": {form{ZoneLess: true, JSON: true, TextUUIDs: true, Doubles: true, Compression: "lz4"}, "timestamp[us] float64 utf8 utf8 utf8 utf8 utf8 int64",
			`2024-02-29T12:34:56.789012|1.5|00000000-0000-0000-0000-00000000000a|["1970-01-01T00:00:00Z",null]|{"7":"00000000-0000-0000-0000-00000000000b"}|{"x":0.5,"y\"<":"a\n\"ż<","b":"AAE="}|Oslo|1`},
		"dictionaries": {form{Dictionaries: true}, "timestamp[us, tz=UTC] decimal(12, 2) extension<arrow.uuid> list map struct dictionary int64", ""},
	} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		b := odd(t, mem)
		schema, err := c.form.schema(b.Schema())
		check(t, err)
		var types []string
		for _, f := range schema.Fields() {
			typ := f.Type.String()
			for _, nested := range []string{"list", "map", "struct", "dictionary", "extension<arrow.uuid"} {
				if strings.HasPrefix(typ, nested) {
					typ = strings.TrimSuffix(nested, ">")
				}
			}
			if typ == "extension<arrow.uuid" {
				typ += ">"
			}
			types = append(types, typ)
		}
		if got := strings.Join(types, " "); got != c.types {
			t.Errorf("%s: %s\nwant %s", name, got, c.types)
		}
		out := c.form.batch(b, schema, mem)
		for i, column := range out.Columns() {
			if !arrow.TypeEqual(column.DataType(), schema.Field(i).Type) || array.ValidateFull(column) != nil {
				t.Errorf("%s: column %d is %s, the schema says %s, %v", name, i, column.DataType(), schema.Field(i).Type, array.ValidateFull(column))
			}
			if column.IsNull(1) != b.Column(i).IsNull(1) {
				t.Errorf("%s: column %d: NULL became a value", name, i)
			}
		}
		if rows := rowTexts(out); c.first != "" && c.form != (form{}) && rows[0] != c.first {
			t.Errorf("%s: %s\nwant %s", name, rows[0], c.first)
		}
		// A slice in the middle is converted alike.
		part := b.NewSlice(2, 3)
		cut := c.form.batch(part, schema, mem)
		if got, want := rowTexts(cut)[0], rowTexts(out)[2]; got != want {
			t.Errorf("%s: sliced %s, whole %s", name, got, want)
		}
		for _, r := range []arrow.RecordBatch{b, out, part, cut} {
			r.Release()
		}
		mem.AssertSize(t, 0)
	}
}

func TestFormsFollowTheSessionAndTheClient(t *testing.T) {
	state := func(pairs ...string) session.State {
		st := session.State{}
		for i := 0; i < len(pairs); i += 2 {
			st.Conf = st.Conf.With(pairs[i], pairs[i+1])
		}
		return st
	}
	const jdbc18, jdbc17, adbc = "grpc-java-netty/1.71.0", "grpc-java-netty/1.63.0", "ADBC Flight SQL Driver v1.13.0 grpc-go/1.85.0"
	for _, c := range []struct {
		agent    string
		prepared bool
		state    session.State
		want     form
	}{
		{adbc, true, state(), form{}},
		{jdbc18, true, state(), form{ZoneLess: true, Described: true}},
		{jdbc18, false, state(), form{Described: true}},
		{jdbc17, true, state(), form{Described: true}},
		{jdbc18, true, state(timestampsOption, "zoned"), form{Described: true}},
		{adbc, false, state(timestampsOption, "ZONELESS"), form{ZoneLess: true}},
		{adbc, false, state(nestedOption, "json", uuidsOption, "text", decimalsOption, "double"), form{JSON: true, TextUUIDs: true, Doubles: true}},
		{adbc, false, state(compressionOption, "zstd", dictionariesOption, "true"), form{Compression: "zstd", Dictionaries: true}},
		{jdbc17, true, state(compressionOption, "lz4", dictionariesOption, "true"), form{Described: true}},
	} {
		caller := &caller{headers: metadata.Pairs("user-agent", c.agent)}
		if got := caller.formOf(c.state, c.prepared); got != c.want {
			t.Errorf("%s, %v: %+v, want %+v", c.agent, c.prepared, got, c.want)
		}
	}
}

// TestResultsForJavaSayWhatItsDriverAsks: precision and scale are nowhere else to it, and no remark may become a label.
func TestResultsForJavaSayWhatItsDriverAsks(t *testing.T) {
	result := arrow.NewSchema([]arrow.Field{
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}, Metadata: arrow.MetadataFrom(map[string]string{remarksKey: "no label"})},
		{Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "t", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)},
		{Name: "v", Type: variantType, Metadata: engine.OriginMetadata([]string{"lake", "a", "b c", "t"})},
		{Name: "n", Type: arrow.StructOf(arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary, Nullable: true}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary})},
	}, nil)
	f := form{Described: true, ZoneLess: true}
	got, err := f.schema(result)
	check(t, err)
	for i, want := range []map[string]string{
		{upstream.TypeNameKey: "DECIMAL", upstream.PrecisionKey: "12", upstream.ScaleKey: "2", upstream.IsSearchableKey: "1", upstream.IsReadOnlyKey: "1", upstream.IsCaseSensitiveKey: "0"},
		{upstream.TypeNameKey: "STRING", upstream.IsCaseSensitiveKey: "1", upstream.PrecisionKey: ""},
		{upstream.TypeNameKey: "TIMESTAMP_NTZ", upstream.ScaleKey: "6"},
		{upstream.TypeNameKey: "ARRAY", upstream.IsSearchableKey: "0", upstream.PrecisionKey: ""},
		{upstream.TypeNameKey: "VARIANT", upstream.IsSearchableKey: "0", upstream.CatalogNameKey: "lake", upstream.SchemaNameKey: "a.b c", upstream.TableNameKey: "t", engine.TableKey: ""},
		{upstream.TypeNameKey: "STRUCT", upstream.TableNameKey: ""},
	} {
		metadata := got.Field(i).Metadata.ToMap()
		for k, v := range want {
			if metadata[k] != v {
				t.Errorf("%s: %s is %q, want %q", got.Field(i).Name, k, metadata[k], v)
			}
		}
		if v, ok := metadata[remarksKey]; ok {
			t.Errorf("%s has the remark %q", got.Field(i).Name, v)
		}
	}
	if !(form{Described: true}).plain() || f.plain() {
		t.Error("describing changes no batch, and leaving zones out does")
	}
}

// TestCompressedAndEncodedResultsReadAlike reads through every codec and with dictionaries, and holds the announced schema against the stream's.
func TestCompressedAndEncodedResultsReadAlike(t *testing.T) {
	w := start(t, nil)
	want, _ := w.connect().query("WIDE 3 100000")
	for _, set := range [][]string{{compressionOption + "=lz4"}, {compressionOption + "=zstd"}, {dictionariesOption + "=true"},
		{compressionOption + "=lz4", dictionariesOption + "=true"}} {
		c := w.connect()
		for _, s := range set {
			c.query("SET " + s)
		}
		got, info := c.query("WIDE 3 100000")
		if !slices.Equal(got, want) {
			t.Errorf("%v: other rows", set)
		}
		if rows, _ := c.query("WIDE 0 1"); len(rows) != 0 {
			t.Errorf("%v: rows in an empty result", set)
		}
		size := 0
		stream, err := c.Client.Client.DoGet(c.ctx, info.Endpoint[0].Ticket)
		check(t, err)
		for {
			m, err := stream.Recv()
			if err != nil {
				break
			}
			size += len(m.DataBody)
		}
		if strings.Contains(set[0], "compression") && size > 100_000 || size > 310_000 {
			t.Errorf("%v: %d bytes", set, size)
		}
	}
}

func TestLargeDictionariesFitIntoMessages(t *testing.T) {
	w := start(t, nil)
	c := w.connect()
	c.query("SET " + dictionariesOption + "=true")
	if rows, _ := c.query("WIDE 12 1000000"); len(rows) != 12 {
		t.Errorf("%d rows", len(rows))
	}
}

// withAgent is a connection whose user agent begins like another client's.
func (w *world) withAgent(agent string) *client {
	w.t.Helper()
	c := w.connect()
	conn, err := grpc.NewClient("passthrough:///skua", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUserAgent(agent),
		grpc.WithContextDialer(w.dial))
	check(w.t, err)
	w.t.Cleanup(func() { conn.Close() })
	c.conn, c.Client.Client = conn, flight.NewClientFromConn(conn, nil)
	return c
}
