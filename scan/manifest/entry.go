package manifest

import "github.com/skua-data/skua/scan/avrofile"

// Status says what became of a file in the snapshot that wrote the manifest.
type Status int8

// The statuses, as the specification numbers them.
const (
	Existing Status = iota
	Added
	Deleted
)

// Content is the kind of a file.
type Content int8

// The contents, as the specification numbers them.
const (
	Data Content = iota
	PositionDeletes
	EqualityDeletes
)

// Optional is a number that may be missing.
type Optional struct {
	Value int64
	Known bool
}

// Entry is a line of a manifest as it is written: nothing is inherited. Byte slices and slices lie in the reader's memory and are good until its next
// Next.
type Entry struct {
	Status       Status
	Snapshot     Optional
	Sequence     Optional
	FileSequence Optional

	Content      Content
	Path         []byte
	Format       []byte
	Records      int64  // negative: the writer did not know
	Size         int64  // of the file, in bytes
	Partition    []byte // to be given to Reader.Partition; equal bytes are equal partitions
	SplitOffsets []int64
	Encrypted    bool // it has key metadata

	EqualityIDs   []int  // field ids
	Target        []byte // the data file that all deletes of the file are for; nil: none is named
	ContentOffset Optional
	ContentSize   Optional
	FirstRow      Optional

	metrics [numMetrics]span
}

// span is a metric as it lies in the block, behind the branch of its union. No data: the metric is not there.
type span struct {
	data []byte
	typ  *pair
}

// reset forgets the entry before and keeps its memory.
func (e *Entry) reset() {
	*e = Entry{SplitOffsets: e.SplitOffsets[:0], EqualityIDs: e.EqualityIDs[:0]}
}

// Metric is a map of a file's column metrics, by column id.
type Metric uint8

// The metrics that planning asks for.
const (
	ValueCounts Metric = iota
	NullCounts
	NaNCounts
	LowerBounds
	UpperBounds

	numMetrics
)

// Counts hands every column of a map of counts to visit, in the writer's order.
func (e *Entry) Counts(m Metric, visit func(column int, n int64)) error {
	s := &e.metrics[m]
	d := avrofile.Decoder{Data: s.data}
	for n := s.run(&d); n > 0; n = s.run(&d) {
		for ; n > 0 && d.Err == nil; n-- {
			column, typ := s.typ.value(&d)
			switch {
			case typ == nil:
			case typ.Kind == avrofile.Int || typ.Kind == avrofile.Long:
				if v := d.Long(); d.Err == nil {
					visit(column, v)
				}
			default:
				d.Skip(typ)
			}
			s.typ.finish(&d)
		}
	}
	return d.Err
}

// Bounds hands every column of a map of bounds to visit, in the writer's order. The bytes are the block's.
func (e *Entry) Bounds(m Metric, visit func(column int, bound []byte)) error {
	s := &e.metrics[m]
	d := avrofile.Decoder{Data: s.data}
	for n := s.run(&d); n > 0; n = s.run(&d) {
		for ; n > 0 && d.Err == nil; n-- {
			column, typ := s.typ.value(&d)
			switch {
			case typ == nil:
			case typ.Kind == avrofile.Bytes || typ.Kind == avrofile.String:
				if b := d.Bytes(); d.Err == nil {
					visit(column, b)
				}
			default:
				d.Skip(typ)
			}
			s.typ.finish(&d)
		}
	}
	return d.Err
}

// run tells how many columns come next; 0: none are left.
func (s *span) run(d *avrofile.Decoder) int64 {
	if s.data == nil || d.Err != nil {
		return 0
	}
	n, _ := d.Run(s.typ.record.Least)
	return n
}
