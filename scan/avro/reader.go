package avro

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels"
	"github.com/skua-data/skua/predicate"
	"github.com/skua-data/skua/resource"
	"github.com/skua-data/skua/scan/avrofile"
	"github.com/skua-data/skua/scan/parquet"
)

// Read opens a group that RowGroups gave; columns come from Match.
func (f *File) Read(ctx context.Context, g parquet.Group, columns []kernels.Column) (kernels.Reader, error) {
	return &reader{file: f, root: f.root, group: g, columns: columns, mem: resource.From(ctx).Allocator(), cursors: map[string]*cursor{}}, nil
}

// reader reads the records of a group. Columns that are read together share a cursor.
type reader struct {
	file    *File
	root    *avrofile.Type
	group   parquet.Group
	columns []kernels.Column
	mem     memory.Allocator
	cursors map[string]*cursor
}

var _ kernels.Reader = (*reader)(nil)

// Select leaves the filter to the caller.
func (r *reader) Select(_ context.Context, p predicate.Expr, in *kernels.Selection) (predicate.Expr, *kernels.Selection, error) {
	return p, in, nil
}

// Read decodes the survivors and steps over the other records, whole blocks of which are not even unpacked.
func (r *reader) Read(ctx context.Context, columns []int, sel *kernels.Selection, from, n int64) (_ arrow.RecordBatch, err error) {
	defer fault.Recover(&err, fault.Corrupt, "read %s", r.file.name)
	rows := sel.Slice(from, n)
	c, err := r.cursor(columns, rows)
	if err != nil {
		return nil, err
	}
	for _, run := range rows.Runs() {
		if err := c.skip(ctx, run.From-c.row); err != nil {
			return nil, fault.Wrap(err, "read %s", r.file.name)
		}
		if err := c.read(ctx, run.To-run.From); err != nil {
			return nil, fault.Wrap(err, "read %s", r.file.name)
		}
	}
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, at := range columns {
		fields[i], arrays[i] = r.columns[at].Field, c.builders[i].NewArray()
		defer arrays[i].Release()
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, rows.Count()), nil
}

// cursor finds the cursor of a list of columns, or starts one; it starts again where a caller went back.
func (r *reader) cursor(columns []int, rows *kernels.Selection) (*cursor, error) {
	key := fmt.Sprint(columns)
	c := r.cursors[key]
	if runs := rows.Runs(); c != nil && len(runs) > 0 && runs[0].From < c.row {
		c.close()
		c = nil
	}
	if c == nil {
		var err error
		if c, err = r.newCursor(columns); err != nil {
			return nil, err
		}
		r.cursors[key] = c
	}
	return c, nil
}

// Close gives back what builders hold.
func (r *reader) Close() error {
	for _, c := range r.cursors {
		c.close()
	}
	r.cursors = nil
	return nil
}

// cursor stands before a record of the group.
type cursor struct {
	reader   *reader
	row      int64 // in the group
	block    int   // that data was unpacked from, or that comes next
	left     int64 // records of the block that were not read
	d        avrofile.Decoder
	open     bool
	builders []array.Builder
	fields   []fieldReader // by field of the records
	scratch  []byte        // a block as it lies in the file
	plain    []byte        // and unpacked
}

// fieldReader reads a field of a record into builders; none: it is skipped.
type fieldReader struct {
	typ   *avrofile.Type
	puts  []put
	intos []array.Builder
}

func (r *reader) newCursor(columns []int) (*cursor, error) {
	c := &cursor{reader: r, block: r.group.Ordinal, fields: make([]fieldReader, len(r.root.Fields))}
	for i, f := range r.root.Fields {
		c.fields[i].typ = f.Type
	}
	for _, at := range columns {
		column := &r.columns[at]
		b := array.NewBuilder(r.mem, column.Field.Type)
		c.builders = append(c.builders, b)
		f := &c.fields[column.Root]
		f.puts, f.intos = append(f.puts, program(column.Field, f.typ)), append(f.intos, b)
	}
	return c, nil
}

func (c *cursor) close() {
	for _, b := range c.builders {
		b.Release()
	}
	codecs.GiveBack(c.plain)
	c.plain, c.d, c.open = nil, avrofile.Decoder{}, false
}

// codecs serves the readers of a process.
var codecs = avrofile.NewCodecs(plainMost)

// advance makes sure that the current block has records left.
func (c *cursor) advance(ctx context.Context) error {
	for !c.open || c.left == 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.open {
			if c.d.At != len(c.d.Data) {
				return fault.New(fault.Corrupt, "%d bytes are left in a block after its last record", len(c.d.Data)-c.d.At)
			}
			c.block, c.open = c.block+1, false
		}
		if err := c.unpack(); err != nil {
			return err
		}
	}
	return nil
}

