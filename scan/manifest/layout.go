package manifest

import (
	"slices"

	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/scan/avrofile"
)

// slot is a field of an entry that is read; noSlot: it is stepped over.
type slot uint8

const (
	noSlot slot = iota
	slotStatus
	slotSnapshot
	slotSequence
	slotFileSequence
	slotFile

	slotContent
	slotPath
	slotFormat
	slotPartition
	slotRecords
	slotSize
	slotKey
	slotOffsets
	slotEqualityIDs
	slotFirstRow
	slotTarget
	slotContentOffset
	slotContentSize

	slotMetrics // and the metrics behind it, in their order
)

// known is a field of the specification.
type known struct {
	slot     slot
	id       int
	name     string
	required bool
	kinds    []avrofile.Kind
}

var (
	numbers = []avrofile.Kind{avrofile.Int, avrofile.Long}
	texts   = []avrofile.Kind{avrofile.String, avrofile.Bytes}
	lists   = []avrofile.Kind{avrofile.Array}
)

// entryFields are those of an entry, fileFields those of its data file.
var (
	entryFields = []known{
		{slotStatus, 0, "status", true, numbers},
		{slotSnapshot, 1, "snapshot_id", false, numbers},
		{slotFile, 2, "data_file", true, []avrofile.Kind{avrofile.Record}},
		{slotSequence, 3, "sequence_number", false, numbers},
		{slotFileSequence, 4, "file_sequence_number", false, numbers},
	}
	fileFields = []known{
		{slotContent, 134, "content", false, numbers},
		{slotPath, 100, "file_path", true, texts},
		{slotFormat, 101, "file_format", true, texts},
		{slotPartition, 102, "partition", false, []avrofile.Kind{avrofile.Record}},
		{slotRecords, 103, "record_count", true, numbers},
		{slotSize, 104, "file_size_in_bytes", true, numbers},
		{slotMetrics + slot(ValueCounts), 109, "value_counts", false, nil},
		{slotMetrics + slot(NullCounts), 110, "null_value_counts", false, nil},
		{slotMetrics + slot(NaNCounts), 137, "nan_value_counts", false, nil},
		{slotMetrics + slot(LowerBounds), 125, "lower_bounds", false, nil},
		{slotMetrics + slot(UpperBounds), 128, "upper_bounds", false, nil},
		{slotKey, 131, "key_metadata", false, texts},
		{slotOffsets, 132, "split_offsets", false, lists},
		{slotEqualityIDs, 135, "equality_ids", false, lists},
		{slotFirstRow, 142, "first_row_id", false, numbers},
		{slotTarget, 143, "referenced_data_file", false, texts},
		{slotContentOffset, 144, "content_offset", false, numbers},
		{slotContentSize, 145, "content_size_in_bytes", false, numbers},
	}
)

// step reads or steps over a field of a record, in the writer's order.
type step struct {
	slot slot
	name string
	typ  *avrofile.Type
	pair *pair // of a metric
}

// layout is how the entries of one writer's schema are read.
type layout struct {
	root      *avrofile.Type
	entry     []step
	file      []step
	partition []partitionField
}

func newLayout(root *avrofile.Type, spec []Field) (*layout, error) {
	l := &layout{root: root}
	var err error
	if l.entry, err = resolve(root, entryFields); err != nil {
		return nil, err
	}
	file := only(find(l.entry, slotFile).typ, avrofile.Record)
	if l.file, err = resolve(file, fileFields); err != nil {
		return nil, err
	}
	if s := find(l.file, slotPartition); s != nil {
		l.partition = partitionFields(only(s.typ, avrofile.Record), spec)
	}
	return l, nil
}

