package parquet

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/kernels/pages"
)

// leaf reads one column chunk, forward.
type leaf struct {
	column *schema.Column
	mem    memory.Allocator
	reader file.RecordReader
	pages  *pageReader
	given  int64          // rows decoded or left out; of a column without lists
	target arrow.DataType // nil: only the levels are wanted
	values *values        // of the rows loaded; nil: none
}

func (r *reader) openLeaf(index int) (*leaf, error) {
	l := &leaf{column: r.rg.Metadata.Schema.Column(index), mem: r.mem}
	var err error
	if l.pages, err = r.openPages(index); err != nil {
		return nil, err
	}
	l.reader = file.NewRecordReader(l.column, levelInfo(l.column), binaryType(l.column), r.mem, nil)
	l.reader.SetPageReader(l.pages)
	return l, nil
}

// binaryType is the type in which the record reader collects texts.
func binaryType(c *schema.Column) arrow.DataType {
	if _, ok := c.LogicalType().(schema.StringLogicalType); ok {
		return arrow.BinaryTypes.String
	}
	return arrow.BinaryTypes.Binary
}

// levelInfo describes a leaf's levels: it has a slot wherever its nearest repeated ancestor has an entry.
func levelInfo(c *schema.Column) file.LevelInfo {
	info := file.LevelInfo{NullSlotUsage: 1, DefLevel: c.MaxDefinitionLevel(), RepLevel: c.MaxRepetitionLevel()}
	below := int16(0) // optional levels below the nearest repeated node
	for n := schema.Node(c.SchemaNode()); n != nil && n.RepetitionType() != parquet.Repetitions.Repeated; n = n.Parent() {
		if n.Parent() == nil {
			break // the root counts for nothing, whatever its repetition says
		}
		if n.RepetitionType() == parquet.Repetitions.Optional {
			below++
		}
	}
	info.RepeatedAncestorDefLevel = info.DefLevel - below
	return info
}

func (l *leaf) want(t arrow.DataType) { l.target = t }

func (l *leaf) close() {
	l.drop()
	l.reader.Release()
}

func (l *leaf) drop() {
	if l.values != nil {
		l.values.release()
		l.values = nil
	}
}

// load decodes the next n rows.
func (l *leaf) load(n int64) error {
	l.drop()
	l.reader.Reset()
	if err := l.reader.Reserve(n); err != nil {
		return pages.Classify(fault.Corrupt, err)
	}
	for read := int64(0); read < n; {
		got, err := l.reader.ReadRecords(n - read)
		if err != nil {
			return pages.Classify(fault.Corrupt, err)
		}
		if got == 0 {
			return fault.New(fault.Corrupt, "the column ends %d rows early", n-read)
		}
		read += got
	}
	l.given += n
	l.values = l.take()
	return nil
}

// skip leaves out n rows. Outside lists a row is a value, so that whole pages are left out; the rest is decoded and dropped.
func (l *leaf) skip(n int64) error {
	if buffered := l.pages.given - l.given; l.column.MaxRepetitionLevel() == 0 && n > buffered {
		if err := l.discard(buffered); err != nil {
			return err
		}
		passed, err := l.pages.pass(n - buffered)
		if err != nil {
			return err
		}
		l.given += passed
		n -= buffered + passed
		if passed == 0 && n > 0 && l.pages.pending != nil && !l.pages.pending.IsData {
			if err := l.discard(1); err != nil { // reads the dictionary and the first page
				return err
			}
			return l.skip(n - 1)
		}
	}
	return l.discard(n)
}

// discard decodes n rows and forgets them, a window at a time.
func (l *leaf) discard(n int64) error {
	for n > 0 {
		step := min(n, window)
		if err := l.load(step); err != nil {
			return err
		}
		l.drop()
		n -= step
	}
	return nil
}

// take moves what the record reader holds into values.
func (l *leaf) take() *values {
	v := &values{n: l.reader.ValuesWritten()}
	switch l.column.PhysicalType() {
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		chunks := l.reader.(file.BinaryRecordReader).GetBuilderChunks()
		v.bytes = chunks[0]
		v.n, v.nulls = v.bytes.Len(), v.bytes.NullN()
		if b := v.bytes.Data().Buffers()[0]; b != nil && v.nulls > 0 {
			b.Retain()
			v.valid = b
		}
		return v
	}
	v.nulls = int(l.reader.NullCount())
	v.valid = l.reader.ReleaseValidBits()
	if v.valid != nil && v.nulls == 0 {
		v.valid.Release()
		v.valid = nil
	}
	if l.column.PhysicalType() == parquet.Types.Boolean {
		v.fixed = l.reader.(file.BooleanRecordReader).ReleaseValueBitmap()
		return v
	}
	v.fixed = l.reader.ReleaseValues()
	return v
}

// array gives the loaded values in the target type.
func (l *leaf) array() (arrow.Array, error) {
	to, reason := conversionOf(l.column, l.target)
	if to == nil {
		return nil, fault.New(fault.Unsupported, "reading %s as %s is not supported%s", l.column.PhysicalType(), l.target, reason)
	}
	return to(l.values, l.mem)
}

// levels gives the definition and repetition levels of the loaded rows; nil where the column has none.
func (l *leaf) levels() (def, rep []int16) {
	n := l.reader.LevelsPos()
	if l.column.MaxDefinitionLevel() > 0 {
		def = l.reader.DefLevels()[:n]
	}
	if l.column.MaxRepetitionLevel() > 0 {
		rep = l.reader.RepLevels()[:n]
	}
	return def, rep
}
