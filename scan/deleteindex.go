package scan

import (
	"cmp"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/iceberg-go"

	"github.com/skua-data/skua/fault"
)

// deleteFile is a live delete file, or one deletion vector in a Puffin file.
type deleteFile struct {
	Path     string
	Format   iceberg.FileFormat
	Size     int64 // of the file
	Bytes    int64 // what it weighs: the vector's content, or the file
	Sequence int64
	Offset   int64  // of a vector in its file
	Records  int64  // rows deleted
	Target   string // the data file a vector belongs to
	Keys     []int  // field ids that equality deletes compare, ascending
	Scope    string // the partition that equality deletes are for; empty: every one

	kind         deleteKind
	stats        fileStats // of equality deletes
	from, length int64     // the bytes of a file that are wanted; no length: all
}

// part is the byte range of the file to read.
func (d *deleteFile) part() (start, length int64) {
	if d.length == 0 {
		return 0, wholeFile
	}
	return d.from, d.length
}

type deleteKind uint8

// String gives the kind in words.
func (k deleteKind) String() string {
	return [...]string{"position deletes", "equality deletes", "deletion vectors"}[k]
}

const (
	positionDelete deleteKind = iota
	equalityDelete
	deletionVector
)

// deleteIndex finds the delete files of a data file without looking at all of them.
type deleteIndex struct {
	vectors    map[string][]*deleteFile // by data file
	byPath     map[string][]*deleteFile // position deletes that name the one data file they are for
	byTuple    map[string][]*deleteFile // the other position deletes, by partition
	equality   map[string][]*deleteFile // by partition
	global     []*deleteFile            // equality deletes of unpartitioned specs: they are for every partition
	considered int
	keys       map[int]bool                        // columns that equality deletes compare
	types      func(id int) (arrow.DataType, bool) // of columns; nil: unknown
}

func newDeleteIndex() *deleteIndex {
	return &deleteIndex{vectors: map[string][]*deleteFile{}, byPath: map[string][]*deleteFile{}, byTuple: map[string][]*deleteFile{},
		equality: map[string][]*deleteFile{}, keys: map[int]bool{}}
}

// add takes in an entry of a delete manifest.
func (x *deleteIndex) add(e candidate) error {
	d := &deleteFile{Path: e.Path, Format: e.Format, Size: e.Size, Bytes: e.Size, Sequence: e.Sequence, Records: e.Records}
	if e.Sequence < 0 {
		return fault.New(fault.Corrupt, "delete file %s has no sequence number", d.Path).In(d.Path)
	}
	if e.deletes == nil {
		return fault.New(fault.Corrupt, "delete manifest holds the data file %s", d.Path).In(d.Path)
	}
	if e.encrypted {
		return fault.New(fault.Unsupported, "encrypted delete files are not supported yet: %s", d.Path).In(d.Path)
	}
	x.considered++
	switch {
	case e.deletes.equality:
		return x.addEquality(d, e)
	case e.Format == iceberg.PuffinFile:
		return x.addVector(d, e.deletes)
	}
	if target := e.deletes.target; target != nil {
		x.byPath[*target] = append(x.byPath[*target], d)
		return nil
	}
	if e.deletes.path != "" {
		x.byPath[e.deletes.path] = append(x.byPath[e.deletes.path], d)
		return nil
	}
	x.byTuple[e.tuple] = append(x.byTuple[e.tuple], d)
	return nil
}

func (x *deleteIndex) addEquality(d *deleteFile, e candidate) error {
	d.kind, d.Keys, d.stats = equalityDelete, e.deletes.keys, e.stats
	if len(d.Keys) == 0 {
		return fault.New(fault.Corrupt, "equality delete file %s does not say which columns it compares", d.Path).In(d.Path)
	}
	for _, id := range d.Keys {
		x.keys[id] = true
	}
	if unpartitioned(e.spec) {
		x.global = append(x.global, d)
		return nil
	}
	d.Scope = e.tuple
	x.equality[e.tuple] = append(x.equality[e.tuple], d)
	return nil
}

func (x *deleteIndex) addVector(d *deleteFile, e *deleteEntry) error {
	if e.target == nil || e.offset == nil || e.size == nil || *e.offset < 0 || *e.size < 0 {
		return fault.New(fault.Corrupt, "deletion vector in %s does not say which data file it is for and where it lies", d.Path).In(d.Path)
	}
	d.kind, d.Target, d.Offset, d.Bytes = deletionVector, *e.target, *e.offset, *e.size
	x.vectors[*e.target] = append(x.vectors[*e.target], d)
	return nil
}

// sort brings deletes of one place into the order of their sequence numbers, as Iceberg hands them out.
func (x *deleteIndex) sort() {
	older := func(a, b *deleteFile) int { return cmp.Compare(a.Sequence, b.Sequence) }
	slices.SortStableFunc(x.global, older)
	for _, group := range []map[string][]*deleteFile{x.byPath, x.byTuple, x.equality} {
		for _, list := range group {
			slices.SortStableFunc(list, older)
		}
	}
}

func unpartitioned(s *spec) bool {
	for _, f := range s.Fields {
		if !isVoid(f) {
			return false
		}
	}
	return true
}

// of gives the deletes that apply to a data file, in Iceberg's order: equality deletes of all partitions, those of its own, position
// deletes of its partition, its own. A vector takes the place of all position deletes.
func (x *deleteIndex) of(f candidate) ([]*deleteFile, error) {
	var out []*deleteFile
	for _, list := range [][]*deleteFile{x.global, x.equality[f.tuple]} {
		for _, d := range list {
			if f.Sequence < d.Sequence && (x.types == nil || canReach(d, f.stats, x.types)) {
				out = append(out, d)
			}
		}
	}
	if vectors := x.vectors[f.Path]; len(vectors) > 0 {
		if len(vectors) > 1 {
			return nil, fault.New(fault.Corrupt, "data file %s has %d deletion vectors", f.Path, len(vectors)).In(f.Path)
		}
		if v := vectors[0]; v.Sequence < f.Sequence {
			return nil, fault.New(fault.Corrupt, "data file %s of sequence number %d has a deletion vector of sequence number %d, which is older", f.Path,
				f.Sequence, v.Sequence).In(f.Path)
		}
		return append(out, vectors[0]), nil
	}
	for _, list := range [][]*deleteFile{x.byTuple[f.tuple], x.byPath[f.Path]} {
		for _, d := range list {
			if f.Sequence <= d.Sequence {
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// only gives the one delete file of an index that has one.
func (x *deleteIndex) only() *deleteFile {
	for _, group := range []map[string][]*deleteFile{x.vectors, x.byPath, x.byTuple, x.equality} {
		for _, list := range group {
			return list[0]
		}
	}
	return x.global[0]
}
