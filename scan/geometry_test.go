package scan

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/predicate"
)

// geometryFile is a Parquet file of a number and columns annotated as the format does.
func geometryFile(t *testing.T, logical ...schema.LogicalType) []byte {
	t.Helper()
	fields := schema.FieldList{schema.Must(schema.NewPrimitiveNode("id", pq.Repetitions.Required, pq.Types.Int32, 1, -1))}
	for i, l := range logical {
		fields = append(fields, schema.Must(schema.NewPrimitiveNodeLogical("g", pq.Repetitions.Optional, l, pq.Types.ByteArray, -1, int32(i+2))))
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, schema.Must(schema.NewGroupNode("schema", pq.Repetitions.Required, fields, -1)).(*schema.GroupNode))
	g := w.AppendRowGroup()
	column := func() file.ColumnChunkWriter {
		c, err := g.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := column()
	if _, err := c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{1, 2, 3}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for range logical {
		c := column()
		if _, err := c.(*file.ByteArrayColumnChunkWriter).WriteBatch([]pq.ByteArray{{1, 1}, {0xff}}, []int16{1, 0, 1}, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestGeometriesComeInTheirBinaryForm(t *testing.T) {
	raw := geometryFile(t, schema.GeometryLogicalType{Crs: "EPSG:4326"}, schema.GeographyLogicalType{}, schema.NoLogicalType{}, schema.GeometryLogicalType{})
	for _, c := range []struct{ id, typ, metadata string }{
		{"2", "geometry(EPSG:4326)", `{"crs":"EPSG:4326","crs_type":"authority_code"}`},
		{"3", "geography", `{"crs":"OGC:CRS84","crs_type":"authority_code","edges":"spherical"}`},
		{"4", "geometry", `{"crs":"OGC:CRS84","crs_type":"authority_code"}`},
		{"4", "geography(srid:4326, karney)", `{"crs":"4326","crs_type":"srid","edges":"karney"}`},
		{"5", "geometry(projjson:world)", `{"crs":"projjson:world"}`},
	} {
		m := makeTable(t, `{"id":1,"name":"id","required":true,"type":"int"},{"id":`+c.id+`,"name":"g","required":false,"type":"`+c.typ+`"},
			{"id":9,"name":"later","required":false,"type":"geometry"}`)
		m.version = 3
		m.commit(madeFile{raw: raw, format: iceberg.ParquetFile, records: 3})
		m.want("id,g,later", `[1,"AQE=",null]`, `[2,null,null]`, `[3,"/w==",null]`)
		source, err := m.open().Source(t.Context(), Reference{})
		if err != nil {
			t.Fatal(err)
		}
		f := source.Schema().Field(1)
		name, _ := f.Metadata.GetValue("ARROW:extension:name")
		metadata, _ := f.Metadata.GetValue("ARROW:extension:metadata")
		if name != "geoarrow.wkb" || metadata != c.metadata || !arrow.TypeEqual(f.Type, arrow.BinaryTypes.Binary) {
			t.Errorf("%s: %s %s of %s", c.typ, name, metadata, f.Type)
		}
		on := predicate.Field{ID: m.idOf(source, "g"), Path: []string{"g"}, Type: f.Type}
		for i, filter := range []predicate.Expr{predicate.IsNull{Field: on}, predicate.Not{Expr: predicate.IsNull{Field: on}}} {
			batch, err := readAll(t.Context(), source, Request{Fields: []int{1}, Filter: filter, Limit: -1})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Join(rowsOf(batch), " "), []string{"[2]", "[1] [3]"}[i]; got != want {
				t.Errorf("%s: %s, want %s", filter, got, want)
			}
			batch.Release()
		}
		compared := predicate.Or{Left: predicate.IsNull{Field: on}, Right: predicate.Not{Expr: predicate.Comparison{Op: predicate.Lt, Field: on, Value: predicate.Literal{Type: f.Type, Value: []byte{1}}}}}
		if _, err := source.Plan(t.Context(), Request{Fields: []int{1}, Filter: compared, Limit: -1}); !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "g") {
			t.Errorf("a comparison: %v", err)
		}
	}
}

// TestGeometriesInListsAndStructs reads them where they are nested, and a column of the type unknown beside.
func TestGeometriesInListsAndStructs(t *testing.T) {
	m := makeTable(t, `{"id":1,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":2,"name":"l","required":false,
		"type":{"type":"list","element-id":3,"element":"geometry","element-required":false}},{"id":4,"name":"u","required":false,"type":"unknown"}]}}`)
	m.version = 3
	list := withID(2, "l", arrow.ListOfField(withID(3, "element", arrow.BinaryTypes.Binary)))
	m.commit(madeFile{fields: []arrow.Field{withID(1, "s", arrow.StructOf(list))}, rows: `[{"s":{"l":["AQE=",null]}},{"s":null}]`})
	m.want("s", `[[["AQE=",null],null]]`, `[null]`)
	m.want("s.u", `[null]`, `[null]`)
}