func (c *cursor) unpack() error {
	f := c.reader.file
	if c.block >= len(f.index.blocks) {
		return fault.New(fault.Internal, "block %d of %d", c.block, len(f.index.blocks))
	}
	b := f.index.blocks[c.block]
	if int64(cap(c.scratch)) < b.size {
		c.scratch = make([]byte, b.size)
	}
	packed := c.scratch[:b.size]
	if err := readAt(f.file, packed, b.at); err != nil {
		return err
	}
	plain, err := codecs.Unpack(f.index.codec, packed, c.plain[:0])
	if err != nil {
		return err
	}
	if avrofile.IsPacked(f.index.codec) {
		c.plain = plain
	}
	if least := int64(c.reader.root.Least); b.rows > 0 && least > 0 && int64(len(plain))/least < b.rows {
		return fault.New(fault.Corrupt, "%d records in a block of %d bytes", b.rows, len(plain))
	}
	c.d, c.left, c.open = avrofile.Decoder{Data: plain}, b.rows, true
	return nil
}

func (c *cursor) skip(ctx context.Context, n int64) error {
	for n > 0 {
		blocks := c.reader.file.index.blocks
		if !c.open && c.block < len(blocks) && blocks[c.block].rows <= n {
			n, c.row = n-blocks[c.block].rows, c.row+blocks[c.block].rows
			c.block++
			continue
		}
		if c.open && c.left <= n {
			n, c.row, c.left = n-c.left, c.row+c.left, 0
			c.block, c.open = c.block+1, false
			continue
		}
		if err := c.advance(ctx); err != nil {
			return err
		}
		step := min(n, c.left)
		for i := int64(0); i < step && c.d.Err == nil; i++ {
			c.d.Skip(c.reader.root)
		}
		if c.d.Err != nil {
			return c.d.Err
		}
		n, c.row, c.left = n-step, c.row+step, c.left-step
	}
	return nil
}

func (c *cursor) read(ctx context.Context, n int64) error {
	for n > 0 {
		if err := c.advance(ctx); err != nil {
			return err
		}
		if err := resource.From(ctx).Err(); err != nil {
			return err
		}
		step := min(n, c.left)
		for i := int64(0); i < step; i++ {
			if c.record(); c.d.Err != nil {
				return c.d.Err
			}
		}
		n, c.row, c.left = n-step, c.row+step, c.left-step
	}
	return nil
}

func (c *cursor) record() {
	for i := range c.fields {
		f := &c.fields[i]
		if len(f.puts) == 0 {
			c.d.Skip(f.typ)
			continue
		}
		start := c.d.At
		for j, p := range f.puts {
			c.d.At = start
			if p(&c.d, f.intos[j]); c.d.Err != nil {
				return
			}
		}
	}
}

// program gives how values of a type are read as a wanted field; match allowed it before.
func program(want arrow.Field, typ *avrofile.Type) put {
	value, null, _ := optional(typ)
	inner := valueProgram(want, value)
	if typ.Kind != avrofile.Union {
		return inner
	}
	return func(d *avrofile.Decoder, b array.Builder) {
		switch branch, i := d.Branch(typ); {
		case branch == nil:
		case i == null:
			b.AppendNull()
		default:
			inner(d, b)
		}
	}
}

func valueProgram(want arrow.Field, s *avrofile.Type) put {
	switch t := want.Type.(type) {
	case *arrow.NullType:
		return func(d *avrofile.Decoder, b array.Builder) {
			d.Skip(s)
			b.AppendNull()
		}
	case *arrow.StructType:
		return structProgram(t, s)
	case *arrow.ListType:
		inner := program(t.ElemField(), s.Items)
		return func(d *avrofile.Decoder, b array.Builder) {
			l := b.(*array.ListBuilder)
			l.Append(true)
			items(d, s.Items.Least, func() { inner(d, l.ValueBuilder()) })
		}
	case *arrow.MapType:
		keyType, valueType := entries(s)
		key, value := program(t.KeyField(), keyType), program(t.ItemField(), valueType)
		return func(d *avrofile.Decoder, b array.Builder) {
			m := b.(*array.MapBuilder)
			m.Append(true)
			items(d, keyType.Least+valueType.Least, func() {
				before := m.KeyBuilder().NullN()
				if key(d, m.KeyBuilder()); d.Err == nil && m.KeyBuilder().NullN() > before {
					d.Fail("a map has a null key")
				}
				if d.Err == nil {
					value(d, m.ItemBuilder())
				}
			})
		}
	}
	return convert(s, want.Type)
}

func structProgram(t *arrow.StructType, s *avrofile.Type) put {
	at := make([]int, len(s.Fields)) // child of the wanted struct; -1: skipped
	for i := range at {
		at[i] = -1
	}
	puts := make([]put, t.NumFields())
	for i, f := range t.Fields() {
		if j, typ := findChild(s, f); j >= 0 {
			at[j], puts[i] = i, program(f, typ)
		}
	}
	return func(d *avrofile.Decoder, b array.Builder) {
		sb := b.(*array.StructBuilder)
		sb.Append(true)
		for i, p := range puts {
			if p == nil {
				sb.FieldBuilder(i).AppendNull()
			}
		}
		for j := 0; j < len(at) && d.Err == nil; j++ {
			if i := at[j]; i >= 0 {
				puts[i](d, sb.FieldBuilder(i))
			} else {
				d.Skip(s.Fields[j].Type)
			}
		}
	}
}