// resolve finds the fields of a record by their ids. Those without an id are found by name, as are all where ids repeat or do not lead to the
// required fields: some writers number them wrong.
func resolve(record *avrofile.Type, fields []known) ([]step, error) {
	out, missing := resolveBy(record, fields, !repeats(record))
	if missing != "" {
		if out, missing = resolveBy(record, fields, false); missing != "" {
			return nil, fault.New(fault.Corrupt, "entries have no field %s", missing)
		}
	}
	for i := range out {
		if err := out[i].check(fields); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func repeats(record *avrofile.Type) bool {
	seen := map[int]bool{}
	for _, f := range record.Fields {
		if f.ID != avrofile.NoID && seen[f.ID] {
			return true
		}
		seen[f.ID] = true
	}
	return false
}

func resolveBy(record *avrofile.Type, fields []known, ids bool) (out []step, missing string) {
	out = make([]step, len(record.Fields))
	for i, f := range record.Fields {
		out[i] = step{name: f.Name, typ: f.Type}
		for _, k := range fields {
			if byID := ids && f.ID != avrofile.NoID; byID && f.ID == k.id || !byID && f.Name == k.name {
				out[i].slot = k.slot
			}
		}
	}
	for _, k := range fields {
		if k.required && find(out, k.slot) == nil {
			return nil, k.name
		}
	}
	return out, ""
}

func find(steps []step, s slot) *step {
	for i := range steps {
		if steps[i].slot == s {
			return &steps[i]
		}
	}
	return nil
}

// check refuses a field of a type that it cannot have. A metric in a form that is not known is stepped over: it only helps.
func (s *step) check(fields []known) error {
	if s.slot == noSlot {
		return nil
	}
	if s.slot >= slotMetrics {
		if s.pair = newPair(only(s.typ, avrofile.Array)); s.pair == nil {
			s.slot = noSlot
		}
		return nil
	}
	at := slices.IndexFunc(fields, func(k known) bool { return k.slot == s.slot })
	for _, b := range branches(s.typ) {
		if b.Kind == avrofile.Null || slices.Contains(fields[at].kinds, b.Kind) {
			continue
		}
		return fault.New(fault.Corrupt, "the field %s is of type %s", s.name, b.Kind)
	}
	if k := fields[at].kinds[0]; (k == avrofile.Record || k == avrofile.Array) && only(s.typ, k) == nil {
		return fault.New(fault.Corrupt, "the field %s is of more than one type", s.name)
	}
	return nil
}

func branches(n *avrofile.Type) []*avrofile.Type {
	if n.Kind == avrofile.Union {
		return n.Branches
	}
	return []*avrofile.Type{n}
}

// only is the one branch that is not null, if it is of a kind; nil: it is not, or there are several.
func only(n *avrofile.Type, k avrofile.Kind) *avrofile.Type {
	var out *avrofile.Type
	for _, b := range branches(n) {
		switch {
		case b.Kind == avrofile.Null:
		case b.Kind != k || out != nil:
			return nil
		default:
			out = b
		}
	}
	return out
}

// pair is the record that an entry of a map with number keys is written as.
type pair struct {
	record         *avrofile.Type
	keyAt, valueAt int // index of the field
}

// newPair finds key and value in the records of an array; nil: that is no such map.
func newPair(array *avrofile.Type) *pair {
	if array == nil || array.Items.Kind != avrofile.Record {
		return nil
	}
	p := &pair{record: array.Items, keyAt: -1, valueAt: -1}
	for i, f := range array.Items.Fields {
		switch f.Name {
		case "key":
			p.keyAt = i
		case "value":
			p.valueAt = i
		}
	}
	if p.keyAt < 0 || p.valueAt < p.keyAt {
		return nil
	}
	if k := array.Items.Fields[p.keyAt].Type.Kind; k != avrofile.Int && k != avrofile.Long {
		return nil
	}
	return p
}

// value reads an entry's key and stops in front of its value. It gives that one's type; nil: it is null, and nothing is left of it.
func (p *pair) value(d *avrofile.Decoder) (column int, typ *avrofile.Type) {
	for i := range p.record.Fields {
		switch f := p.record.Fields[i].Type; i {
		case p.keyAt:
			column = int(d.Long())
		case p.valueAt:
			if typ, ok := d.Value(f); ok && d.Err == nil {
				return column, typ
			}
			return column, nil
		default:
			d.Skip(f)
		}
	}
	return column, nil
}

// finish steps over what comes after the value.
func (p *pair) finish(d *avrofile.Decoder) {
	for i := p.valueAt + 1; i < len(p.record.Fields); i++ {
		d.Skip(p.record.Fields[i].Type)
	}
}
