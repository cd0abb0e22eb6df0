package scantest

import (
	"bytes"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"
)

// part is a node of a file's schema. Values go through it in a physical shape: of a group the values of its children, of a repeated part a
// list, of a column bool, int64, float64, []byte or parquet.Int96; nil where an optional part is not there.
type part struct {
	name       string
	id         int // 0: none
	repetition parquet.Repetition
	children   []*part // of a group
	physical   parquet.Type
	length     int // of fixed bytes
	logical    pqschema.LogicalType
	of         *typ // of a column: what is in it, where that is a field

	levels   int16 // repetition level of its entries
	values   []any
	defs     []int16
	reps     []int16
	ancestor bool // it or a part above is optional or repeated
}

// node is the part in the writer's schema. It notes levels on the way.
func (p *part) node(rep int16, may bool) pqschema.Node {
	if p.repetition == parquet.Repetitions.Repeated {
		rep++
	}
	p.levels, p.ancestor = rep, may || p.repetition != parquet.Repetitions.Required
	id := int32(p.id)
	if id == 0 {
		id = -1
	}
	if p.children == nil {
		logical := p.logical
		if logical == nil {
			logical = pqschema.NoLogicalType{}
		}
		return pqschema.Must(pqschema.NewPrimitiveNodeLogical(p.name, p.repetition, logical, p.physical, p.length, id))
	}
	var fields pqschema.FieldList
	for _, c := range p.children {
		fields = append(fields, c.node(rep, p.ancestor))
	}
	if p.logical == nil {
		return pqschema.Must(pqschema.NewGroupNode(p.name, p.repetition, fields, id))
	}
	return pqschema.Must(pqschema.NewGroupNodeLogical(p.name, p.repetition, fields, p.logical, id))
}

// columns lists the columns below a part, in order.
func (p *part) columns() []*part {
	if p.children == nil {
		return []*part{p}
	}
	var out []*part
	for _, c := range p.children {
		out = append(out, c.columns()...)
	}
	return out
}

// put takes a value of a part apart into the columns below, with levels.
func (p *part) put(v any, rep, def int16) {
	switch p.repetition {
	case parquet.Repetitions.Optional:
		if v == nil {
			p.absent(rep, def)
			return
		}
		def++
	case parquet.Repetitions.Repeated:
		items := v.([]any)
		if len(items) == 0 {
			p.absent(rep, def)
			return
		}
		for i, item := range items {
			if i > 0 {
				rep = p.levels
			}
			p.body(item, rep, def+1)
		}
		return
	}
	p.body(v, rep, def)
}

func (p *part) body(v any, rep, def int16) {
	if p.children != nil {
		for i, c := range p.children {
			c.put(v.([]any)[i], rep, def)
		}
		return
	}
	if v == nil {
		panic(fmt.Sprintf("no value for the required column %s", p.name))
	}
	p.values, p.defs, p.reps = append(p.values, v), append(p.defs, def), append(p.reps, rep)
}

func (p *part) absent(rep, def int16) {
	for _, c := range p.columns() {
		c.defs, c.reps = append(c.defs, def), append(c.reps, rep)
	}
}

// write writes a column's values of one row group and forgets them.
func (p *part) write(w file.ColumnChunkWriter) error {
	defs, reps := p.defs, p.reps
	if !p.ancestor {
		defs = nil
	}
	if p.levels == 0 {
		reps = nil
	}
	var err error
	switch w := w.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf(p.values, func(v any) bool { return v.(bool) }), defs, reps)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf(p.values, func(v any) int32 { return int32(v.(int64)) }), defs, reps)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf(p.values, func(v any) int64 { return v.(int64) }), defs, reps)
	case *file.Int96ColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf(p.values, func(v any) parquet.Int96 { return v.(parquet.Int96) }), defs, reps)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf(p.values, func(v any) float32 { return float32(v.(float64)) }), defs, reps)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf(p.values, func(v any) float64 { return v.(float64) }), defs, reps)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf(p.values, func(v any) parquet.ByteArray { return v.([]byte) }), defs, reps)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(valuesOf(p.values, func(v any) parquet.FixedLenByteArray { return v.([]byte) }), defs, reps)
	default:
		panic(fmt.Sprintf("no column is written by a %T", w))
	}
	p.values, p.defs, p.reps = nil, nil, nil
	return err
}

func valuesOf[T any](values []any, of func(any) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = of(v)
	}
	return out
}

