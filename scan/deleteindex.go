package scan

import (
	"slices"
	"strings"

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
	lower, upper string // bounds of the data files' paths; empty: unknown
}

type deleteKind uint8

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
}

func newDeleteIndex() *deleteIndex {
	return &deleteIndex{vectors: map[string][]*deleteFile{}, byPath: map[string][]*deleteFile{}, byTuple: map[string][]*deleteFile{},
		equality: map[string][]*deleteFile{}}
}

// add takes in a live entry of a delete manifest.
func (x *deleteIndex) add(e entry, s *spec) error {
	f := e.File
	d := &deleteFile{Path: f.FilePath(), Format: f.FileFormat(), Size: f.FileSizeBytes(), Bytes: f.FileSizeBytes(), Sequence: e.Sequence, Records: f.Count()}
	if e.Sequence < 0 {
		return fault.New(fault.Corrupt, "delete file %s has no sequence number", d.Path).In(d.Path)
	}
	x.considered++
	tuple := tupleKey(s, f.Partition())
	switch {
	case f.ContentType() == iceberg.EntryContentEqDeletes:
		return x.addEquality(d, f, tuple, unpartitioned(s))
	case f.FileFormat() == iceberg.PuffinFile:
		return x.addVector(d, f)
	}
	if target := f.ReferencedDataFile(); target != nil {
		x.byPath[*target] = append(x.byPath[*target], d)
		return nil
	}
	d.lower, d.upper = string(f.LowerBoundValues()[idDeletePath]), string(f.UpperBoundValues()[idDeletePath])
	x.byTuple[tuple] = append(x.byTuple[tuple], d)
	return nil
}

func (x *deleteIndex) addEquality(d *deleteFile, f iceberg.DataFile, tuple string, global bool) error {
	d.kind, d.Keys = equalityDelete, slices.Clone(f.EqualityFieldIDs())
	slices.Sort(d.Keys)
	d.Keys = slices.Compact(d.Keys)
	if len(d.Keys) == 0 {
		return fault.New(fault.Corrupt, "equality delete file %s does not say which columns it compares", d.Path).In(d.Path)
	}
	if global {
		x.global = append(x.global, d)
		return nil
	}
	d.Scope = tuple
	x.equality[tuple] = append(x.equality[tuple], d)
	return nil
}

func (x *deleteIndex) addVector(d *deleteFile, f iceberg.DataFile) error {
	target, offset, size := f.ReferencedDataFile(), f.ContentOffset(), f.ContentSizeInBytes()
	if target == nil || offset == nil || size == nil || *offset < 0 || *size < 0 {
		return fault.New(fault.Corrupt, "deletion vector in %s does not say which data file it is for and where it lies", d.Path).In(d.Path)
	}
	d.kind, d.Target, d.Offset, d.Bytes = deletionVector, *target, *offset, *size
	x.vectors[*target] = append(x.vectors[*target], d)
	return nil
}

func unpartitioned(s *spec) bool {
	for _, f := range s.Fields {
		if !isVoid(f) {
			return false
		}
	}
	return true
}

// of gives the deletes that apply to a data file: a vector takes the place of all position deletes.
func (x *deleteIndex) of(path string, sequence int64, tuple string) ([]*deleteFile, error) {
	var out []*deleteFile
	for _, d := range x.vectors[path] {
		if sequence <= d.Sequence {
			out = append(out, d)
		}
	}
	if len(out) > 1 {
		return nil, fault.New(fault.Corrupt, "data file %s has %d deletion vectors", path, len(out)).In(path)
	}
	if len(out) == 0 {
		for _, d := range x.byPath[path] {
			if sequence <= d.Sequence {
				out = append(out, d)
			}
		}
		for _, d := range x.byTuple[tuple] {
			if sequence <= d.Sequence && d.mayName(path) {
				out = append(out, d)
			}
		}
	}
	for _, list := range [][]*deleteFile{x.global, x.equality[tuple]} {
		for _, d := range list {
			if sequence < d.Sequence {
				out = append(out, d)
			}
		}
	}
	return out, nil
}

// mayName says whether the bounds let a position delete file name path. An upper bound that was cut without rounding up still begins the
// paths it stands for.
func (d *deleteFile) mayName(path string) bool {
	if d.lower != "" && path < d.lower {
		return false
	}
	return d.upper == "" || path <= d.upper || strings.HasPrefix(path, d.upper)
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