// writeParts writes rows in a layout that the fields' own types do not tell: lists of two levels, INT96, decimals in any form, variants in
// columns. It gives the file's size.
func (t *table) writeParts(name string, fields []*field, rows []record, withIDs bool) int64 {
	root := &part{name: "schema", repetition: parquet.Repetitions.Required}
	var physical []func(any) any
	l := &layouter{t: t, withIDs: withIDs, rows: rows}
	some := !withIDs && t.mapping && t.r.Intn(3) == 0
	if some {
		t.has("files with ids of some columns")
	}
	for _, f := range fields {
		l.withIDs = withIDs || some && t.r.Intn(2) == 0
		p, of := l.field(f, f.name, true)
		root.children, physical = append(root.children, p), append(physical, of)
	}
	node := root.node(0, false).(*pqschema.GroupNode)
	var out bytes.Buffer
	options, group := t.layout(int64(len(rows)))
	options = append(options, l.encodings(root.children, "")...)
	w := file.NewParquetWriter(&out, node, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	for from := int64(0); from < int64(len(rows)); from += group {
		for _, row := range rows[from:min(from+group, int64(len(rows)))] {
			for i, p := range root.children {
				p.put(physical[i](row[fields[i].id]), 0, 0)
			}
		}
		g := w.AppendRowGroup()
		for _, c := range root.columns() {
			cw, err := g.NextColumn()
			if err != nil {
				panic(err)
			}
			if err := c.write(cw); err != nil {
				panic(err)
			}
			if err := cw.Close(); err != nil {
				panic(err)
			}
		}
		if err := g.Close(); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
		panic(err)
	}
	return int64(out.Len())
}

// encodings chooses an encoding for some columns.
func (l *layouter) encodings(parts []*part, prefix string) []parquet.WriterProperty {
	var out []parquet.WriterProperty
	for _, p := range parts {
		at := prefix + p.name
		if p.children != nil {
			out = append(out, l.encodings(p.children, at+".")...)
			continue
		}
		if p.of == nil || p.id == idPath || p.physical == parquet.Types.Int96 || p.of.kind == decimal {
			continue
		}
		if e, ok := encodingOf(l.t, p.of, !p.ancestor); ok {
			out = append(out, parquet.WithDictionaryFor(at, false), parquet.WithEncodingFor(at, e))
		}
	}
	return out
}

// layouter chooses how fields lie in a file.
type layouter struct {
	t       *table
	withIDs bool
	rows    []record
}

// field is a field's part with the way from its values to physical ones. Free says that it may be repeated without a list around it.
func (l *layouter) field(f *field, name string, free bool) (*part, func(any) any) {
	p := &part{name: name, repetition: parquet.Repetitions.Optional, of: f.typ}
	if f.required {
		p.repetition = parquet.Repetitions.Required
	}
	if l.withIDs {
		p.id = f.id
	}
	switch f.typ.kind {
	case structure:
		return l.structure(p, f)
	case list:
		return l.list(p, f, free)
	case mapping:
		return l.mapping(p, f)
	case variants:
		return l.variant(p)
	}
	return p, l.column(p, f.typ)
}

// unless gives nil for nil.
func unless(of func(any) any) func(any) any {
	return func(v any) any {
		if v == nil {
			return nil
		}
		return of(v)
	}
}

func (l *layouter) structure(p *part, f *field) (*part, func(any) any) {
	var inner []func(any) any
	for _, c := range f.typ.fields {
		child, of := l.field(c, c.name, true)
		p.children, inner = append(p.children, child), append(inner, of)
	}
	return p, unless(func(v any) any {
		var out []any
		for i, c := range f.typ.fields {
			out = append(out, inner[i](v.(record)[c.id]))
		}
		return out
	})
}

func listPart(name string, id int, repetition parquet.Repetition, wrapper string, element *part) *part {
	repeated := &part{name: wrapper, repetition: parquet.Repetitions.Repeated, children: []*part{element}}
	return &part{name: name, id: max(id, 0), repetition: repetition, logical: pqschema.ListLogicalType{}, children: []*part{repeated}}
}

// list lays a list out in three levels, in two, or as a repeated field alone.
func (l *layouter) list(p *part, f *field, free bool) (*part, func(any) any) {
	e := f.typ.fields[0]
	form := l.t.r.Intn(3)
	if !e.required || e.typ.kind == list || e.typ.kind == mapping || e.typ.kind == variants {
		form = 0
	}
	if form == 2 && (!free || !f.required) {
		form = 1
	}
	if form == 0 {
		names := oneOf(l.t.r, [2]string{"list", "element"}, [2]string{"list", "element"}, [2]string{"bag", "array_element"}, [2]string{"list", "item"})
		element, of := l.field(e, names[1], false)
		if names[0] == "bag" {
			l.t.has("lists of other names")
		}
		return listPart(p.name, p.id, p.repetition, names[0], element), unless(func(v any) any { return []any{wrapped(v, of)} })
	}
	name := "array"
	if form == 2 {
		name = p.name
	}
	element, of := l.field(e, name, false)
	element.repetition = parquet.Repetitions.Repeated
	bare := func(v any) any {
		items := []any{}
		for _, item := range v.([]any) {
			items = append(items, of(item))
		}
		return items
	}
	if form == 2 {
		l.t.has("repeated fields without a list")
		element.id = p.id
		return element, bare
	}
	l.t.has("lists of two levels")
	p.logical, p.children, p.of = pqschema.ListLogicalType{}, []*part{element}, nil
	return p, unless(func(v any) any { return []any{bare(v)} })
}

func wrapped(v any, of func(any) any) any {
	items := []any{}
	for _, item := range v.([]any) {
		items = append(items, []any{of(item)})
	}
	return items
}

func (l *layouter) mapping(p *part, f *field) (*part, func(any) any) {
	key, ofKey := l.field(f.typ.fields[0], "key", false)
	value, ofValue := l.field(f.typ.fields[1], "value", false)
	entry := &part{name: oneOf(l.t.r, "key_value", "key_value", "map", "entries"), repetition: parquet.Repetitions.Repeated, children: []*part{key, value}}
	p.logical, p.children = pqschema.MapLogicalType{}, []*part{entry}
	return p, unless(func(v any) any {
		items := []any{}
		for _, e := range v.([][2]any) {
			items = append(items, []any{ofKey(e[0]), ofValue(e[1])})
		}
		return []any{items}
	})
}

func (l *layouter) variant(p *part) (*part, func(any) any) {
	s := randomShredding(l.t.r, 2)
	children, split := s.group()
	l.t.has("variants")
	if s != nil {
		l.t.has("shredded variants")
	}
	p.logical = pqschema.VariantLogicalType{}
	p.children = append([]*part{{name: "metadata", repetition: parquet.Repetitions.Required, physical: parquet.Types.ByteArray}}, children...)
	return p, unless(func(v any) any {
		keys := v.(*variantValue).keys()
		return append([]any{variantMetadata(keys)}, split(v.(*variantValue), keys)...)
	})
}

// column chooses the physical type of a column.
func (l *layouter) column(p *part, t *typ) func(any) any {
	same := func(v any) any { return v }
	p.physical = parquet.Types.Int64
	switch t.kind {
	case boolean:
		p.physical = parquet.Types.Boolean
	case integer:
		p.physical = parquet.Types.Int32
		p.logical = oneOf[pqschema.LogicalType](l.t.r, nil, pqschema.NewIntLogicalType(32, true))
	case float:
		p.physical = parquet.Types.Float
	case double:
		p.physical = parquet.Types.Double
	case date:
		p.physical, p.logical = parquet.Types.Int32, pqschema.DateLogicalType{}
	case clock:
		p.logical = pqschema.NewTimeLogicalType(false, pqschema.TimeUnitMicros)
	case timestamp, timestampTZ:
		return l.timestamp(p, t)
	case timestampNS, timestampTZNS:
		p.logical = pqschema.NewTimestampLogicalType(t.kind == timestampTZNS, pqschema.TimeUnitNanos)
	case decimal:
		return l.decimal(p, t)
	case text:
		p.physical, p.logical = parquet.Types.ByteArray, pqschema.StringLogicalType{}
		return unless(func(v any) any { return []byte(v.(string)) })
	case uuid:
		p.physical, p.length, p.logical = parquet.Types.FixedLenByteArray, 16, pqschema.UUIDLogicalType{}
	case fixed:
		p.physical, p.length = parquet.Types.FixedLenByteArray, t.length
	case binary, geometry:
		p.physical = parquet.Types.ByteArray
	case unknown:
		p.physical, p.logical = parquet.Types.Int32, pqschema.NullLogicalType{}
	}
	return unless(same)
}

const (
	dayMicros = 86400e6
	epochDay  = 2440588 // of the Julian calendar that INT96 counts in
)

func (l *layouter) timestamp(p *part, t *typ) func(any) any {
	if !l.t.int96 || l.t.r.Intn(4) == 0 {
		p.logical = pqschema.NewTimestampLogicalType(t.kind == timestampTZ, pqschema.TimeUnitMicros)
		return func(v any) any { return v }
	}
	l.t.has("INT96 timestamps")
	p.physical = parquet.Types.Int96
	return unless(func(v any) any {
		day := floor(v.(int64), dayMicros)
		var out parquet.Int96
		nanos := (v.(int64) - day*dayMicros) * 1000
		for i := range 8 {
			out[i] = byte(nanos >> (8 * i))
		}
		for i := range 4 {
			out[8+i] = byte((day + epochDay) >> (8 * i))
		}
		return out
	})
}

func (l *layouter) decimal(p *part, t *typ) func(any) any {
	p.logical = pqschema.NewDecimalLogicalType(int32(t.precision), int32(t.scale))
	form := l.t.r.Intn(3)
	switch {
	case form == 0 && t.precision <= 18:
		if t.precision <= 9 {
			p.physical = parquet.Types.Int32
		}
		return unless(func(v any) any { return bigOf(v).Int64() })
	case form == 1:
		l.t.has("decimals in bytes of any length")
		p.physical = parquet.Types.ByteArray
		return unless(func(v any) any { return twosComplement(bigOf(v)) })
	}
	p.physical, p.length = parquet.Types.FixedLenByteArray, decimalSize(t.precision)
	return unless(func(v any) any { return signed(bigOf(v), p.length) })
}
